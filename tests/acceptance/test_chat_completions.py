"""A whole Cardlog whose turns a model behind chat completions extracts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.ingest.chat_completions import ChatCompletions
from tests.support.ingest.messages_api import status
from tests.support.stack import Running, start, stop
from tests.support.waiting import eventually
from tests.support.web import WEB


@pytest.fixture(scope="module")
def api() -> Iterator[ChatCompletions]:
    with ChatCompletions() as server:
        yield server


@pytest.fixture(scope="module")
def running(api: ChatCompletions, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    stack = start(
        tmp_path_factory.mktemp("chat") / "data",
        CARDLOG_OPENAI_BASE_URL=f"{api.url}/v1",
        CARDLOG_OPENAI_API_KEY="key-of-the-test",
        CARDLOG_MODEL="a-local-model",
    )
    yield stack
    assert stop(stack) == 0


def push(running: Running, user: str, text: str) -> None:
    answer = WEB.post(
        f"{running.write_url}/v1/turns", headers=running.headers, json=[{"user_id": user, "text": text}]
    )
    assert answer.status_code == 202, answer.text


def extractor(running: Running) -> str:
    stage = json.loads(running.command("status", "--json").stdout)["stages"]["extractor"]
    return f"{stage['state']}: {stage['detail']}"


def test_a_local_model_reads_the_turns_and_is_named(running: Running, api: ChatCompletions) -> None:
    push(running, "ana", "I moved to Lisbon last week, at last.")
    running.wait()
    assert running.recall("ana", "where do I live?")["cards"][0]["value"] == "Lisbon"
    [read] = running.command("log", "show", "--json", "--type", "TurnsExtracted").stdout.splitlines()
    data = json.loads(read)["data"]
    assert (data["model"], data["prompt_version"], data["usage"]["calls"]) == (
        "a-local-model", "claude-4-864fe7f8", 1,
    )  # fmt: skip
    named = f"a-local-model at {api.url}/v1"
    eventually(lambda: extractor(running).startswith(f"running: {named}"))
    assert f"ok    extraction: {named}" in running.command("doctor").stdout
    log = Path(running.data.parent / f"{running.data.name}.log").read_text()
    assert f"extractor: {named}" in log
    assert "key-of-the-test" not in log


def test_turns_wait_for_a_local_model_that_is_away(running: Running, api: ChatCompletions) -> None:
    api.trouble = lambda _: status(503)
    push(running, "bea", "I moved to Porto.")
    eventually(lambda: "status 503" in extractor(running))
    api.trouble = lambda _: None
    running.wait()
    assert running.recall("bea", "where do I live?")["cards"][0]["value"] == "Porto"
