"""Checks every request before any route sees it."""

from __future__ import annotations

import ipaddress
import math
import os
import socket
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from urllib.parse import unquote_to_bytes, urlsplit

import orjson
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.routing import BaseRoute, Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from events.access.fair_share import Asker, FairShare
from events.access.limiters import ConcurrencyLimiter, SaturatedError
from events.access.principal import Principal
from events.http.body import parsed
from events.http.errors import MEDIA_TYPE, ProblemError, invalid
from events.http.headers import security_headers
from events.http.passing_on import is_passed_on
from events.platform.settings import Settings
from events.types.turn_contract import text_of

Check = Callable[[Scope, Headers], Awaitable[None] | None]
"""Checks a request without its body. Raises a :class:`ProblemError` to refuse the request."""

JSON = "cardlog.json"
"""The key of the ASGI scope of the parsed body. A request without a body has no such key."""
PRINCIPAL = "cardlog.principal"
"""The key of the ASGI scope under which authentication puts who asks."""
EXPOSED = "retry-after"
"""The header that a web page of an allowed origin may read."""
PUSH_BYTES = 16 * 1024 * 1024
"""Most bytes of a push of turns."""
HELD_BYTES = 96 * 1024 * 1024
"""Most bytes that the bodies of all requests of a process take together. One key alone gets a third."""

WAITS_S = 3.0
"""A request waits this long for a place. A refusal at once would cost more: its client asks again at once."""
_WITH_BODY = frozenset(("POST", "PUT", "PATCH"))
_UNCOUNTED = frozenset(("/healthz", "/readyz", "/metrics"))
"""Paths that do not count as requests. An operator of an overloaded service must still get an answer."""


