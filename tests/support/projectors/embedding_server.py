"""An OpenAI-style embedding server on loopback that answers as a test says."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from typing import Any

import orjson

from projectors.embedding.embedder import HashEmbedder
from tests.support.web import loopback, send

Answer = Callable[[dict[str, Any]], tuple[int, bytes | Iterator[bytes]]]
"""Returns status and body. An iterator in the place of the body gives the parts of the whole answer, with its head."""


@contextmanager
def serving(answer: Answer) -> Iterator[str]:
    """Runs a server on loopback that answers every POST with ``answer``. Yields its address up to /v1."""

    def respond(request: BaseHTTPRequestHandler, body: bytes) -> None:
        status, content = answer(orjson.loads(body) | {"authorization": request.headers["authorization"]})
        if isinstance(content, bytes):
            send(request, status, content)
            return
        request.close_connection = True
        with suppress(OSError):  # the client does not wait for the end
            request.wfile.writelines(content)

    with loopback(respond) as url:
        yield f"{url}/v1"


def hashed(asked: dict[str, Any], **more: Any) -> tuple[int, bytes]:
    """Answers as an OpenAI-style server does. The rows are out of order and not of unit length."""
    rows = [
        {"index": index, "embedding": [float(number) * 3 for number in vector]}
        for index, vector in enumerate(HashEmbedder().embed(asked["input"]))
    ]
    return 200, orjson.dumps({"data": rows[::-1], **more})
