"""Requests without a key take no place of the requests with one, and who would wait in vain is refused at the door."""

import asyncio

import pytest
from starlette.datastructures import Headers
from starlette.types import Message, Receive, Scope, Send

from events.access.limiters import ConcurrencyLimiter
from events.access.principal import Principal
from events.http.guard import PRINCIPAL, Guard
from events.platform.settings import Settings
from tests.support.limiting import Clock, standing_line

pytestmark = pytest.mark.anyio


async def test_strangers_have_places_of_their_own() -> None:
    leave = asyncio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await leave.wait()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    def authentication(scope: Scope, headers: Headers) -> None:
        if "authorization" in headers:
            scope[PRINCIPAL] = Principal(tenant="acme", key_id="key")

    guard = Guard(app, Settings(max_requests=8), authentication=authentication)

    async def ask(*, key: bool) -> int:
        found: list[int] = []

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                found.append(message["status"])

        async def receive() -> Message:
            return {"type": "http.request", "body": b""}

        headers = [(b"host", b"localhost"), *([(b"authorization", b"Bearer x")] if key else [])]
        scope: Scope = {
            "type": "http", "method": "GET", "path": "/docs", "query_string": b"", "headers": headers,
            "client": ("192.0.2.1", 1), "server": ("localhost", 80),
        }  # fmt: skip
        await guard(scope, receive, send)
        return found[0]

    strangers = [asyncio.create_task(ask(key=False)) for _ in range(20)]
    async with asyncio.timeout(60):
        while sum(each.done() for each in strangers) < 19:
            await asyncio.sleep(0)
    known = [asyncio.create_task(ask(key=True)) for _ in range(3)]
    await asyncio.sleep(0)
    leave.set()
    assert await asyncio.gather(*known) == [200] * 3
    assert sorted(await asyncio.gather(*strangers)) == [200] + [503] * 19


async def test_who_would_wait_in_vain_is_refused_with_the_body_unread(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock, asker = Clock(monkeypatch), ("acme", "key")

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        raise AssertionError("the guard let the request through")

    def authentication(scope: Scope, headers: Headers) -> None:
        scope[PRINCIPAL] = Principal(tenant="acme", key_id="key")

    async def receive() -> Message:
        raise AssertionError("the guard read the body")

    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    recalls = ConcurrencyLimiter(2, 100.0, standing_s=10.0)
    guard = Guard(app, Settings(), authentication=authentication, limiters={"/v1/recall": recalls})
    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    scope: Scope = {
        "type": "http", "method": "POST", "path": "/v1/recall", "query_string": b"", "headers": headers,
        "client": ("192.0.2.1", 1), "server": ("localhost", 80),
    }  # fmt: skip
    async with standing_line(recalls, clock, asker):
        asked = asyncio.create_task(guard(scope, receive, send))
        await asyncio.sleep(0)
        clock.later += 11.0
        await asked
    assert sent[0]["status"] == 503
    assert (b"retry-after", b"1") in sent[0]["headers"]
