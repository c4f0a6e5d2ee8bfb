"""A whole Cardlog whose turns a model extracts. The model is a server of the tests."""

import json
from typing import Any

from tests.support.ingest.messages_api import MessagesApi, status
from tests.support.stack import Running
from tests.support.waiting import eventually


def extractor(running: Running) -> str:
    stage = json.loads(running.command("status", "--json").stdout)["stages"]["extractor"]
    return f"{stage['state']}: {stage['detail']}"


def show(running: Running, *arguments: str) -> list[dict[str, Any]]:
    done = running.command("log", "show", "--json", *arguments)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_the_log_shows_prompt_version_tokens_and_quotes(by_model: Running, model: MessagesApi) -> None:
    by_model.push({"user_id": "ana", "turn_id": "t1", "text": "I moved to Lisbon last week, at last."})
    by_model.wait()
    [read] = show(by_model, "--user", "ana", "--type", "TurnsExtracted")
    assert read["data"]["prompt_version"].startswith("claude-4-")
    assert read["data"]["usage"]["calls"] == 1
    assert read["data"]["usage"]["input_tokens"] > 0
    assert read["data"]["usage"]["cost_usd"] > 0
    [state] = show(by_model, "--user", "ana", "--type", "StateAsserted")
    assert state["data"]["origin"]["source_span"]["text"] in "I moved to Lisbon last week, at last."
    assert state["causation_id"] == read["event_id"]
    card = by_model.recall("ana", "where do I live?")["cards"][0]
    assert (card["value"], card["turn_ids"]) == ("Lisbon", ["t1"])
    named = f"claude-haiku-5-5 at {model.url}"
    eventually(lambda: extractor(by_model).startswith(f"running: {named}"))
    assert f"ok    extraction: {named}" in by_model.command("doctor").stdout
    log = (by_model.data.parent / f"{by_model.data.name}.log").read_text()
    assert f"extractor: {named}" in log


def test_turns_wait_for_a_model_that_is_away(by_model: Running, model: MessagesApi) -> None:
    model.trouble = lambda _: status(529)
    by_model.push({"user_id": "bea", "text": "I moved to Porto."})
    eventually(lambda: "529" in extractor(by_model))
    model.trouble = lambda _: None
    by_model.wait()
    assert by_model.recall("bea", "where do I live?")["cards"][0]["value"] == "Porto"
