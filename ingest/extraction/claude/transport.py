"""The HTTP transport to the model's server: one deadline for a whole exchange, and a bound on the size of an answer.

The server is not trusted. The time limits of the library restart with every byte, so a server that sends one byte a
second would hold a call without end. Here every read, write and connect gets the rest of the exchange's time.
"""

import ssl
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import httpcore2
import httpx2

LONGEST_BODY = 2 * 1024 * 1024  # Bytes. An answer of 8,192 tokens has about 40 kB.
_PIECE = 4_096  # Bytes written between two checks of the clock.
_NOT_KEPT = frozenset((b"set-cookie", b"set-cookie2"))

_until: ContextVar[float | None] = ContextVar("until", default=None)


class AnswerRefusedError(httpx2.TransportError):
    """The server sent an answer that is not read further. The message names the reason."""


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Ends every exchange of this thread in the context within ``seconds``, even when single bytes arrive."""
    token = _until.set(time.monotonic() + seconds)
    try:
        yield
    finally:
        _until.reset(token)


class BoundedTransport(httpx2.BaseTransport):
    """Connections to one server. Thread-safe.

    An exchange ends by its :func:`deadline`. The transport keeps at most :data:`LONGEST_BODY` bytes of an answer. It
    refuses an answer by its head when the answer is compressed, or when it succeeds and is no JSON. It drops cookies,
    so no answer changes a later request. From the environment it reads only the location of OpenSSL's certificates.
    Raises the errors of httpx2 and :class:`AnswerRefusedError`.
    """

    def __init__(self) -> None:
        self._pool = httpcore2.ConnectionPool(
            ssl_context=httpx2.create_ssl_context(), max_connections=None, network_backend=_Backend()
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url
        sent = httpcore2.Request(
            method=request.method,
            url=httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        with _library_errors():
            answer = self._pool.handle_request(sent)
        assert isinstance(answer.stream, Iterable)
        try:
            response = httpx2.Response(
                status_code=answer.status,
                headers=[pair for pair in answer.headers if pair[0].lower() not in _NOT_KEPT],
                stream=_Body(answer.stream),
                extensions=answer.extensions,
            )
            self._check_head(response)
        except BaseException:
            with _library_errors():
                answer.close()
            raise
        return response

    def close(self) -> None:
        self._pool.close()

    def _check_head(self, response: httpx2.Response) -> None:
        coding = response.headers.get("content-encoding", "identity").strip().lower()
        if coding not in {"", "identity"}:
            # The request asks for no compression. An answer has only a few kilobytes, and a compressed body may expand
            # a thousandfold.
            raise AnswerRefusedError(f"a body in the coding {coding[:40]!r}, which was not asked for")
        if response.is_success:
            kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
            if kind != "application/json" and not kind.endswith("+json"):
                raise AnswerRefusedError(f"a body of the type {kind[:40]!r} instead of application/json")


class _Body(httpx2.SyncByteStream):
    """The body of an answer. Raises :class:`AnswerRefusedError` above :data:`LONGEST_BODY` bytes."""

    def __init__(self, stream: Iterable[bytes]) -> None:
        self._stream = stream

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        with _library_errors():
            for part in self._stream:
                size += len(part)
                if size > LONGEST_BODY:
                    raise AnswerRefusedError(f"a body of more than {LONGEST_BODY} bytes")
                yield part

    def close(self) -> None:
        if hasattr(self._stream, "close"):
            with _library_errors():
                self._stream.close()


class _Stream(httpcore2.NetworkStream):
    """A connection on which every wait ends at the deadline of the exchange."""

    def __init__(self, stream: httpcore2.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _left(timeout, httpcore2.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        for begin in range(0, len(buffer), _PIECE):
            piece = buffer[begin : begin + _PIECE]
            self._stream.write(piece, _left(timeout, httpcore2.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore2.NetworkStream:
        left = _left(timeout, httpcore2.ConnectTimeout)
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, left))

    def get_extra_info(self, info: str) -> object:
        return self._stream.get_extra_info(info)


class _Backend(httpcore2.NetworkBackend):
    """Opens the library's sockets as :class:`_Stream`."""

    def __init__(self) -> None:
        self._sockets = httpcore2.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.NetworkStream:
        left = _left(timeout, httpcore2.ConnectTimeout)
        return _Stream(self._sockets.connect_tcp(host, port, left, local_address, socket_options))


def _left(timeout: float | None, late: type[httpcore2.TimeoutException]) -> float | None:
    """Returns the seconds that a wait may take. Raises ``late`` when the deadline has passed."""
    until = _until.get()
    if until is None:
        return timeout
    left = until - time.monotonic()
    if left <= 0:
        raise late("the deadline of the whole exchange has passed")
    return left if timeout is None else min(left, timeout)


@contextmanager
def _library_errors() -> Iterator[None]:
    """Translates the errors of httpcore2 into those of httpx2, which the SDK expects."""
    try:
        yield
    except httpcore2.ConnectTimeout as error:
        raise httpx2.ConnectTimeout(str(error)) from error
    except httpcore2.TimeoutException as error:
        raise httpx2.ReadTimeout(str(error)) from error
    except httpcore2.ConnectError as error:
        raise httpx2.ConnectError(str(error)) from error
    except (httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.UnsupportedProtocol) as error:
        raise httpx2.NetworkError(str(error)) from error
