"""The prompt over HTTP: the same question as a recall, answered as blocks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from fastapi.testclient import TestClient
from redis import Redis

from events.platform.settings import Settings
from retrieval.http.read_api import create_app
from tests.support.retrieval.overlay import Memory
from tests.support.waiting import PATIENT


@pytest.fixture
def memory(database: str, redis: Redis, redis_url: str, tmp_path: Path) -> Memory:
    settings = Settings(database_url=database, redis_url=redis_url, embed_model_path=str(tmp_path), **PATIENT)
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
    memory.push("I live in Taipei.", said_at="2026-01-03T10:00:00+08:00")
    memory.push("JWT is a compact, signed token format.", said_at="2026-01-03T10:01:00+08:00")
    memory.settle()
    memory.push("My new address is Kaohsiung.")
    with served(memory) as client:
        document = prompt(client, "where do I live?")
        again = prompt(client, "what is JWT?")
    root = root_of(document)
    [state] = root.iterfind("state_cards/card")
    assert ("Kaohsiung" in (state.text or ""), state.get("pending")) == (True, "true")
    assert root[-1].tag == "current_time"
    assert root[-1].text == document["current_time"][:19] + "+00:00"
    assert {"channels", "warnings", "contradictions", "tokens", "guard_rules_version"} <= set(document)
    assert "tags" in document["channels"]
    stable = "".join(block["text"] for block in document["blocks"] if block["stable"])
    assert again["text"].startswith(stable)
    assert stable.startswith("<core>")
    assert [card.get("title") for card in root_of(again).iterfind("knowledge_cards_referenced/card")] == [
        "JWT"
    ]


def test_a_budget_is_kept_and_one_that_is_too_small_names_the_least_that_works(memory: Memory) -> None:
    for number in range(8):
        memory.push(f"Yesterday I bought {number} baskets of apples at the market with Bob and Eva.")
    memory.settle()
    with served(memory) as client:
        refused = client.post(
            "/v1/context", json={"user_id": "ann", "query": "apples at the market", "token_budget": 10}
        )
        assert (refused.status_code, refused.json()["field"]) == (422, "token_budget")
        least = refused.json()["least"]
        empty = prompt(client, "apples at the market", token_budget=least)
        assert (empty["tokens"], empty["cards"]) == (least, [])
        some = prompt(client, "apples at the market", token_budget=least + 250, k=20)
        assert least < some["tokens"] <= least + 250
        assert some["cards"]
        assert some["left_out"]


def test_knowledge_is_offered_unless_it_is_switched_off(memory: Memory) -> None:
    memory.push("JWT is a compact, signed token format.")
    memory.settle()
    with served(memory) as client:
        assert "<knowledge_cards_referenced>" in prompt(client, "what is JWT?")["text"]
    with served(memory, knowledge_inject=False) as client:
        assert "<knowledge_cards_referenced>" not in prompt(client, "what is JWT?")["text"]
        only = prompt(client, "what is JWT?", kinds=["knowledge"])
        assert only["cards"] == []
        assert [warning for warning in only["warnings"] if "CARDLOG_KNOWLEDGE_INJECT" in warning]
        recalled = client.post("/v1/recall", json={"user_id": "ann", "query": "what is JWT?"}).json()
        assert "knowledge" in [card["kind"] for card in recalled["cards"]]


@pytest.mark.parametrize(
    ("request_body", "field"),
    [
        ({"token_budget": 0}, "token_budget"),
        ({"token_budget": "many"}, "token_budget"),
        ({"query": ""}, "query"),
        ({"query": "a\0b"}, "query"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_a_bad_request_is_a_problem_that_names_the_field(
    memory: Memory, request_body: dict[str, Any], field: str
) -> None:
    with served(memory) as client:
        refused = client.post("/v1/context", json={"user_id": "ann", "query": "x"} | request_body)
    assert (refused.status_code, refused.json()["field"]) == (422, field)
    assert refused.headers["content-type"] == "application/problem+json"
