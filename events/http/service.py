"""The parts that both HTTP services share: problem documents, the guard before every route, ``/healthz``."""

import logging
from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Annotated, Any, Literal, get_args, get_origin

from fastapi import Depends, FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from fastapi.routing import APIRoute
from pydantic import BaseModel
from starlette.datastructures import QueryParams
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.routing import Match

from events.access.limiters import ConcurrencyLimiter
from events.access.principal import NotYoursError
from events.http.answering import AnsweringRoute
from events.http.audit import REQUEST_ID, AuditLog, AuditMiddleware
from events.http.authentication import Authentication
from events.http.documentation import add_docs, describe
from events.http.errors import ProblemError, invalid, missing, problem_of
from events.http.guard import EXPOSED, JSON, Guard, origins_of, problem_response
from events.http.limits import limits_of
from events.http.passing_on import NO_ROUTE, OTHER, PASSED_ON, PassingOn, near
from events.platform.settings import Settings
from events.resources.resource import Resource

logger = logging.getLogger(__name__)

Stages = Annotated[
    Literal["count", "ignore"],
    Query(
        description="ignore: ready when this process can do its own part, even when other stages are stuck"
    ),
]


class Probe(Resource):
    """The answer of a probe."""

    status: Literal["ok", "ready"]


def body_of(request: Request) -> object:
    """Returns the JSON document of the request. Raises a 422 :class:`ProblemError` when the body is missing."""
    try:
        return request.scope[JSON]
    except KeyError:
        raise invalid("(body)", "is missing; send a JSON document") from None


@asynccontextmanager
async def running(app: FastAPI) -> AsyncIterator[None]:
    """Runs the parts that :func:`install` added, while the context lasts: authentication and limits."""
    async with AsyncExitStack() as stack:
        if (authentication := app.state.authentication) is not None:
            await stack.enter_async_context(authentication)
        if (limits := app.state.limits) is not None:
            stack.push_async_callback(limits.close)
        yield


def install(
    app: FastAPI,
    settings: Settings | None = None,
    *,
    bodies: Mapping[str, int] | None = None,
    raw: Collection[str] = (),
    audit: AuditLog | None = None,
    authentication: Authentication | None = None,
    other: str = "",
    limiters: Mapping[str, ConcurrencyLimiter] | None = None,
) -> None:
    """Puts the guard before ``app``, adds ``/healthz``, and turns every error into a problem document.

    The caller must call ``install`` before it adds a route. ``bodies``, ``raw`` and ``limiters``: see
    :class:`Guard`. ``audit`` records the requests; None
    records none. Without ``authentication`` every request has every right. ``other`` is the URL of the service that
    gets the requests that no route of this one fits. The caller's lifespan must enter :func:`running`.
    """
    settings = settings or Settings()
    app.state.authentication, app.state.limits = authentication, limits_of(settings)
    if origins := origins_of(settings):
        app.add_middleware(
            CORSMiddleware,
            allow_origins=sorted(origins),
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=["authorization", "content-type", "idempotency-key"],
            expose_headers=[EXPOSED],
        )
    routes = app.router.routes
    if other:
        app.add_middleware(PassingOn, address=other, routes=routes)
    app.add_middleware(
        Guard,
        settings=settings,
        bodies=bodies,
        raw=raw,
        routes=routes,
        authentication=authentication,
        passes_on=bool(other),
        limiters=limiters,
    )
    if audit is not None:
        app.add_middleware(AuditMiddleware, log=audit, routes=routes)
        if audit.strict:
            app.router.dependencies.append(Depends(audit.begin))
    app.router.route_class = AnsweringRoute
    app.router.dependencies.append(Depends(_known_parameters))
    describe(app)
    add_docs(app)

    @app.exception_handler(ProblemError)
    async def _problem(_: Request, problem: ProblemError) -> Response:
        return problem_response(problem)

    @app.exception_handler(NotYoursError)
    async def _not_yours(_: Request, error: NotYoursError) -> Response:
        return problem_response(missing("user", "user_id"))

    @app.exception_handler(RequestValidationError)
    async def _validation(request: Request, error: RequestValidationError) -> Response:
        return problem_response(problem_of(error.errors(), _known_fields(request)))

    @app.exception_handler(HTTPException)
    async def _http(request: Request, error: HTTPException) -> Response:
        path = request.url.path[:100]
        if error.status_code in (404, 405):
            return _no_route(request, path)
        if error.status_code == 400:  # the framework answers 400 only for a body that it cannot decode
            problem = invalid("(body)", "is not valid JSON in UTF-8")
        else:
            problem = ProblemError(error.status_code, str(error.detail), str(error.detail))
        return problem_response(problem)

    @app.exception_handler(Exception)
    async def _unexpected(request: Request, error: Exception) -> Response:
        # The path itself may name a user. The id finds the request in the audit log.
        route = getattr(request.scope.get("route"), "path", "a request without a route")
        request_id = request.scope.get(REQUEST_ID)
        logger.error("%s %s failed, request %s", request.method, route, request_id, exc_info=error)
        answer = problem_response(
            ProblemError(500, "Internal error", "something went wrong here; the service's log says what")
        )
        if request_id is not None:
            answer.headers["x-request-id"] = str(request_id)
        return answer

    @app.get("/healthz", summary="Is the process alive?")
    async def health() -> Probe:
        return Probe(status="ok")


