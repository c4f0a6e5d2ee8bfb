"""The one way from what a route returns to the bytes of an answer."""

from collections.abc import Callable, Mapping
from functools import partial, wraps
from inspect import iscoroutinefunction
from re import sub
from typing import Any
from urllib.parse import unquote

from fastapi import FastAPI
from fastapi.params import Depends
from fastapi.responses import Response
from fastapi.routing import APIRoute, APIRouter
from starlette.routing import Match, compile_path
from starlette.types import Scope

from events.resources.resource import json_of

_SLASH = "\udc2f"
"""Stands for an encoded slash while a route takes a path apart. A path holds no lone surrogate."""


class AnsweringRoute(APIRoute):
    """A route that answers with the resource it returns.

    The annotation of the return value is the shape in the OpenAPI document, and mypy holds the route to it. The
    resource was checked when it was made, so it is not checked again. A route that takes a ``Response`` sets the status
    and the headers of the answer with it. The name of the function is the operation id, unless the route has another.
    An id in a path may hold any character: an encoded slash is a part of the id and separates nothing.
    A route knows at once which requests are its own. The rest, which takes a millisecond to make, is made for the
    first request, or for the OpenAPI document.
    """

    def __init__(
        self, path: str, endpoint: Callable[..., Any], *, status_code: int | None = None, **more: Any
    ) -> None:
        if more.get("include_in_schema", True):
            more["operation_id"] = more.get("operation_id") or endpoint.__name__
        self.path, self.endpoint = path, _answering(endpoint, status_code or 200)
        self.path_regex, self.path_format, self.param_convertors = compile_path(path)
        self.methods = {each.upper() for each in more.get("methods") or ["GET"]}
        self.operation_id = more.get("operation_id")
        self.dependencies = list(more.pop("dependencies", None) or ())
        self._rest = partial(super().__init__, path, self.endpoint, status_code=status_code, **more)

    def __getattr__(self, name: str) -> Any:
        if name not in _LATER or "_rest" not in self.__dict__:
            raise AttributeError(f"a route has no {name}", name=name, obj=self)
        self._rest(dependencies=self.dependencies)
        return self.__dict__[name]

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        # A service asks each of its routes in turn, so the usual path costs one search.
        raw = scope.get("raw_path", b"")
        if b"%2f" not in raw.lower():
            return super().matches(scope)
        split = sub("(?i)%2f", _SLASH, raw.decode("latin-1"))
        match, found = super().matches({**scope, "path": unquote(split)})
        if match is not Match.NONE:
            found["path_params"] = {
                name: each.replace(_SLASH, "/") for name, each in found["path_params"].items()
            }
        return match, found


_LATER = frozenset({*APIRoute.__annotations__, "app", "name", "form_limits"})
"""The parts of a route that are made later."""


def add_routes(app: FastAPI, router: APIRouter, *dependencies: Depends) -> None:
    """Adds the routes of ``router`` to those of ``app``. Each request of them solves ``dependencies`` first.

    They become routes of the app itself, so that the audit and the errors find the route of a request among them.
    """
    for route in router.routes:
        if isinstance(route, APIRoute):
            route.dependencies[:0] = [*app.router.dependencies, *dependencies]
    app.router.routes.extend(router.routes)


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
