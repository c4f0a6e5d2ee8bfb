"""The prompt over HTTP: the same question as a recall, answered as blocks."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from fastapi.testclient import TestClient
from redis import Redis

from events.platform.settings import Settings
from retrieval.http.read_api import create_app
from tests.support.retrieval.overlay import Memory
from tests.support.waiting import ALONE


@pytest.fixture
def memory(database: str, redis: Redis, redis_url: str, tmp_path: Path) -> Memory:
    settings = Settings(database_url=database, redis_url=redis_url, embed_model_path=str(tmp_path), **ALONE)
    return Memory(settings, redis)


@contextmanager
def served(memory: Memory, **changes: Any) -> Iterator[TestClient]:
    with TestClient(create_app(replace(memory.settings, **changes))) as client:
        yield client


def prompt(client: TestClient, query: str, **more: Any) -> dict[str, Any]:
    answer = client.post("/v1/context", json={"user_id": "ann", "query": query, **more})
    assert answer.status_code == 200, answer.text
    document: dict[str, Any] = answer.json()
    return document


def root_of(document: dict[str, Any]) -> ElementTree.Element:
    return ElementTree.fromstring(f"<prompt>{document['text']}</prompt>")


def test_a_question_gets_rules_cards_and_the_time(memory: Memory) -> None:
    clock = {"said_at": "2026-01-03T10:00:00+08:00", "timezone": "Asia/Taipei"}
    memory.push("I live in Taipei.", **clock)
    memory.push("JWT is a compact, signed token format.", **clock)
    memory.settle()
    memory.push("My new address is Kaohsiung.")
    with served(memory) as client:
        document = prompt(client, "where do I live?")
        again = prompt(client, "what is JWT?")
    root = root_of(document)
    [state] = root.iterfind("memory/state")
    assert "Kaohsiung" in (state.text or "")
    assert root[-1].tag == "current_time"
    now = datetime.fromisoformat(document["current_time"])
    assert root[-1].text == now.isoformat(timespec="minutes")
    assert now.utcoffset() == timedelta(hours=8)  # the clock of the user's latest event
    assert {"channels", "warnings", "contradictions", "tokens", "guard_rules_version"} <= set(document)
    assert "tags" in document["channels"]
    stable = "".join(block["text"] for block in document["blocks"] if block["stable"])
    assert again["text"].startswith(stable)
    assert stable.startswith("<core ")
    assert ["JWT" in (card.text or "") for card in root_of(again).iterfind("memory/knowledge")] == [True]


def test_knowledge_is_offered_unless_it_is_switched_off(memory: Memory) -> None:
    memory.push("JWT is a compact, signed token format.")
    memory.settle()
    with served(memory) as client:
        assert "<knowledge n=" in prompt(client, "what is JWT?")["text"]
    with served(memory, knowledge_inject=False) as client:
        assert "<knowledge n=" not in prompt(client, "what is JWT?")["text"]
        only = prompt(client, "what is JWT?", kinds=["knowledge"])
        assert only["cards"] == []
        assert [warning for warning in only["warnings"] if "CARDLOG_KNOWLEDGE_INJECT" in warning]
        recalled = client.post("/v1/recall", json={"user_id": "ann", "query": "what is JWT?"}).json()
        assert "knowledge" in [card["kind"] for card in recalled["cards"]]


BAD: tuple[tuple[dict[str, Any], str], ...] = (
    ({"token_budget": 0}, "token_budget"),
    ({"token_budget": "many"}, "token_budget"),
    ({"query": ""}, "query"),
    ({"query": "a\0b"}, "query"),
    ({"colour": "red"}, "colour"),
    ({"timezone": "Mars/Olympus"}, "timezone"),
    ({"timezone": "localtime"}, "timezone"),
    ({"timezone": ""}, "timezone"),
    ({"timezone": "x" * 9000}, "timezone"),
    ({"timezone": 8}, "timezone"),
)


def test_a_bad_request_is_a_problem_that_names_the_field(memory: Memory) -> None:
    with served(memory) as client:
        for body, field in BAD:
            refused = client.post("/v1/context", json={"user_id": "ann", "query": "x"} | body)
            assert (refused.status_code, refused.json()["field"]) == (422, field), body
            assert refused.headers["content-type"] == "application/problem+json"


def test_yesterday_is_the_askers(memory: Memory) -> None:
    memory.push("I planted a lemon tree.", said_at="2026-04-01T23:30:00+08:00", timezone="Asia/Taipei")
    memory.push("I repaired the old radio.", said_at="2026-04-02T09:00:00+08:00", timezone="Asia/Taipei")
    memory.settle()
    asked = {"user_id": "ann", "query": "What did I do yesterday?", "as_of": "2026-04-02T17:00:00Z"}

    def of(client: TestClient, **more: Any) -> tuple[str, str]:
        answer = client.post("/v1/recall", json=asked | more)
        assert answer.status_code == 200, answer.text
        return answer.json()["current_time"], answer.json()["cards"][0]["content"]

    with served(memory) as client:
        # It is the third of April in Taipei, and the second in London.
        own, tree, named = (
            of(client),
            of(client, timezone="Europe/London"),
            of(client, timezone="Asia/Taipei"),
        )
        # An offset of the instant is the asker's clock.
        offset = of(client, as_of="2026-04-03T01:00:00+08:00")
        nobody = client.post("/v1/recall", json=asked | {"user_id": "bob"}).json()["current_time"]
    assert own == named == ("2026-04-03T01:00:00+08:00", own[1])
    assert offset[1] == own[1]
    assert "radio" in own[1]
    assert tree[0] == "2026-04-02T18:00:00+01:00"
    assert "lemon" in tree[1]
    assert nobody == "2026-04-02T17:00:00+00:00"