async def _known_parameters(request: Request) -> None:
    """Raises a 422 problem for a query parameter that the route does not have, or that it takes once and gets again.

    A model refuses unknown parameters itself. The function is async because a dependency that is not costs every
    request a thread.
    """
    route = request.scope.get("route")
    if request.query_params and isinstance(route, APIRoute):
        known, modelled = _fields_of(route.dependant.query_params)
        check_parameters(request.query_params, known, others=modelled)


def check_parameters(given: QueryParams, known: Mapping[str, Any], *, others: bool = False) -> None:
    """Raises a 422 problem for a parameter that is not ``known``, or that is given twice and is no list.

    ``known`` holds the type of each parameter. With ``others``, unknown parameters are left to somebody else.
    """
    for name in given:
        if name in known and len(given.getlist(name)) > 1 and not _is_list(known[name]):
            raise invalid(name, "is given more than once; give it once")
        if name not in known and not others:
            raise invalid(
                name[:100],
                f"is not a parameter of this route; use {', '.join(sorted(known))}"
                if known
                else "is not a parameter of this route, which has none; leave it out",
            )


def _is_list(kind: Any) -> bool:
    return list in (kind, get_origin(kind)) or any(map(_is_list, get_args(kind)))


def _fields_of(parameters: Iterable[Any]) -> tuple[dict[str, Any], bool]:
    """Returns the types of the fields of ``parameters`` by their names, and whether a model has them."""
    fields: dict[str, Any] = {}
    modelled = False
    for parameter in parameters:
        kind = parameter.field_info.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            modelled = True
            fields |= {each.alias or name: each.annotation for name, each in kind.model_fields.items()}
        else:
            fields[parameter.alias] = kind
    return fields, modelled


def _known_fields(request: Request) -> dict[object, list[str]]:
    """Returns the fields of the models of a route, by their place: ``body`` or ``query``."""
    route = request.scope.get("route")
    if not isinstance(route, APIRoute):
        return {}
    places = (("body", route.dependant.body_params), ("query", route.dependant.query_params))
    found = {place: _fields_of(parameters) for place, parameters in places}
    return {place: list(fields) for place, (fields, modelled) in found.items() if modelled}


def _no_route(request: Request, path: str) -> Response:
    """Answers a request that fits no route of this service, and none of the other one if that was asked."""
    routes, other = request.app.router.routes, request.scope.get(OTHER, {})
    allowed = sorted({*_methods(request), *filter(None, other.get("allow", "").split(", "))})
    nearest = near(request.url.path, routes, *filter(None, (other.get(NO_ROUTE),)))
    if allowed:
        text = ", ".join(allowed)
        problem = ProblemError(
            405,
            "Method not allowed",
            f"{request.method} is not allowed at {path!r}; use {text}",
            headers={"allow": text},
        )
    else:
        hint = f"the nearest path is {nearest}" if nearest else "see /docs"
        problem = ProblemError(404, "Not found", f"there is nothing at {path!r}; {hint}")
    response = problem_response(problem)
    if PASSED_ON in request.headers:
        response.headers[NO_ROUTE] = nearest or ""
    return response


def _methods(request: Request) -> list[str]:
    routes = request.app.router.routes
    return [
        method
        for method in ("DELETE", "GET", "PATCH", "POST", "PUT")
        if any(route.matches({**request.scope, "method": method})[0] is Match.FULL for route in routes)
    ]
