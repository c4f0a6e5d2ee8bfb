"""A hook never waits for a memory that does not answer."""

import asyncio

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient
from starlette.types import Message, Receive, Scope, Send

from events.http.answering import add_routes
from events.http.errors import ProblemError
from events.http.service import install
from events.platform.settings import Settings
from retrieval.http.hook_routes import PATHS, FailOpen, hooks_router


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


class Away:
    async def send(self, *_: object, **__: object) -> None:
        raise ProblemError(503, "Away", "the write service is\naway")


def test_the_log_says_whose_hook_goes_on_without_what_and_why(caplog: pytest.LogCaptureFixture) -> None:
    async def late(*_: object) -> None:
        raise TimeoutError

    app = FastAPI()
    install(app)
    add_routes(app, hooks_router(Settings(), late, Away()))  # type: ignore[arg-type]
    event = {"hook_event_name": "UserPromptSubmit", "session_id": "s1", "prompt": "Where do I live?"}
    answer = TestClient(app, base_url="http://localhost").post(f"{PATHS[0]}?user_id=dana", json=event)
    assert (answer.status_code, answer.content) == (200, b"{}")
    whose = "a hook of user dana in session s1 goes on without"
    assert caplog.messages == [
        f"{whose} context: no answer in time (TimeoutError)",
        f"{whose} 1 turn: the write service is away",
    ]
