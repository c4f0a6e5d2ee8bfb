"""The HTTP client of the tests, and servers on loopback."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import ClassVar

import httpx2

WEB = httpx2.Client(timeout=120, verify=False, limits=httpx2.Limits(max_keepalive_connections=0))
"""One client for all tests, with a connection for each request. A client loads the certificates of the machine, which
takes 25 ms of computing. No test needs them."""


class Handler(BaseHTTPRequestHandler):
    """Hands every request to ``respond``, and prints nothing."""

    disable_nagle_algorithm = True  # or each answer waits 40 ms for an acknowledgement
    respond: ClassVar[Callable[[BaseHTTPRequestHandler, bytes], None]]

    def do_POST(self) -> None:
        type(self).respond(self, self.rfile.read(int(self.headers["content-length"] or 0)))

    do_GET = do_PATCH = do_POST

    def log_message(self, *_: object) -> None:
        """Prints nothing."""


@contextmanager
def loopback(
    respond: Callable[[BaseHTTPRequestHandler, bytes], None], protocol: str = "HTTP/1.0"
) -> Iterator[str]:
    """Runs a server on loopback, and yields its address. ``respond`` takes each request and its body."""
    own = type("Own", (Handler,), {"respond": respond, "protocol_version": protocol})
    server = ThreadingHTTPServer(("127.0.0.1", 0), own)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def send(request: BaseHTTPRequestHandler, status: int, body: bytes, **headers: str) -> None:
    """Answers a request."""
    request.send_response(status)
    for name, value in {"content-length": str(len(body)), **headers}.items():
        request.send_header(name.replace("_", "-"), value)
    request.end_headers()
    request.wfile.write(body)
