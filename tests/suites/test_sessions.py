"""The sessions of other frameworks, judged by the tests of these frameworks, over Cardlog."""

import asyncio
from types import ModuleType, SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest

pytest.importorskip("agents.testing", reason="openai-agents is not installed")

from agents import Runner
from agents.memory import SessionSettings
from openai.types.responses import ResponseOutputMessage, ResponseOutputText

from cardlog_client import Client
from cardlog_client.agents_session import CardlogSession
from tests.suites.foreign import Anything, swapped_tests

pytestmark = pytest.mark.filterwarnings("default")
_OPEN: list[Client] = []
_USER = f"suite-{uuid4().hex}"


class Opened(CardlogSession):
    """A session, opened as the tests open one in a file. Each file is a project of its own."""

    def __init__(self, session_id: str, path: object = "", session_settings: Any = None) -> None:
        settings = (
            SessionSettings(**session_settings) if isinstance(session_settings, dict) else session_settings
        )
        project = f"in-{abs(hash(str(path) or uuid4().hex))}"
        super().__init__(_OPEN[0], _USER, session_id, project_id=project, session_settings=settings)

    def close(self) -> None:
        """Does nothing: the client stays open."""


@pytest.fixture(autouse=True)
def _open(client: Client) -> None:
    _OPEN[:] = [client]


async def run_agent_async(method: str, agent: Any, given: Any, **more: Any) -> Any:
    """Runs an agent in one of the three ways of the SDK, as the helper of its tests does."""
    if method == "run":
        return await Runner.run(agent, given, **more)
    if method == "run_sync":
        return await asyncio.to_thread(lambda: asyncio.run(Runner.run(agent, given, **more)))
    result = Runner.run_streamed(agent, given, **more)
    async for _ in result.stream_events():
        pass
    return SimpleNamespace(final_output=result.final_output)


def get_text_message(text: str) -> ResponseOutputMessage:
    part = ResponseOutputText(text=text, type="output_text", annotations=[], logprobs=[])
    return ResponseOutputMessage(id="1", type="message", role="assistant", content=[part], status="completed")


def _module(name: str, **names: object) -> ModuleType:
    made = Anything(name)
    made.__dict__.update(names)
    return made


for _file in ("test_session.py", "test_session_limit.py"):
    _modules = {
        "tests.test_responses": _module("tests.test_responses", get_text_message=get_text_message),
        "tests.memory": Anything("tests.memory"),
        "tests.memory.test_session": _module("tests.memory.test_session", run_agent_async=run_agent_async),
    }
    _swapped = {"SQLiteSession": Opened}
    globals().update(swapped_tests(f"openai-agents/{_file}", _modules, _swapped))


async def test_the_contracts_of_the_claude_agent_sdk(client: Client) -> None:
    pytest.importorskip("claude_agent_sdk.testing", reason="claude-agent-sdk is not installed")
    from claude_agent_sdk.testing import run_session_store_conformance

    from cardlog_client.claude_sessions import CardlogSessionStore

    await run_session_store_conformance(lambda: CardlogSessionStore(client, f"suite-{uuid4().hex}"))
