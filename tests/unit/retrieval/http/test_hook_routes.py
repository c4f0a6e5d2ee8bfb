"""A hook never waits for a memory that does not answer."""

import asyncio

import pytest
from starlette.types import Message, Receive, Scope, Send

from retrieval.http.hook_routes import PATHS, FailOpen


async def silent(scope: Scope, receive: Receive, send: Send) -> None:
    await asyncio.Event().wait()


async def broken(scope: Scope, receive: Receive, send: Send) -> None:
    raise OSError("the memory is away")


async def overloaded(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 503, "headers": []})
    await send({"type": "http.response.body", "body": b"the words of a failure"})


@pytest.mark.parametrize("memory", [silent, broken, overloaded])
def test_a_memory_that_is_silent_broken_or_overloaded_gives_an_empty_answer(memory: object) -> None:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    hook = FailOpen(memory, within_s=0.01)  # type: ignore[arg-type]
    asyncio.run(hook({"type": "http", "path": PATHS[0]}, receive, send))
    start, body = sent
    assert (start["status"], body["body"]) == (200, b"{}")
