"""The proxy service: an app asks it in the place of its model, and gets the model's own answer."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace

import httpx2
import orjson
from fastapi import FastAPI
from fastapi.responses import PlainTextResponse
from prometheus_client import CollectorRegistry, Counter, generate_latest
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from cardlog_client import AsyncClient
from events.http.errors import ProblemError
from events.http.passing_on import headers_of
from events.http.service import install, running
from events.platform.settings import Settings
from events.types.json_values import JsonObject
from retrieval.proxy.memory import NAMED, Asker, Context, Memory, NotAskedError, asker_of
from retrieval.proxy.model_apis import APIS, Answer, EventStream, ModelApi, Question
from retrieval.proxy.push_queue import Outcome, Push, PushQueue

logger = logging.getLogger(__name__)

BODY_KIB = 16 * 1024
"""The largest body of a request, in KiB."""
MEMORY_WITHIN_S = 10.0
"""The longest time of one request to the memory, in seconds."""
_UPSTREAM_S = 600.0
_LONGEST_ANSWER = 16 * 1024 * 1024
_MOST_NAMED = 50
_ANTHROPIC = "anthropic-version"
_OWN = frozenset(
    (
        *("host", "connection", "keep-alive", "content-length", "transfer-encoding", "accept-encoding", "te"),
        *("expect", "upgrade"),
    )
)
"""Headers of a request that the proxy sets itself, or that concern one connection."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What one request of an app asked the memory, and how its turns get there."""

    context: Context
    asker: Asker | None = None
    question: Question | None = None

    def turns(self, answer: Answer) -> Push | None:
        """Returns the push of the user's words and of the answer, if the model has ended it."""
        if self.asker is None or self.question is None:
            return None
        said = [("user", self.question.words)]
        if answer.done and answer.words.strip():
            said.append(("assistant", answer.words))
        made = [self.asker.turn(role, words, self.question) for role, words in said]
        return Push([turn for turn in made if turn is not None], self.asker.key)


class Proxy:
    """Passes requests on to the models, with a context, and their answers back unchanged.

    The memory never makes a request fail. Each answer has the headers ``x-cardlog-context``, ``x-cardlog-cards`` (the
    ids of the cards in the context), ``x-cardlog-push`` and, where something is left out, ``x-cardlog-reason``.
    """

    def __init__(
        self,
        settings: Settings,
        memory: Memory,
        pushes: PushQueue,
        upstream: httpx2.AsyncBaseTransport,
        own_key: str | None,
        registry: CollectorRegistry,
    ) -> None:
        self._contexts = Counter(
            "cardlog_proxy_contexts",
            "requests of apps by what became of their context",
            ["outcome"],
            registry=registry,
        )
        self._memory = memory
        self._pushes = pushes
        self._upstream = upstream
        self._own_key = own_key
        self._push_s = settings.proxy_push_ms / 1000
        self._openai = settings.proxy_openai_url.rstrip("/")
        self._anthropic = settings.proxy_anthropic_url.rstrip("/")

    async def ask(self, request: Request, api: ModelApi) -> Response:
        """Answers a question to a model."""
        body = await request.body()
        heard, body = await self._with_context(request, api, body)
        self._contexts.labels(heard.context.outcome).inc()
        answer = await self._passed_on(request, body)
        if not answer.is_success:
            return _response(answer, await _content_of(answer), _headers(answer, heard.context, "skipped"))
        if answer.headers.get("content-type", "").partition(";")[0].strip().lower() == "text/event-stream":
            outcome: Outcome = "skipped" if heard.question is None else "queued"
            listener = None if heard.question is None else _Listener(api, heard, self._pushes)
            return _Relayed(answer, _headers(answer, heard.context, outcome), listener)
        content = await _content_of(answer)
        document = _object_in(content)
        push = heard.turns(api.whole(document))
        outcome = "skipped" if push is None else await self._pushes.push(push, self._push_s)
        return _response(answer, content, _headers(answer, heard.context, outcome))

    async def pass_on(self, request: Request) -> Response:
        """Answers any other request, without the memory."""
        answer = await self._passed_on(request, await request.body())
        return _Relayed(answer, headers_of(answer), None)

    async def _with_context(self, request: Request, api: ModelApi, body: bytes) -> tuple[Heard, bytes]:
        try:
            asker = asker_of(request.headers, self._own_key)
        except NotAskedError as error:
            return Heard(Context("skipped", reason=str(error))), body
        document = _object_in(body)
        question = api.question(document)
        if question is None:
            return Heard(Context("skipped", reason="the request has no words of a user")), body
        context = await self._memory.context(asker, question)
        if context.outcome == "added":
            body = orjson.dumps(api.with_context(document, question.place, context.text))
        return Heard(context, asker, question), body

    async def _passed_on(self, request: Request, body: bytes) -> httpx2.Response:
        """Returns the answer of the model, its body unread. Raises a 502 problem when the model does not answer."""
        if {".", ".."} & set(request.scope["path"].split("/")):
            raise ProblemError(404, "Not found", "the path leaves /v1/; send one without . and ..")
        path = request.scope["raw_path"].decode("latin-1")
        anthropic = path.startswith("/v1/messages") or _ANTHROPIC in request.headers
        address = f"{self._anthropic}{path}" if anthropic else f"{self._openai}{path.removeprefix('/v1')}"
        query = request.scope["query_string"].decode("latin-1")
        headers = [
            (name, value)
            for name, value in request.headers.raw
            if name.decode("latin-1") not in _OWN and not name.startswith(NAMED.encode())
        ]
        asked = httpx2.Request(
            request.method,
            f"{address}?{query}" if query else address,
            # Compressed words could not be read as they pass.
            headers=[*headers, (b"accept-encoding", b"identity")],
            content=body or None,
            extensions={"timeout": httpx2.Timeout(_UPSTREAM_S, connect=10.0).as_dict()},
        )
        try:
            return await self._upstream.handle_async_request(asked)
        except httpx2.HTTPError as error:
            raise _away(error) from error


