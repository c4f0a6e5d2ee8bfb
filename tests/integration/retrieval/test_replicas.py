"""Read replicas answer while they are fresh enough. The primary answers while they are stale or away."""

import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from starlette.testclient import TestClient

from events.http.tokens import Sealer
from events.platform.database import Connection
from events.platform.settings import Settings
from events.types.envelope import partition_of
from ingest.extraction.workers.rules_worker import PROCESSOR
from retrieval import read_servers
from retrieval.http.read_api import create_app
from tests.support.conversing import Memory, day
from tests.support.databases import url_of
from tests.support.ingest.recorder import allow_connections
from tests.support.postgres_replica import ReplicaPostgres
from tests.support.waiting import PATIENT, eventually

STALE_S = 3600  # a staleness in seconds that no test reaches


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets no server rest because the machine is busy."""
    for name in ("_REPLICA_WITHIN_S", "_PRIMARY_WITHIN_S", "_LEAST_WAIT_S"):
        monkeypatch.setattr(read_servers, name, 10.0)


@pytest.fixture(scope="module")
def replica(postgres_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[ReplicaPostgres]:
    if os.environ.get("CARDLOG_TEST_DATABASE_URL"):
        pytest.skip("a replica is made of the embedded server only")
    with ReplicaPostgres(tmp_path_factory.mktemp("replica"), postgres_url) as server:
        yield server


@pytest.fixture
def following(replica: ReplicaPostgres) -> Iterator[ReplicaPostgres]:
    """The replica, running and replaying. The fixture restores this state after each test."""
    yield replica
    if replica.poll() is not None:
        replica.start()
    replica.resume()


SEALER = Sealer(b"of the test")


@contextmanager
def reading(
    database: str, connection: Connection, replica: ReplicaPostgres, folder: Path, **settings: Any
) -> Iterator[Memory]:
    """A memory that is written on the primary and read through a service that has the replica."""
    of_replica = url_of(replica.url, connection.info.dbname)
    chosen = Settings(
        database_url=database,
        read_database_url=of_replica,
        embed_model_path=str(folder),
        token_key="of the test",
        **(PATIENT | {"read_staleness_s": STALE_S} | settings),
    )
    PROCESSOR.open(connection)
    with TestClient(create_app(chosen)) as read:
        memory = Memory(database, connection, read, read)
        memory.fold()
        replica.level()
        # The service has seen the primary, and uses the replica from now on.
        eventually(lambda: warnings(recall(memory)) == [])
        yield memory


def recall(memory: Memory, **more: Any) -> dict[str, Any]:
    answer = memory.read.post("/v1/recall", json={"user_id": memory.user, "query": "where do I live?"} | more)
    assert answer.status_code == 200, answer.text
    document: dict[str, Any] = answer.json()
    return document


def warnings(answer: dict[str, Any]) -> list[str]:
    return [text for text in answer["warnings"] if "semantic" not in text]


def homes(answer: dict[str, Any]) -> list[tuple[str, bool]]:
    return [(card["value"], card["pending"]) for card in answer["cards"] if card["kind"] == "state"]


def live_in(memory: Memory, place: str, number: int) -> None:
    memory.state("residence", place, day(number), announced=True)
    memory.fold()


def move_unseen(memory: Memory, replica: ReplicaPostgres) -> str:
    """Has the user move while the replica is paused. Returns the token of the move."""
    live_in(memory, "Taipei", 0)
    replica.level()
    replica.pause()
    live_in(memory, "Kaohsiung", 10)
    return SEALER.seal({memory.user: _head(memory.connection, memory.user)})


def in_tables(memory: Memory) -> list[str]:
    """Returns the user's residences according to the tables behind the pages. Pages show no pending card."""
    return [card["value"] for card in memory.cards(concept_key="residence", status="current")]


def test_questions_are_answered_from_the_replica_and_what_it_lacks_is_pending(
    database: str, connection: Connection, following: ReplicaPostgres, tmp_path: Path
) -> None:
    with reading(database, connection, following, tmp_path) as memory:
        live_in(memory, "Taipei", 0)
        following.level()
        assert in_tables(memory) == ["Taipei"]
        assert homes(recall(memory)) == [("Taipei", False)]
        following.pause()
        live_in(memory, "Kaohsiung", 10)
        # The card is folded on the primary only. The replica's tables and log lack it.
        assert in_tables(memory) == ["Taipei"]
        answer = recall(memory)
        assert homes(answer) == [("Kaohsiung", True)]
        assert warnings(answer) == []
        following.resume()
        following.level()
        assert in_tables(memory) == ["Kaohsiung"]
        assert homes(recall(memory)) == [("Kaohsiung", False)]


