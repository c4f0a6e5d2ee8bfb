"""Passes requests on between the read and the write service, so that an app needs one address."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from difflib import get_close_matches

import httpx2
from starlette.background import BackgroundTask
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Receive, Scope, Send

from events.http.errors import ProblemError
from events.http.headers import security_headers

PASSED_ON = "cardlog-passed-on"
"""The header of a request that the other service passed on. Such a request is not passed on again."""
NO_ROUTE = "cardlog-no-route"
"""The header of the answer to a passed-on request that fits no route. Its value is the nearest path."""
OTHER = "cardlog.other"
"""The key of the ASGI scope under which the other service's answer of this kind is kept."""
_MOST_S = 90.0
_CONNECTIONS = 64
_REQUEST_HEADERS = (
    "authorization",
    "cookie",
    "sec-fetch-site",
    "content-type",
    "accept",
    "host",
    "origin",
    "idempotency-key",
    "if-match",
    "user-agent",
)
# The server and the guard of this service set these headers themselves.
_OWN_HEADERS = frozenset(
    (
        *("connection", "date", "keep-alive", "server", "transfer-encoding"),
        *(name.decode() for name, _ in security_headers("/v1/", secure=True)),
    )
)


def is_passed_on(scope: Scope, routes: Sequence[BaseRoute]) -> bool:
    """Returns True for a request that belongs to the other service: no route of this one fits path and method."""
    return (
        scope["path"].startswith("/v1/")
        and not any(name == PASSED_ON.encode() for name, _ in scope["headers"])
        and not any(route.matches(scope)[0] is Match.FULL for route in routes)
    )


class PassingOn:
    """Passes a request that no route of this service fits on to the service at ``address``, and its answer back.

    The other service checks the request as its own: key, rights, limits, body. When no route of it fits either, this
    service answers, and :data:`OTHER` holds the other one's headers. Raises a 503 problem when the other service does
    not answer. The guard stands before it, so that the body is complete and bounded.
    """

    def __init__(self, app: ASGIApp, address: str, routes: Sequence[BaseRoute]) -> None:
        self._app = app
        self._routes = routes
        self._address = address
        self._client: httpx2.AsyncClient | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            async with self._open():
                await self._app(scope, receive, send)
            return
        if self._client is not None and scope["type"] == "http" and is_passed_on(scope, self._routes):
            answer = await self._asked(self._client, Request(scope, receive))
            if NO_ROUTE not in answer.headers:
                await _given_back(answer)(scope, receive, send)
                return
            await answer.aclose()
            scope[OTHER] = answer.headers
        await self._app(scope, receive, send)

    @asynccontextmanager
    async def _open(self) -> AsyncIterator[None]:
        limits = httpx2.Limits(max_connections=_CONNECTIONS)
        async with httpx2.AsyncClient(timeout=_MOST_S, limits=limits) as self._client:
            yield
        self._client = None

    def _url_of(self, scope: Scope) -> httpx2.URL:
        """Returns the address of a request at the other service, with the bytes of its path as they came.

        An id may hold characters that look encoded or like steps in a path. Raises a 404 problem for a real step, which
        an HTTP client takes out.
        """
        path, query = scope["raw_path"], scope["query_string"]
        other = httpx2.URL(self._address)
        try:
            if {b".", b".."} & set(path.split(b"/")):
                raise httpx2.InvalidURL("a step in the path")
            return other.copy_with(raw_path=other.raw_path.rstrip(b"/") + path + (query and b"?" + query))
        except (httpx2.InvalidURL, UnicodeError):
            raise ProblemError(404, "Not found", "there is nothing at this path; see /docs") from None

    async def _asked(self, client: httpx2.AsyncClient, request: Request) -> httpx2.Response:
        url = self._url_of(request.scope)
        given = {name: request.headers[name] for name in _REQUEST_HEADERS if name in request.headers}
        headers = given | {PASSED_ON: "1", "accept-encoding": "identity"}
        asked = client.build_request(
            request.method, url, content=await request.body() or None, headers=headers
        )
        try:
            return await client.send(asked, stream=True)
        except httpx2.HTTPError as error:
            raise ProblemError(
                503,
                "Other service away",
                f"the service that answers {request.url.path[:100]!r} is away ({type(error).__name__});"
                " try again later",
            ) from None


def _given_back(answer: httpx2.Response) -> StreamingResponse:
    done = BackgroundTask(answer.aclose)
    response = StreamingResponse(answer.aiter_raw(), answer.status_code, background=done)
    response.raw_headers.extend(headers_of(answer))
    return response


def headers_of(answer: httpx2.Response) -> list[tuple[bytes, bytes]]:
    """Returns the headers of an answer without those that the server and the guard of this service set themselves."""
    return [
        (name.lower(), value)
        for name, value in answer.headers.raw
        if name.lower().decode() not in _OWN_HEADERS
    ]


def near(path: str, routes: Sequence[BaseRoute], *others: str) -> str | None:
    """Returns the path of a route, or of ``others``, that is most like ``path``, or None."""
    known = {str(getattr(route, "path_format", "")) for route in routes} | set(others)
    return next(iter(get_close_matches(path, sorted(known), 1, 0.7)), None)
