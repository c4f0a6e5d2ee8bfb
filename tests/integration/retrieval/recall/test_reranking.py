"""A reranker orders the best texts of a recall. Whatever it answers, the recall answers, and the promises hold."""

import asyncio
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import orjson
import pytest
from starlette.testclient import TestClient

from events.platform.database import Connection
from events.platform.settings import Settings
from events.store import log
from retrieval.http.read_api import create_app
from retrieval.recall.reranker import Reranker
from tests.support.projectors.embedding_server import serving
from tests.support.projectors.folding import NOW, apart, fold_live, noted
from tests.support.tables import examples
from tests.support.waiting import PATIENT

TEXTS = ["The harbour was closed", "The harbour crane was painted", "A ferry sank in the harbour"]


def by_length(asked: dict[str, Any]) -> tuple[int, bytes]:
    """Answers in the form of the question. The longest text is the nearest, and the rows are out of order."""
    results = "documents" in asked
    name = "relevance_score" if results else "score"
    rows = [
        {"index": at, name: len(text) / 100}
        for at, text in enumerate(asked["documents" if results else "texts"])
    ]
    return 200, orjson.dumps({"results": rows[::-1]} if results else rows[::-1])


@examples
def test_both_forms_of_the_route_give_scores_in_the_order_of_the_texts(model: str, fields: set[str]) -> None:
    asked: list[dict[str, Any]] = []

    def answer(body: dict[str, Any]) -> tuple[int, bytes]:
        asked.append(body)
        return by_length(body)

    with serving(answer) as url:
        scores, report = asyncio.run(Reranker(url, model=model, key="k").scores("harbour", TEXTS))
    assert scores == [len(text) / 100 for text in TEXTS]
    assert (report.status, report.hits, report.detail) == ("ok", 3, None)
    assert asked[0].pop("authorization") == "Bearer k"
    assert asked[0].keys() == fields


def _answer(content: object, status: int = 200) -> Callable[[dict[str, Any]], tuple[int, bytes]]:
    body = content if isinstance(content, bytes) else orjson.dumps(content)
    return lambda _: (status, body)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (_answer([{"index": 0, "score": 1.0}]), "one finite score for each text"),
        (_answer([{"index": 0, "score": 1.0}] * 3), "one finite score for each text"),
        (
            _answer(b'[{"index":0,"score":NaN},{"index":1,"score":1},{"index":2,"score":1}]'),
            "one finite score",
        ),
        (_answer([{"index": at, "score": None} for at in range(3)]), "one finite score for each text"),
        (_answer({"results": 7}), "one finite score for each text"),
        (_answer(b"[" * 4000), "one finite score for each text"),
        (_answer("broken", 500), "it answered 500"),
        (_answer("who?", 401), "check CARDLOG_RERANK_KEY"),
        (_answer(b"x" * 50_000_000), "its answer is too long"),
    ],
)
def test_an_answer_that_is_no_order_is_refused_with_its_reason(
    answer: Callable[[dict[str, Any]], tuple[int, bytes]], words: str
) -> None:
    with serving(answer) as url:
        scores, report = asyncio.run(Reranker(url, deadline_ms=60_000).scores("harbour", TEXTS))
    assert scores is None
    assert report.status == "down"
    assert words in (report.detail or "")


def test_an_answer_that_does_not_come_is_late() -> None:
    release = threading.Event()

    def hangs(body: dict[str, Any]) -> tuple[int, bytes]:
        release.wait(60)
        return by_length(body)

    with serving(hangs) as url:
        _, report = asyncio.run(Reranker(url, deadline_ms=100).scores("harbour", TEXTS))
        release.set()
    assert report.status == "late"


def test_after_failures_in_a_row_nothing_is_sent_for_a_while() -> None:
    asked, now = [], 0.0

    def fails(body: dict[str, Any]) -> tuple[int, bytes]:
        asked.append(body)
        return (500, b"") if len(asked) <= 3 else by_length(body)

    async def statuses(url: str) -> list[str]:
        nonlocal now
        reranker = Reranker(url, deadline_ms=30_000, clock=lambda: now)
        found: list[str] = []
        for _ in range(4):
            found.append((await reranker.scores("harbour", TEXTS))[1].status)
        now = 31.0
        found.append((await reranker.scores("harbour", TEXTS))[1].status)
        return found

    with serving(fails) as url:
        assert asyncio.run(statuses(url)) == ["down", "down", "down", "quarantined", "ok"]
    assert len(asked) == 4


@pytest.fixture
def ask(database: str, connection: Connection) -> Callable[..., dict[str, Any]]:
    log.append(connection, [apart(noted(text, episode=True).payload) for text in TEXTS])
    fold_live(database)

    def recall(url: str) -> dict[str, Any]:
        settings = replace(
            Settings(), database_url=database, rerank_url=url, rerank_deadline_ms=60_000, **PATIENT
        )
        with TestClient(create_app(settings)) as client:
            body = {"user_id": "alex", "query": "harbour", "as_of": NOW.isoformat(), "explain": True}
            answer = client.post("/v1/recall", json=body)
        assert answer.status_code == 200, answer.text
        document: dict[str, Any] = answer.json()
        return document

    return recall


def test_a_recall_has_the_order_of_the_reranker_and_answers_without_it(
    ask: Callable[..., dict[str, Any]],
) -> None:
    with serving(by_length) as url:
        answer = ask(url)
    assert [card["content"] for card in answer["cards"]] == sorted(TEXTS, key=len, reverse=True)
    scores = [card["score"] for card in answer["cards"]]
    assert scores == sorted(scores, reverse=True)
    assert answer["channels"]["rerank"]["status"] == "ok"
    plain = ask("")
    with serving(_answer("broken", 500)) as url:
        answer = ask(url)
    assert answer["cards"] == plain["cards"]
    assert "rerank" not in plain["channels"]
    assert answer["channels"]["rerank"]["status"] == "down"
    warning = next(each for each in answer["warnings"] if "rerank" in each)
    assert warning.startswith("the rerank channel is down: 127.0.0.1:")