class Guard:
    """Lets only harmless requests through to the app. It answers any other request with a problem document.

    Guarantees to the app:

    - The request is for this service (``Host``) and does not come from a foreign web page (``Origin``).
    - Path and query are text that PostgreSQL can store.
    - A body is JSON, complete, in memory and within the limit of its route. The document is in the scope. The guard
      reads no body for a path or method that takes none.
    - At most ``requests`` requests run at the same time. Their bodies take at most 96 MiB together. Of both, no key and
      no address gets more than its fair share. A further request waits, with its body unread, and gets a 503 after 3 s.
      The paths that one key asks for get turns one after the other.
    - Requests without a key, where others have one, share a quarter as many places of their own.

    ``checks`` run after the guard's own checks and before the guard reads the body. ``authentication`` is the last one.
    Every answer has the security headers, and a web page of an allowed origin may read each refusal. ``routes`` are
    those of the app. With ``passes_on`` the guard also reads the bodies of requests for the other service. ``limiters``
    are those of routes, by path: a request that would wait there in vain is refused before it costs more.
    """

    def __init__(
        self,
        app: ASGIApp,
        settings: Settings,
        routes: Sequence[BaseRoute] = (),
        authentication: Check | None = None,
        *,
        bodies: Mapping[str, int] | None = None,
        raw: Collection[str] = (),
        passes_on: bool = False,
        limiters: Mapping[str, ConcurrencyLimiter] | None = None,
    ) -> None:
        self._app = app
        self._body_bytes = settings.max_body_kib * 1024
        self._bodies = bodies or {}
        self._raw = frozenset(raw)
        self._key_concurrency = settings.key_concurrency
        # The names that this machine has for itself are allowed too.
        own = ("localhost", socket.gethostname().lower(), os.uname().nodename.lower())
        self._hosts = frozenset((*words_of(settings.allowed_hosts), *own))
        self._origins = origins_of(settings)
        self._routes = routes
        self._passes_on = passes_on
        self._limiters = limiters or {}
        self._checks: tuple[Check, ...] = (self._host, self._origin, _text, self._content)
        self._requests = self._strangers = ConcurrencyLimiter(settings.max_requests, WAITS_S, "requests")
        if authentication is not None:
            self._checks = (*self._checks, authentication)
            self._strangers = ConcurrencyLimiter(max(1, settings.max_requests // 4), WAITS_S, "requests")
        self._bytes = FairShare(HELD_BYTES)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        send = _secured(scope, send)
        try:
            for check in self._checks:
                if (pending := check(scope, headers)) is not None:
                    await pending
            asker = self._asker(scope)
            if (limiter := self._limiters.get(scope["path"])) is not None:
                await limiter.admit(asker)
            async with self._place(scope, asker):
                await self._answer(scope, receive, send, asker)
        except SaturatedError as error:
            problem = ProblemError(503, "Too many requests at once", str(error))
            await self._refusal(problem, headers)(scope, receive, send)
        except ProblemError as problem:
            await self._refusal(problem, headers)(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send, asker: Asker) -> None:
        body = bytearray()
        try:
            if not self._takes_body(scope) or await self._read(scope, receive, asker, body):
                whole = bytes(body)
                if whole and not {scope["path"], "*"} & self._raw:
                    scope[JSON] = parsed(whole)
                await self._app(scope, _replayed(whole, receive), send)
        finally:
            self._bytes.give_back(asker, len(body))

    def _refusal(self, problem: ProblemError, headers: Headers) -> Response:
        """Returns the answer for ``problem``. A web page of an allowed origin may read the answer."""
        response = problem_response(problem)
        origin, allowed = headers.get("origin", ""), self._origins
        if {origin.lower(), "*"} & allowed and origin:
            response.headers["access-control-allow-origin"] = "*" if "*" in allowed else origin
            response.headers["access-control-expose-headers"] = EXPOSED
            response.headers["vary"] = "Origin"
        return response

    def _asker(self, scope: Scope) -> Asker:
        principal: Principal | None = scope.get(PRINCIPAL)
        return ("", _network(scope)) if principal is None else principal.asker

    def _place(self, scope: Scope, asker: Asker) -> AbstractAsyncContextManager[None]:
        """Returns a context that holds a place for the request. Raises a 429 problem above the limit of a key."""
        if scope["path"] in _UNCOUNTED:
            return nullcontext()
        line = scope["path"]  # Many requests about one document delay only each other.
        if PRINCIPAL not in scope:
            return self._strangers.place(asker, line=line)
        most = self._key_concurrency
        if most and self._requests.asked(asker) >= most:
            raise too_many("key", f"already has {most} requests under way in this process", 1.0)
        return self._requests.place(asker, line=line)

    def _takes_body(self, scope: Scope) -> bool:
        return scope["method"] in _WITH_BODY and (
            any(route.matches(scope)[0] is Match.FULL for route in self._routes)
            or (self._passes_on and is_passed_on(scope, self._routes))
        )

    def _host(self, scope: Scope, headers: Headers) -> None:
        given = headers.getlist("host")
        if not given and scope.get("http_version") == "1.0":
            return  # a web page cannot send such a request
        if len(given) != 1:
            raise ProblemError(400, "Malformed request", "send one Host header, not none or several")
        name = host_of(given[0])
        if name is None or not self._is_own(name, scope):
            raise ProblemError(
                421,
                "Misdirected request",
                f"this service is not called {given[0][:100]!r}; use one of its names, or add that one to "
                "CARDLOG_ALLOWED_HOSTS",
                field="Host",
            )

    def _is_own(self, name: str, scope: Scope) -> bool:
        hosts = self._hosts
        if "*" in hosts or name in hosts or _is_loopback(name):
            return True
        # The address at which the request arrived: the address of a pod, or of a machine in its network.
        if (server := scope.get("server")) is not None and name == str(server[0]).lower():
            return True
        return any(each.startswith("*.") and name.endswith(each[1:]) for each in hosts)

    def _origin(self, scope: Scope, headers: Headers) -> None:
        for origin in headers.getlist("origin"):
            own = f"{scope.get('scheme', 'http')}://{headers.get('host', '')}".lower()
            if origin.lower() != own and not {origin.lower(), "*"} & self._origins:
                raise ProblemError(
                    403,
                    "Foreign origin",
                    f"web pages of {origin[:100]!r} may not ask this service; add it to CARDLOG_ALLOWED_ORIGINS "
                    "where they should",
                    field="Origin",
                )

    def _content(self, scope: Scope, headers: Headers) -> None:
        length = headers.get("content-length", "")
        if not length.strip("0") and "transfer-encoding" not in headers:
            return  # no body
        if not all(_is_json(each) for each in headers.getlist("content-type") or [""]):
            raise ProblemError(
                415,
                "Unsupported media type",
                "the body must be JSON in UTF-8; send it with Content-Type: application/json",
                field="Content-Type",
            )
        if "content-encoding" in headers:
            raise ProblemError(
                415,
                "Unsupported media type",
                "the body must not be compressed; send it without Content-Encoding",
                field="Content-Encoding",
            )
        if length and not (length.isascii() and length.isdigit()):
            raise ProblemError(400, "Malformed request", "Content-Length must be one number")
        if length and int(length) > self._limit(scope):
            raise _too_large(self._limit(scope))

    def _limit(self, scope: Scope) -> int:
        return self._bodies.get(scope["path"], self._body_bytes)

    async def _read(self, scope: Scope, receive: Receive, asker: Asker, body: bytearray) -> bool:
        """Reads the whole body; False when the client disconnected. Raises a 413 or 503 problem."""
        limit = self._limit(scope)
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return False
            chunk = message.get("body", b"")
            if len(body) + len(chunk) > limit:
                raise _too_large(limit)
            if not self._bytes.admits(asker, len(chunk)):
                raise ProblemError(
                    503, "Too much at once", "the bodies of other requests fill the memory; try again later"
                )
            self._bytes.take(asker, len(chunk))
            body += chunk
            if not message.get("more_body", False):
                return True


def _secured(scope: Scope, send: Send) -> Send:
    """Returns a ``send`` that adds the security headers to the answer."""

    async def secured(message: Message) -> None:
        if message["type"] == "http.response.start":
            added = security_headers(scope["path"], secure=scope.get("scheme") == "https")
            message["headers"] = [*message.get("headers", ()), *added]
        await send(message)

    return secured


def problem_response(problem: ProblemError) -> Response:
    """Returns the HTTP answer for ``problem``."""
    return Response(
        orjson.dumps(problem.document, default=str),
        problem.status,
        dict(problem.headers),
        media_type=MEDIA_TYPE,
    )


def host_of(header: str) -> str | None:
    """Returns the name or address in a ``Host`` header, in lower case; None when the header is malformed."""
    try:
        parts = urlsplit(f"//{header.strip()}")
        parts.port  # noqa: B018 - raises ValueError for an invalid port
    except ValueError:
        return None
    if parts.username is not None or parts.path or parts.query or parts.fragment or not parts.hostname:
        return None
    return parts.hostname.lower().removesuffix(".")


def _is_loopback(name: str) -> bool:
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _network(scope: Scope) -> str:
    """Returns the address of the client. Of IPv6 only the network, because one client has all its addresses."""
    name = str(scope["client"][0]) if scope.get("client") else ""
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return name
    if address.version == 6 and address.ipv4_mapped is None:
        return str(ipaddress.ip_network((address, 64), strict=False))
    return name


def too_many(kind: str, why: str, wait_s: float) -> ProblemError:
    """Returns the 429 problem of a key or a user above a limit."""
    whose = "this API key" if kind == "key" else "this user"
    return ProblemError(
        429,
        "Too many requests",
        f"{whose} {why}; try again after the seconds in Retry-After",
        headers={"retry-after": str(max(1, math.ceil(wait_s)))},
    )


def _is_json(header: str) -> bool:
    kind, *parameters = (part.strip().lower() for part in header.split(";"))
    charsets = [each.partition("=")[2].strip('" ') for each in parameters if each.startswith("charset")]
    return kind == "application/json" and set(charsets) <= {"utf-8", "utf8", "us-ascii"}


def _text(scope: Scope, _: Headers) -> None:
    """Raises a 422 problem unless path and query are UTF-8 without NUL. The problem names the part at fault."""
    raw = scope.get("raw_path") or scope["path"].encode("utf-8", "surrogatepass")
    text_of("(path)", unquote_to_bytes(raw.partition(b"?")[0]), invalid)
    for pair in scope["query_string"].replace(b"+", b" ").split(b"&"):
        name, _separator, value = pair.partition(b"=")
        text_of(text_of("(query)", unquote_to_bytes(name), invalid)[:100], unquote_to_bytes(value), invalid)


def _too_large(limit: int) -> ProblemError:
    return ProblemError(
        413,
        "Request too large",
        f"the body is larger than {limit} bytes, the limit of this route; send less at a time",
        field="(body)",
    )


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Returns a ``receive`` that first gives ``body``, which the guard has read already."""
    given = False

    async def replay() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def origins_of(settings: Settings) -> frozenset[str]:
    """Returns the web origins that may ask the service."""
    return frozenset(each.rstrip("/") for each in words_of(settings.allowed_origins))


def words_of(text: str) -> list[str]:
    """Returns the words of a setting, which commas or spaces separate, in lower case."""
    return [word.lower() for word in text.replace(",", " ").split()]
