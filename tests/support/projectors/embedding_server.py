"""An OpenAI-style embedding server on loopback that answers as a test says."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import orjson

from projectors.embedding.embedder import HashEmbedder

Answer = Callable[[dict[str, Any]], tuple[int, bytes | Iterator[bytes]]]
"""Returns status and body. An iterator in the place of the body gives the parts of the whole answer, with its head."""


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True
    answer: Answer
    stopped: threading.Event


@contextmanager
def serving(answer: Answer) -> Iterator[str]:
    """Runs a server on loopback that answers every POST with ``answer``. Yields its address up to /v1."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = orjson.loads(self.rfile.read(int(self.headers["content-length"])))
            status, content = answer(asked | {"authorization": self.headers["authorization"]})
            if not isinstance(content, bytes):
                with suppress(OSError):  # the client does not wait for the end
                    self.wfile.writelines(content)
                return
            self.send_response(status)
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            pass

    server = _Quiet(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def hashed(asked: dict[str, Any], **more: Any) -> tuple[int, bytes]:
    """Answers as an OpenAI-style server does. The rows are out of order and not of unit length."""
    rows = [
        {"index": index, "embedding": [float(number) * 3 for number in vector]}
        for index, vector in enumerate(HashEmbedder().embed(asked["input"]))
    ]
    return 200, orjson.dumps({"data": rows[::-1], **more})
