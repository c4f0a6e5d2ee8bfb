"""A proxy in a thread of this process, and a loopback model behind it."""

import json
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import uvicorn

from cardlog_client import AsyncClient
from deploy.connections import bounded
from events.platform.settings import Settings
from retrieval.proxy.proxy import create_app
from tests.support.connections import healthy
from tests.support.waiting import eventually
from tests.support.web import loopback

CHAT, RESPONSES, MESSAGES = "/v1/chat/completions", "/v1/responses", "/v1/messages"
SAID = "Du wohnst in Köln, 你好."
"""What the model says in each of the golden streams."""


def golden(path: str) -> bytes:
    """The stream of an API, as the model sends it."""
    return (Path(__file__).parent / f"{path.removeprefix('/v1/').replace('/', '_')}.sse").read_bytes()


@dataclass
class Model:
    """The server of a model. It answers with ``chunks``, one after the other, each when ``next`` allows it."""

    url: str
    status: int = 200
    kind: str = "text/event-stream"
    chunks: Sequence[bytes] = ()
    breaks_off: bool = False
    seen: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)
    next: threading.Semaphore | None = None

    def answers(self, document: object, status: int = 200) -> None:
        """Lets the model answer with a JSON document, or with bytes that are none."""
        body = document if isinstance(document, bytes) else json.dumps(document).encode()
        self.status, self.kind, self.chunks, self.breaks_off = status, "application/json", [body], False

    def streams(self, *chunks: bytes, breaks_off: bool = False) -> None:
        """Lets the model answer with a stream."""
        self.status, self.kind, self.chunks, self.breaks_off = 200, "text/event-stream", chunks, breaks_off

    @property
    def asked(self) -> Any:
        """The document of the last request."""
        return json.loads(self.seen[-1][2])


@contextmanager
def modelling() -> Iterator[Model]:
    """A server of a model."""
    model = Model("")

    def respond(request: BaseHTTPRequestHandler, body: bytes) -> None:
        headers = {name.lower(): value for name, value in request.headers.items()}
        model.seen.append((request.path, headers, body))
        request.send_response(model.status)
        request.send_header("content-type", model.kind)
        request.send_header("x-request-id", "req_1")
        request.send_header("transfer-encoding", "chunked")
        request.end_headers()
        with suppress(OSError):
            for chunk in filter(None, model.chunks):
                if model.next is not None:
                    model.next.acquire(timeout=30)
                request.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
            if not model.breaks_off:
                request.wfile.write(b"0\r\n\r\n")
        request.close_connection = model.breaks_off

    with loopback(respond, "HTTP/1.1") as model.url:
        yield model


@contextmanager
def proxied(model: Model, *, write_url: str, read_url: str, key: str | None, **more: Any) -> Iterator[str]:
    """The URL of a proxy before ``model``."""
    settings = Settings(proxy_openai_url=f"{model.url}/v1", proxy_anthropic_url=model.url, **more)
    client = AsyncClient(write_url, read_url, timeout=10, retries=0, api_key="")
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(128)
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        config = uvicorn.Config(
            create_app(settings, client, key),
            log_config=None,
            http=bounded(settings),
            ws="none",
            lifespan="on",
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            eventually(lambda: healthy(url))
            yield url
        finally:
            server.should_exit = True
            thread.join()
