"""Bounds on HTTP connections: the time of each part of a request, its size, and the number of connections."""

from __future__ import annotations

import asyncio
import resource
from dataclasses import dataclass
from typing import ClassVar

import orjson
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from events.http.errors import MEDIA_TYPE, ProblemError
from events.http.headers import security_headers
from events.platform.settings import Settings

HEAD_BYTES = 64 * 1024
"""Most bytes of the request line and all headers together."""
REQUEST_BYTES = 32 * 1024 * 1024
"""Most bytes of one request on the wire. The largest body that any route accepts is half of this."""
WRITE_TIMEOUT_S = 30.0
"""The server closes the connection of a client that reads nothing of its answer for this long."""

BODY_GRACE_S = 5.0
BODY_BYTES_A_S = 2048
"""A body has this time, and a second more for each so many bytes that arrived, within the time for a whole body."""

_KEPT_FILES = 64
"""Open files that a process reserves for other uses than connections."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of connections: seconds for each part of a request, and the number of connections."""

    head_s: float = 10.0
    body_s: float = 30.0
    write_s: float = WRITE_TIMEOUT_S
    connections: int = 1000


def bounds_of(settings: Settings) -> Bounds:
    """Returns the bounds in ``settings``. The connections never exceed the open files that the process may have."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = settings.max_connections
    if files != resource.RLIM_INFINITY:
        most = min(most, max(1, files - _KEPT_FILES))
    return Bounds(settings.header_timeout_s, settings.body_timeout_s, connections=most)


def bounded(settings: Settings) -> type[asyncio.Protocol]:
    """Returns the protocol class for uvicorn's ``http`` option, with the bounds in ``settings``."""
    return type("Bounded", (BoundedProtocol,), {"bounds": bounds_of(settings)})


