"""The one way from what a route returns to the bytes of an answer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from inspect import iscoroutinefunction
from typing import Any

from fastapi.responses import Response
from fastapi.routing import APIRoute, APIRouter
from starlette.convertors import PathConvertor, register_url_convertor

from events.resources.resource import json_of


class _NameConvertor(PathConvertor):
    """A part of a path that an app chose, such as the id of a turn. It may hold a slash, and is never empty."""

    regex = r"[\s\S]+"


register_url_convertor("name", _NameConvertor())


class AnsweringRoute(APIRoute):
    """A route that answers with the resource it returns.

    The annotation of the return value is the shape in the OpenAPI document, and mypy holds the route to it. The
    resource was checked when it was made, so it is not checked again. A route that takes a ``Response`` sets the status
    and the headers of the answer with it. The name of the function is the operation id, unless the route has another.
    """

    def __init__(
        self, path: str, endpoint: Callable[..., Any], *, status_code: int | None = None, **more: Any
    ) -> None:
        if more.get("include_in_schema", True):
            more["operation_id"] = more.get("operation_id") or endpoint.__name__
        super().__init__(path, _answering(endpoint, status_code or 200), status_code=status_code, **more)


def routes_of(*tags: str, prefix: str = "") -> APIRouter:
    """Returns a router whose routes answer with the resource that they return."""
    return APIRouter(prefix=prefix, tags=list(tags), route_class=AnsweringRoute)


def _answering(endpoint: Callable[..., Any], status: int) -> Callable[..., Any]:
    if iscoroutinefunction(endpoint):

        @wraps(endpoint)
        async def answered_later(**given: object) -> Response:
            return _answer(await endpoint(**given), status, given)

        return answered_later

    @wraps(endpoint)
    def answered(**given: object) -> Response:
        return _answer(endpoint(**given), status, given)

    return answered


def _answer(returned: object, status: int, given: Mapping[str, object]) -> Response:
    if isinstance(returned, Response):
        return returned
    answer = Response(json_of(returned), status_code=status, media_type="application/json")
    for each in given.values():
        if isinstance(each, Response):
            answer.status_code = each.status_code or status
            answer.headers.raw.extend(each.headers.raw)
    return answer