def test_a_replica_that_falls_too_far_behind_leaves_questions_to_the_primary_and_comes_back(
    database: str, connection: Connection, following: ReplicaPostgres, tmp_path: Path
) -> None:
    with reading(database, connection, following, tmp_path, read_staleness_s=1) as memory:
        live_in(memory, "Taipei", 0)
        eventually(lambda: in_tables(memory) == ["Taipei"])
        following.pause()
        live_in(memory, "Kaohsiung", 10)
        committed = began = time.monotonic()
        while in_tables(memory) == ["Taipei"]:
            # The replica answered while its missing data was within the bound, so no answer is older than the bound.
            assert began - committed <= 1.0
            began = time.monotonic()
        [warning] = eventually(lambda: warnings(recall(memory)))
        assert "answered by the primary: replica 1 is" in warning
        assert "behind" in warning
        assert in_tables(memory) == ["Kaohsiung"]
        assert homes(recall(memory)) == [("Kaohsiung", False)]
        following.resume()
        eventually(lambda: warnings(recall(memory)) == [])
        assert in_tables(memory) == ["Kaohsiung"]


def test_an_idle_primary_makes_no_replica_stale(
    database: str, connection: Connection, following: ReplicaPostgres, tmp_path: Path
) -> None:
    with reading(database, connection, following, tmp_path, read_staleness_s=1) as memory:
        began = connection.execute("SELECT clock_timestamp()").fetchone()
        assert began is not None
        idle = "SELECT clock_timestamp() > %s + interval '2.5 s'"
        eventually(lambda: connection.execute(idle, began).fetchone() == (True,))
        # A busy machine looks at the primary too seldom at times, so a replica may be stale for a moment.
        eventually(lambda: warnings(recall(memory)) == [])


def test_what_the_replica_has_not_got_in_time_the_primary_answers(
    database: str,
    connection: Connection,
    following: ReplicaPostgres,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with reading(database, connection, following, tmp_path, wait_for_ms=300) as memory:
        token = move_unseen(memory, following)
        assert _page(memory, token) == ["Kaohsiung"]
        answer = recall(memory, wait_for=token)
        assert homes(answer) == [("Kaohsiung", False)]
        [warning] = warnings(answer)
        assert "did not get the awaited turns" in warning
        # A position that no server has is not waited for without end.
        monkeypatch.setattr(read_servers, "_LEAST_WAIT_S", 0.25)
        later = SEALER.seal({memory.user: _head(connection, memory.user) + 1})
        assert any(
            "not yet projected after 300 ms" in text for text in warnings(recall(memory, wait_for=later))
        )


def test_a_wait_happens_on_the_server_that_answers_and_ends_with_it(
    database: str, connection: Connection, following: ReplicaPostgres, tmp_path: Path
) -> None:
    with reading(database, connection, following, tmp_path, wait_for_ms=60_000) as memory:
        token = move_unseen(memory, following)
        with ThreadPoolExecutor(1) as thread:
            page = thread.submit(_page, memory, token)
            eventually(lambda: _is_waiting(following, connection.info.dbname))
            assert not page.done()
            following.resume()
            assert page.result(60) == ["Kaohsiung"]
            following.level()
            following.pause()
            live_in(memory, "Tainan", 20)
            token = SEALER.seal({memory.user: _head(connection, memory.user)})
            asked = thread.submit(recall, memory, wait_for=token)
            eventually(lambda: _is_waiting(following, connection.info.dbname))
            kill(following)
            answer = asked.result(60)
        assert homes(answer) == [("Tainan", False)]
        assert any("replica 1 is away" in text for text in answer["warnings"])
        following.restart()


def kill(server: ReplicaPostgres) -> None:
    assert server.pid is not None
    os.kill(server.pid, signal.SIGQUIT)  # "immediate": it drops everything
    eventually(lambda: server.poll() is not None)


def _page(memory: Memory, token: str) -> list[str]:
    cards = memory.cards(concept_key="residence", status="current", wait_for=token)
    return [card["value"] for card in cards]


def _head(connection: Connection, user: str) -> int:
    row = connection.execute(
        "SELECT position FROM log.heads WHERE partition = %s", (partition_of(user),)
    ).fetchone()
    assert row is not None
    return int(row[0])


def _is_waiting(replica: ReplicaPostgres, database: str) -> bool:
    with psycopg.connect(replica.url) as connection:
        row = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = %s AND query LIKE '%%AS extracted%%'",
            (database,),
        ).fetchone()
    return row is not None and row[0] > 0


