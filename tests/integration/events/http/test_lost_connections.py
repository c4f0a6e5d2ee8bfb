"""What the services do while PostgreSQL or Redis is silent or has ended the connections."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from redis import Redis
from starlette.testclient import TestClient

from events.platform.database import Connection
from events.platform.settings import Settings
from ingest.api import write_api
from ingest.api.write_api import create_app
from retrieval.http import read_api
from tests.integration.events.http.conftest import Services
from tests.support.kafka.forwarder import Forwarder
from tests.support.projectors.folding import fold_live, settings_of
from tests.support.waiting import PATIENT, eventually


def kill(connection: Connection, application: str) -> None:
    """Ends the idle connections of ``application``, as a failover or a firewall would."""
    eventually(
        lambda: (
            connection.execute(
                "SELECT bool_and(pg_terminate_backend(pid, 5000)) FROM pg_stat_activity "
                "WHERE datname = current_database() AND application_name = %s AND state = 'idle'",
                [application],
            ).fetchone()
            == (True,)
        )
    )


def test_a_key_that_no_service_knows_yet_is_looked_up(services: Services) -> None:
    for service, client in (("read", services.read), ("write", services.write)):
        path = "/v1/channels" if service == "read" else "/v1/modes/none"
        client.get(path, headers=services.key())
        # The watcher of keys has the same name. It connects again by itself.
        kill(services.connection, f"cardlog {service}, keys")
        answer = client.get(path, headers=services.key())
        assert answer.status_code != 503, answer.text


def test_a_command_is_done(services: Services) -> None:
    key = services.key()
    for name in ("first", "second"):
        answer = services.write.put(f"/v1/modes/{name}", json={"user_id": "zoe"}, headers=key)
        assert answer.status_code == 200, answer.text
        kill(services.connection, "cardlog write, commands")


def test_a_push_still_names_the_turns_that_are_known(services: Services) -> None:
    turn = {"user_id": "ada", "text": "Mia is my sister.", "turn_id": "a turn"}
    for _ in range(2):
        answer = services.write.post("/v1/turns", json=turn, headers=services.key())
        assert (answer.status_code, answer.json()["duplicates"]) == (202, ["a turn"])
        kill(services.connection, "cardlog write")


def test_a_service_that_stops_leaves_no_connection_to_redis(
    database: str, redis_url: str, redis_operator: Redis
) -> None:
    def connections() -> set[str]:
        return {each["id"] for each in redis_operator.client_list()}

    before = connections()
    app = create_app(settings_of(database, redis_url=redis_url, **PATIENT))
    with TestClient(app, base_url="http://localhost") as client:
        for path in ("/readyz", "/metrics", "/v1/status"):
            assert client.get(path).status_code == 200
        assert connections() - before
    eventually(lambda: not connections() - before)


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