class _Listener:
    """Reads the answer in a stream as it passes, and pushes the turns at its end."""

    def __init__(self, api: ModelApi, heard: Heard, pushes: PushQueue) -> None:
        self._heard = heard
        self._pushes = pushes
        self._answer = Answer()
        self.feed = EventStream(lambda data: api.hear(_object_in(data), self._answer)).feed

    async def end(self) -> None:
        """Pushes the words of the user, and the answer if the model ended it."""
        if not self._answer.done:
            logger.warning("a stream broke off, so its answer is not kept")
        push = self._heard.turns(self._answer)
        if push is not None:
            await self._pushes.push(push, 0)


class _Relayed(Response):
    """An answer whose bytes pass as they come. When the model breaks off, so does the answer."""

    def __init__(
        self, answer: httpx2.Response, headers: list[tuple[bytes, bytes]], listener: _Listener | None
    ) -> None:
        self._answer = answer
        self._start = {"type": "http.response.start", "status": answer.status_code, "headers": headers}
        self._listener = listener
        self.background = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        passing = asyncio.ensure_future(self._pass(send))
        gone = asyncio.ensure_future(_gone(receive))
        try:
            await asyncio.wait({passing, gone}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (passing, gone):
                task.cancel()
            await asyncio.gather(passing, gone, return_exceptions=True)
            await self._answer.aclose()
            if self._listener is not None:
                await self._listener.end()

    async def _pass(self, send: Send) -> None:
        await send(self._start)
        try:
            async for chunk in self._answer.aiter_raw():
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
                if self._listener is not None:
                    self._listener.feed(chunk)
        except httpx2.HTTPError as error:
            # The server closes the connection of an answer without an end, so the app sees that it is not whole.
            logger.warning("the model broke off its answer: %s", type(error).__name__)
            return
        await send({"type": "http.response.body", "body": b"", "more_body": False})


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def create_app(settings: Settings, client: AsyncClient, own_key: str | None) -> FastAPI:
    """Returns the proxy as a service. It keeps what waits in memory, so any number of processes may run.

    ``client`` asks Cardlog, with the key that a request brings, or ``own_key``. With None a request needs a key.
    """
    registry = CollectorRegistry()
    pushes = PushQueue(client, registry, most=settings.proxy_queue, retry_s=settings.proxy_retry_s)
    memory = Memory(client, deadline_s=settings.proxy_deadline_ms / 1000, tokens=settings.proxy_tokens)
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=100)
    # A transport has no cookies, follows no redirects, and takes no proxy and no login from the environment.
    upstream = httpx2.AsyncHTTPTransport(limits=limits, trust_env=False)
    proxy = Proxy(settings, memory, pushes, upstream, own_key, registry)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with running(app), upstream, pushes.running():
            yield
        await client.close()

    app = FastAPI(title="Cardlog proxy", version="1", lifespan=lifespan)
    # An app has one address, and one address gets a third of all places.
    install(app, replace(settings, max_body_kib=BODY_KIB, max_requests=3 * settings.max_requests), raw=("*",))

    def asking(api: ModelApi) -> Callable[[Request], object]:
        async def ask(request: Request) -> Response:
            return await proxy.ask(request, api)

        return ask

    for api in APIS:
        app.router.routes.append(Route(api.path, asking(api), methods=["POST"]))
    every = ["GET", "POST", "PUT", "PATCH", "DELETE"]
    app.router.routes.append(Route("/v1/{path:path}", proxy.pass_on, methods=every))

    @app.get("/metrics", response_class=PlainTextResponse, summary="Prometheus metrics")
    async def metrics() -> PlainTextResponse:
        return PlainTextResponse(generate_latest(registry), media_type="text/plain; version=0.0.4")

    return app


def _object_in(text: bytes) -> JsonObject:
    """Returns the JSON object in ``text``; an empty one when there is none."""
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


async def _content_of(answer: httpx2.Response) -> bytes:
    """Returns the body of an answer. Raises a 502 problem when it is too long, or breaks off."""
    content = bytearray()
    try:
        async for chunk in answer.aiter_raw():
            content += chunk
            if len(content) > _LONGEST_ANSWER:
                raise ProblemError(
                    502, "Answer too long", f"the model's answer is above {_LONGEST_ANSWER} bytes"
                )
    except httpx2.HTTPError as error:
        raise _away(error) from error
    finally:
        await answer.aclose()
    return bytes(content)


def _away(error: httpx2.HTTPError) -> ProblemError:
    return ProblemError(
        502, "Model away", f"the model's service does not answer ({type(error).__name__}); try again later"
    )


def _headers(answer: httpx2.Response, context: Context, outcome: Outcome) -> list[tuple[bytes, bytes]]:
    found = {
        "context": context.outcome,
        "push": outcome,
        "cards": ",".join(context.cards[:_MOST_NAMED]),
        # A reason may quote a header of the request.
        "reason": "".join(each if " " <= each <= "~" else "?" for each in context.reason[:200]),
    }
    own = [(f"{NAMED}{name}".encode(), each.encode()) for name, each in found.items() if each]
    # A model does not say what the memory did.
    return [each for each in headers_of(answer) if not each[0].startswith(NAMED.encode())] + own


def _response(answer: httpx2.Response, content: bytes, headers: list[tuple[bytes, bytes]]) -> Response:
    response = Response(content, answer.status_code)
    others = [(name, value) for name, value in headers if name != b"content-length"]
    response.raw_headers = [*others, (b"content-length", str(len(content)).encode())]
    return response