def test_a_replica_that_dies_costs_no_answer(
    database: str,
    connection: Connection,
    following: ReplicaPostgres,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(read_servers, "_REPLICA_WITHIN_S", 0.25)
    with reading(database, connection, following, tmp_path) as memory:
        live_in(memory, "Taipei", 0)
        following.level()
        assert homes(recall(memory)) == [("Taipei", False)]
        kill(following)
        for _ in range(5):
            answer = recall(memory)
            assert homes(answer) == [("Taipei", False)]
            assert any("answered by the primary: replica 1 is away" in text for text in answer["warnings"])
            assert in_tables(memory) == ["Taipei"]
        following.restart()
        eventually(lambda: warnings(recall(memory)) == [])


def test_while_the_primary_is_away_replicas_answer_with_a_warning(
    database: str,
    connection: Connection,
    following: ReplicaPostgres,
    tmp_path: Path,
    postgres_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(read_servers, "_PRIMARY_WITHIN_S", 2.0)
    with reading(database, connection, following, tmp_path, read_staleness_s=1) as memory:
        live_in(memory, "Taipei", 0)
        following.level()
        following.pause()  # or it would close its door with the primary's
        name = connection.info.dbname
        allow_connections(connection, postgres_url, name, False)
        try:
            answer = eventually(lambda: _said_away(memory))
            assert homes(answer) == [("Taipei", False)]
            assert memory.read.get("/readyz").status_code == 200
        finally:
            allow_connections(connection, postgres_url, name, True)


def _said_away(memory: Memory) -> dict[str, Any] | None:
    answer = memory.read.post("/v1/recall", json={"user_id": memory.user, "query": "where do I live?"})
    if answer.status_code != 200:
        return None
    document: dict[str, Any] = answer.json()
    return document if any("the primary is away" in text for text in document["warnings"]) else None


def test_a_server_that_takes_writes_is_no_replica(
    database: str, connection: Connection, tmp_path: Path
) -> None:
    settings = Settings(
        database_url=database, read_database_url=database, embed_model_path=str(tmp_path), **PATIENT
    )
    with TestClient(create_app(settings)) as read:
        memory = Memory(database, connection, read, read)
        live_in(memory, "Taipei", 0)
        answer = recall(memory)
        assert homes(answer) == [("Taipei", False)]
        assert any("is not a replica" in text for text in answer["warnings"])


def spoil(connection: Connection, user: str, state: str) -> None:
    """Have the server refuse to read the relations of one user, of whose cards each has one, with this SQLSTATE."""
    connection.execute(
        "INSERT INTO cards.relations SELECT user_id, card_id, gen_random_uuid(), 'expands', 'because', 1, "
        "gen_random_uuid(), now(), false, 'test', false FROM cards.cards WHERE kind = 'state' AND user_id = %s",
        (user,),
    )
    connection.execute(
        "CREATE FUNCTION public.harmless(who text) RETURNS boolean LANGUAGE plpgsql COST 0.0001 AS $$ BEGIN "
        f"IF who = '{user}' THEN RAISE EXCEPTION 'row is too big' USING ERRCODE = '{state}'; END IF; "
        "RETURN true; END $$"
    )
    connection.execute("ALTER TABLE cards.relations RENAME TO relations_kept")
    connection.execute(
        "CREATE VIEW cards.relations AS SELECT * FROM cards.relations_kept WHERE public.harmless(user_id)"
    )


@pytest.mark.parametrize("state", ["54000", "22003"])
def test_a_question_whose_data_the_server_refuses_is_refused_and_rests_no_replica(
    database: str, connection: Connection, following: ReplicaPostgres, tmp_path: Path, state: str
) -> None:
    with reading(database, connection, following, tmp_path) as memory:
        mallory = memory.of("mallory")
        for one in (memory, mallory):
            live_in(one, "Taipei", 0)
            live_in(one, "Kaohsiung", 10)
        spoil(connection, "mallory", state)
        following.level()
        [card] = mallory.cards(concept_key="residence", status="current")
        question = {"user_id": "mallory", "query": "where do I live?"}
        for _ in range(3):
            answers = (
                memory.read.post("/v1/recall", json=question),
                memory.read.get(f"/v1/cards/{card['card_id']}/history", params={"user_id": "mallory"}),
            )
            for answer in answers:
                assert answer.status_code == 422, answer.text
                assert answer.headers["content-type"] == "application/problem+json"
                assert "row is too big" in answer.json()["detail"]
            # The replica still answers other users.
            found = recall(memory)
            assert homes(found) == [("Kaohsiung", False)]
            assert warnings(found) == []


def test_a_question_that_the_servers_have_no_room_for_is_asked_again_later(
    database: str, connection: Connection, following: ReplicaPostgres, tmp_path: Path
) -> None:
    with reading(database, connection, following, tmp_path) as memory:
        live_in(memory, "Taipei", 0)
        live_in(memory, "Kaohsiung", 10)
        spoil(connection, memory.user, "53300")
        following.level()
        answer = memory.read.post("/v1/recall", json={"user_id": memory.user, "query": "where do I live?"})
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
