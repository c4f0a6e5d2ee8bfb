"""What every request is looked at for before any route sees it."""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote_to_bytes, urlsplit

import orjson
from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from events.http.body import parsed
from events.http.problem import MEDIA_TYPE, ProblemError, invalid
from events.platform.settings import Settings
from events.types.turn_contract import TurnInvalidError, text_of

Check = Callable[[Scope, Headers], None]
"""Looks at a request without its body. Raises a :class:`ProblemError` for one that is not taken."""

JSON = "cardlog.json"
"""Where a scope holds the document that came as body, where one came."""
HELD_BYTES = 64 * 1024 * 1024
"""Bodies of all requests together that a process holds at once."""

_UNCOUNTED = frozenset(("/healthz", "/readyz", "/metrics"))
"""Whoever looks after an overloaded service must still get an answer."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What the requests of a service may be like. ``bodies``: routes that take more than ``body_bytes``."""

    body_bytes: int = 256 * 1024
    bodies: Mapping[str, int] = field(default_factory=dict)
    requests: int = 256
    hosts: frozenset[str] = frozenset()
    origins: frozenset[str] = frozenset()


def rules_of(settings: Settings, bodies: Mapping[str, int] | None = None) -> Rules:
    """The rules that are set."""
    return Rules(
        body_bytes=settings.max_body_kib * 1024,
        bodies=bodies or {},
        requests=settings.max_requests,
        hosts=frozenset((*_words(settings.allowed_hosts), *own_names())),
        origins=frozenset(each.rstrip("/") for each in _words(settings.allowed_origins)),
    )


def own_names() -> tuple[str, ...]:
    """What this machine is called by itself."""
    return ("localhost", socket.gethostname().lower(), os.uname().nodename.lower())


class Guard:
    """Lets a request through when it can harm nobody, and answers it with a problem document when not.

    Guarantees to what is behind it that the request came for this service (``Host``) and from no foreign web page
    (``Origin``); that path and query are text that can be stored; that a body is JSON, complete, in memory, and no
    larger than the route takes: the document is in the scope. No more than ``requests`` are worked on at once, and
    their bodies take no more than 64 MiB together: the next one is answered 503 at once.

    ``checks`` are asked after the Guard's own ones, and before the body is read: that is the place of keys.
    """

    def __init__(self, app: ASGIApp, rules: Rules, checks: tuple[Check, ...] = ()) -> None:
        self._app = app
        self._rules = rules
        self._checks = (self._host, self._origin, _text, self._content, *checks)
        self._requests = 0
        self._held = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        counted = scope["path"] not in _UNCOUNTED
        try:
            for check in self._checks:
                check(scope, headers)
            if counted and self._requests >= self._rules.requests:
                raise ProblemError(
                    503,
                    "Too many requests at once",
                    f"this process works on {self._requests} requests already; try again later",
                )
        except ProblemError as problem:
            await problem_response(problem)(scope, receive, send)
            return
        self._requests += counted
        holding = _Holding()
        try:
            body = await self._body(scope, receive, holding)
            if body is not None:
                if body:
                    scope[JSON] = parsed(body)
                await self._app(scope, _replayed(body, receive), send)
        except ProblemError as problem:
            await problem_response(problem)(scope, receive, send)
        finally:
            self._held -= holding.bytes
            self._requests -= counted

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
        hosts = self._rules.hosts
        if "*" in hosts or name in hosts or _is_loopback(name):
            return True
        # The address that the request came in by: of a pod, or of a machine in its network.
        if (server := scope.get("server")) is not None and name == str(server[0]).lower():
            return True
        return any(each.startswith("*.") and name.endswith(each[1:]) for each in hosts)

    def _origin(self, scope: Scope, headers: Headers) -> None:
        for origin in headers.getlist("origin"):
            own = f"{scope.get('scheme', 'http')}://{headers.get('host', '')}".lower()
            if origin.lower() != own and not {origin.lower(), "*"} & self._rules.origins:
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
        return self._rules.bodies.get(scope["path"], self._rules.body_bytes)

    async def _body(self, scope: Scope, receive: Receive, holding: _Holding) -> bytes | None:
        """The whole body; None where the client went away. Raises a 413 or 503 problem."""
        limit = self._limit(scope)
        found = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            chunk = message.get("body", b"")
            if len(found) + len(chunk) > limit:
                raise _too_large(limit)
            if self._held + len(chunk) > HELD_BYTES:
                raise ProblemError(
                    503, "Too much at once", "the bodies of other requests fill the memory; try again later"
                )
            self._held += len(chunk)
            holding.bytes += len(chunk)
            found += chunk
            if not message.get("more_body", False):
                return bytes(found)


@dataclass(slots=True)
class _Holding:
    """Bytes that one request has of what all may hold."""

    bytes: int = 0


def problem_response(problem: ProblemError) -> Response:
    """The HTTP answer for ``problem``."""
    return Response(
        orjson.dumps(problem.document, default=str),
        problem.status,
        dict(problem.headers),
        media_type=MEDIA_TYPE,
    )


def host_of(header: str) -> str | None:
    """The name or address in a ``Host`` header, in lower case; None where there is none that is one."""
    try:
        parts = urlsplit(f"//{header.strip()}")
        parts.port  # noqa: B018 - raises for what is no port
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


def _is_json(header: str) -> bool:
    kind, *parameters = (part.strip().lower() for part in header.split(";"))
    charsets = [each.partition("=")[2].strip('" ') for each in parameters if each.startswith("charset")]
    return kind == "application/json" and set(charsets) <= {"utf-8", "utf8", "us-ascii"}


def _text(scope: Scope, _: Headers) -> None:
    """Path and query are UTF-8 without NUL and lone surrogates, or a 422 problem names the part that is not."""
    raw = scope.get("raw_path") or scope["path"].encode("utf-8", "surrogatepass")
    try:
        text_of("(path)", unquote_to_bytes(raw.partition(b"?")[0]))
        for pair in scope["query_string"].replace(b"+", b" ").split(b"&"):
            name, _separator, value = pair.partition(b"=")
            text_of(text_of("(query)", unquote_to_bytes(name))[:100], unquote_to_bytes(value))
    except TurnInvalidError as error:
        raise invalid(error.field, error.reason) from None


def _too_large(limit: int) -> ProblemError:
    return ProblemError(
        413,
        "Request too large",
        f"the body is larger than {limit} bytes, the most this route takes; send less at a time",
        field="(body)",
    )


def _replayed(body: bytes, receive: Receive) -> Receive:
    """``receive`` for what has been received already."""
    given = False

    async def replay() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def _words(text: str) -> list[str]:
    return [word.lower() for word in text.replace(",", " ").split()]
