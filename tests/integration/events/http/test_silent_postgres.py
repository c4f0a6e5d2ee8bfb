"""A PostgreSQL that keeps its connections and answers nothing, such as a suspended one, hangs no request."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from starlette.testclient import TestClient

from events.platform.settings import Settings
from ingest.api import write_api
from retrieval.http import read_api
from tests.support.kafka.forwarder import Forwarder
from tests.support.projectors.folding import fold_live
from tests.support.waiting import eventually

_PATIENCE_S = 40.0
QUESTION = {"user_id": "alex", "query": "where do I live?"}


@pytest.fixture
def forwarder(database: str) -> Iterator[Forwarder]:
    made = Forwarder()
    made.open(urlsplit(database).port or 5432)
    yield made
    made.flowing.set()
    made.shut()


@pytest.fixture
def settings(
    database: str, redis_url: str, forwarder: Forwarder, monkeypatch: pytest.MonkeyPatch
) -> Settings:
    monkeypatch.setattr(read_api, "ANSWERS_WITHIN_S", 5.0)
    fold_live(database)
    place = urlsplit(database)
    login, _, _ = place.netloc.rpartition("@")
    url = place._replace(netloc=f"{login}@127.0.0.1:{forwarder.port}").geturl()
    return replace(Settings(), database_url=url, redis_url=redis_url, auth="off", audit="off")


def asked(client: TestClient, forwarder: Forwarder, method: str, path: str, **more: Any) -> httpx2.Response:
    """Returns the answer of a request. A request that hangs fails the test, and ends with the silence."""
    with ThreadPoolExecutor(1) as threads:
        answer = threads.submit(client.request, method, path, **more)
        try:
            return answer.result(_PATIENCE_S)
        except TimeoutError:
            forwarder.flowing.set()
            raise


def test_reads_say_that_postgres_does_not_answer(settings: Settings, forwarder: Forwarder) -> None:
    with TestClient(read_api.create_app(settings)) as client:
        assert asked(client, forwarder, "POST", "/v1/recall", json=QUESTION).status_code == 200
        forwarder.flowing.clear()
        for _ in range(2):
            recall = asked(client, forwarder, "POST", "/v1/recall", json=QUESTION)
            assert (recall.status_code, recall.json()["title"]) == (503, "Cards unavailable")
            assert "PostgreSQL does not answer" in recall.json()["detail"]
        cards = asked(client, forwarder, "GET", "/v1/cards", params={"user_id": "alex"})
        assert cards.status_code == 503
        forwarder.flowing.set()
        assert eventually(
            lambda: asked(client, forwarder, "POST", "/v1/recall", json=QUESTION).status_code == 200
        )


def test_a_push_needs_only_redis_and_a_command_is_refused(settings: Settings, forwarder: Forwarder) -> None:
    turn = {"user_id": "alex", "text": "I live in Lisbon.", "turn_id": "t1"}
    with TestClient(write_api.create_app(settings, with_chores=False)) as client:
        assert asked(client, forwarder, "POST", "/v1/turns", json=turn).status_code == 202
        forwarder.flowing.clear()
        assert asked(client, forwarder, "POST", "/v1/turns", json=turn).status_code == 202
        refused = asked(client, forwarder, "PUT", "/v1/modes/journal", json={"user_id": "alex"})
        assert (refused.status_code, refused.json()["title"]) == (503, "Log unavailable")
        forwarder.flowing.set()
