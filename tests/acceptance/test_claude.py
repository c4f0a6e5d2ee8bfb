"""A whole Cardlog whose turns a model extracts. The model is a server of the tests, healthy or failing."""

from __future__ import annotations

import json
import signal
from collections import defaultdict
from typing import Any

from events.platform.database import connect
from tests.support.ingest.messages_api import MessagesApi, status
from tests.support.stack import Running
from tests.support.waiting import eventually
from tests.support.web import WEB

TOWNS = ("Lisbon", "Porto", "Turin", "Ghent", "Basel", "Oslo", "Riga", "Bonn")


def push(running: Running, turns: list[dict[str, str]]) -> None:
    for begin in range(0, len(turns), 500):
        answer = WEB.post(
            f"{running.write_url}/v1/turns",
            headers=running.headers,
            json=turns[begin : begin + 500],
            timeout=30,
        )
        assert answer.status_code == 202, answer.text


def turns(count: int, name: str, *, users: int = 20, sessions: int = 2) -> list[dict[str, str]]:
    return [
        {
            "user_id": f"{name}{number % users}",
            "session_id": f"s{number // users % sessions}",
            "turn_id": f"t{number:04}",
            "text": f"I moved to {TOWNS[number % len(TOWNS)]}.",
            "said_at": f"2026-05-08T{8 + number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}Z",
        }
        for number in range(count)
    ]


def show(running: Running, *arguments: str) -> list[dict[str, Any]]:
    done = running.command("log", "show", "--json", *arguments)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def extractor(running: Running) -> dict[str, Any]:
    stage: dict[str, Any] = json.loads(running.command("status", "--json").stdout)["stages"]["extractor"]
    return stage


def extracted(running: Running, name: str) -> dict[tuple[str, str], list[str]]:
    """The turns read of the users called ``name``, in the order of the log, by user and session."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for event in show(running, "--type", "TurnsExtracted"):
        if event["user_id"].startswith(name):
            found[event["user_id"], event["stream"].rsplit("/", 1)[1]] += event["data"]["turn_ids"]
    return found


def expected(pushed: list[dict[str, str]]) -> dict[tuple[str, str], list[str]]:
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for turn in pushed:
        found[turn["user_id"], turn["session_id"]].append(turn["turn_id"])
    return found


def test_the_log_shows_prompt_version_tokens_and_quotes(by_model: Running, model: MessagesApi) -> None:
    push(by_model, [{"user_id": "ana", "turn_id": "t1", "text": "I moved to Lisbon last week, at last."}])
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
    log = (by_model.data.parent / f"{by_model.data.name}.log").read_text()
    assert f"extractor: claude-haiku-5-5 at {model.url}" in log
    assert "key-of-the-test" not in log


def test_a_thousand_turns_pushed_while_the_model_is_down_are_read_once_and_in_order(
    by_model: Running, model: MessagesApi
) -> None:
    model.trouble = lambda _: status(529)
    pushed = turns(1_000, "patient")
    push(by_model, pushed)
    stage = eventually(lambda: (seen := extractor(by_model))["state"] == "waiting" and seen)
    assert "529" in stage["detail"]
    eventually(lambda: extractor(by_model)["behind"] == 1_000)
    assert extracted(by_model, "patient") == {}
    model.trouble = lambda _: None
    by_model.wait()
    assert extracted(by_model, "patient") == expected(pushed)
    stage = eventually(lambda: (seen := extractor(by_model))["state"] == "running" and seen)
    assert (stage["behind"], stage["dead"]) == (0, 0)
    assert by_model.command("log", "verify").returncode == 0


def test_killed_workers_and_stops_in_between_lose_nothing_and_repeat_nothing(
    by_model: Running, model: MessagesApi
) -> None:
    model.seconds = 0.05
    pushed = turns(600, "killed", sessions=6)
    push(by_model, pushed)
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGKILL):
        seen = len(model.requests)
        eventually(lambda seen=seen: len(model.requests) >= seen + 10)  # type: ignore[misc]
        for worker in by_model.workers("extractor"):
            worker.send_signal(number)
    by_model.wait()
    assert extracted(by_model, "killed") == expected(pushed)
    with connect(by_model.admin_database_url, application="test") as connection:
        row = connection.execute(
            "SELECT count(*), count(DISTINCT (user_id, turn_ids)) FROM cards.event_cards WHERE episode"
            " AND user_id LIKE 'killed%'"
        ).fetchone()
    assert row == (600, 600)