# uvicorn has no setting for these bounds: tests/acceptance/hostile/test_hostile_connections.py fails without them.
class BoundedProtocol(HttpToolsProtocol):
    """uvicorn's HTTP/1.1 protocol with bounds on time and size. Every refusal is a problem document:

    - 408: the head is not complete within ``head_s``, or the body is not complete within ``body_s``, or the body
      comes slower than ``BODY_BYTES_A_S``.
    - 431: the head is longer than 64 KiB.
    - 400: the data are not HTTP.
    - 503: all connections are busy. The protocol closes the connection that has been idle longest, and then accepts
      the new one. A connection is also idle while its client does not read the answer. If none is idle, the protocol
      closes one of the address that has most connections, if that has more than twice as many as the newcomer's.

    The protocol aborts the connection of a client that does not read for ``write_s``.
    """

    bounds: ClassVar[Bounds] = Bounds()

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._phase = "idle"
        self._deadline: asyncio.TimerHandle | None = None
        self._write_deadline: asyncio.TimerHandle | None = None
        self._head_bytes = self._request_bytes = self._body_bytes = 0
        self._body_since = 0.0
        self._resting_since = self.loop.time()
        self._arm(self.bounds.head_s)
        if len(self.connections) > self.bounds.connections:
            self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        self._disarm()
        self._writing_again()
        self._unset_keepalive_if_required()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        if self._phase == "idle" and self._deadline is None:
            self._arm(self.bounds.head_s)
        self._request_bytes += len(data)
        super().data_received(data)
        if self.transport.is_closing() or self._phase == "idle":
            return
        if self._request_bytes > (HEAD_BYTES if self._phase == "head" else REQUEST_BYTES):
            self._refuse_size()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._phase = "head"
        self._head_bytes = 0
        if self._deadline is None:
            self._arm(self.bounds.head_s)

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(len(name) + len(value) + 4)
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._phase = "body"
        self._body_bytes = 0
        self._body_since = self.loop.time()
        self._arm(min(BODY_GRACE_S, self.bounds.body_s))
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._phase = "idle"
        self._request_bytes = 0
        self._disarm()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        self._resting_since = self.loop.time()
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        if self._head_bytes > HEAD_BYTES:
            self._refuse_size()
        else:
            self._end(ProblemError(400, "Malformed request", "this is not an HTTP/1.1 request; send one"))

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._write_deadline is None:
            self._resting_since = self.loop.time()
            self._write_deadline = self.loop.call_later(self.bounds.write_s, self.transport.abort)

    def resume_writing(self) -> None:
        self._writing_again()
        super().resume_writing()

    @property
    def at_rest(self) -> bool:
        """True when no request of this connection is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def _count(self, size: int) -> None:
        self._head_bytes += size
        if self._head_bytes > HEAD_BYTES:
            raise ValueError("the head is too large")  # the parser stops, and send_400_response is called

    def _make_room(self) -> None:
        resting = [
            each
            for each in self.connections
            if each is not self
            and isinstance(each, BoundedProtocol)
            and (each.at_rest or each._write_deadline is not None)
        ]
        candidates = resting or self._of_greediest()
        if candidates:
            oldest = min(candidates, key=lambda each: each._resting_since)
            self.connections.discard(oldest)
            oldest.transport.abort()
        else:
            self._end(
                ProblemError(
                    503,
                    "Too many connections",
                    f"all {self.bounds.connections} connections of this process are busy; try again later",
                )
            )

    def _of_greediest(self) -> list[BoundedProtocol]:
        """Returns the connections of the address that has most, unless it has not twice as many as this one's."""
        by_address: dict[str, list[BoundedProtocol]] = {}
        for each in self.connections:
            if isinstance(each, BoundedProtocol) and each is not self:
                by_address.setdefault(each._address, []).append(each)
        found = max(by_address.values(), key=len, default=[])
        return found if len(found) > 2 * len(by_address.get(self._address, ())) + 1 else []

    @property
    def _address(self) -> str:
        return self.client[0] if self.client else ""

    def _refuse_size(self) -> None:
        if self._phase == "body":
            # The service has answered already, or the client does not read answers.
            self.transport.close()
        else:
            self._end(
                ProblemError(
                    431,
                    "Request head too large",
                    f"the request line and the headers are longer than {HEAD_BYTES} bytes; send less",
                )
            )

    def _arm(self, within_s: float) -> None:
        self._disarm()
        self._deadline = self.loop.call_later(within_s, self._too_slow, within_s)

    def _disarm(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _writing_again(self) -> None:
        if self._write_deadline is not None:
            self._write_deadline.cancel()
            self._write_deadline = None

    def _too_slow(self, within_s: float) -> None:
        self._deadline = None
        what = "head"
        if self._phase == "body":
            what = "body"
            within_s = min(BODY_GRACE_S + self._body_bytes / BODY_BYTES_A_S, self.bounds.body_s)
            left = self._body_since + within_s - self.loop.time()
            if left > 0:
                self._deadline = self.loop.call_later(left, self._too_slow, within_s)
                return
        self._end(
            ProblemError(
                408, "Request too slow", f"the {what} was not complete within {within_s:g} s; send it faster"
            )
        )

    def _end(self, problem: ProblemError) -> None:
        """Closes the connection. Sends ``problem`` first when the request has no answer yet."""
        if self.transport.is_closing():
            return
        unanswered = not self.cycle.response_started if self._phase == "body" else self.at_rest
        if unanswered:
            self.transport.write(raw_answer(problem))
        self.transport.close()


def raw_answer(problem: ProblemError) -> bytes:
    """Returns ``problem`` as the bytes of a complete HTTP answer that closes its connection."""
    body = orjson.dumps(problem.document)
    headers: dict[str, object] = {
        "content-type": MEDIA_TYPE,
        "content-length": len(body),
        "connection": "close",
        **{name.decode(): value.decode() for name, value in security_headers("")},
        **problem.headers,
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return STATUS_LINE[problem.status] + lines.encode() + b"\r\n" + body
