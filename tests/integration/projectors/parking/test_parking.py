"""A poison event parks its user, in order; everybody else goes on, and nothing is folded twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from events.platform.database import Connection, connect
from events.platform.settings import Settings
from events.store import log
from events.store.checkpoints import CheckpointMovedError
from events.types.envelope import uuid7
from ingest.extraction.extractor_port import Extraction, ExtractorUnavailableError, SessionBatch
from ingest.extraction.workers.rules_worker import PROCESSOR as EXTRACTOR
from ingest.extraction.workers.rules_worker import ExtractorWorker
from projectors.cards.projector import CardsProjector
from projectors.generations.generations import Generation, Projector, ProjectorBlockedError, ensure_live
from projectors.parking import parking
from projectors.runner.runner import Runner
from tests.support.projectors.parking import (
    Ledger,
    append_raw,
    drain,
    entries,
    neighbours,
    noted,
    parked,
    runner_of,
    turn,
)
from tests.support.waiting import eventually

UNREADABLE: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown type": ({"kind": "NeverHeardOf"}, "unknown event type 'NeverHeardOf'"),
    "a newer version": (
        {"kind": "EventNoted", "version": 9},
        "schema version 9 is newer than this build's 1",
    ),
    "a field too few": ({"kind": "EventNoted"}, "EventNoted.content is missing"),
    "no object at all": ({"kind": "EventNoted", "data": 5}, "TypeError"),
}


@pytest.mark.parametrize("poison", UNREADABLE)
def test_what_cannot_be_read_parks_its_user_and_the_others_go_on(
    database: str, connection: Connection, poison: str
) -> None:
    bad, good = neighbours(2)
    event, reason = UNREADABLE[poison]
    ledger = Ledger()
    ensure_live(connection, ledger)
    log.append(connection, [noted(bad, "b1"), noted(good, "g1")])
    append_raw(connection, bad, **event)
    log.append(connection, [noted(bad, "b2"), noted(good, "g2"), noted("elsewhere", "e1")])
    assert drain(runner_of(database, ledger), connection) == 6
    assert entries(connection, bad) == ["b1"]
    assert entries(connection, good) == ["g1", "g2"]
    assert entries(connection, "elsewhere") == ["e1"]
    first, second = parked(connection, "ledger")
    assert reason in str(first[2])
    assert (first[0], first[3]) == (bad, 1)
    assert second == (bad, "b2", None, 0)
    # A later batch waits too, without being tried, and the checkpoint stands at the head.
    log.append(connection, [noted(bad, "b3"), noted(good, "g3")])
    assert drain(runner_of(database, ledger), connection) == 2
    assert entries(connection, bad) == ["b1"]
    assert entries(connection, good) == ["g1", "g2", "g3"]
    assert parked(connection, "ledger")[2] == (bad, "b3", None, 0)
    heads = log.heads(connection)
    assert Generation("ledger", 1).processor.positions(connection) == heads


def test_what_the_fold_refuses_is_found_among_many_users_of_one_batch(
    database: str, connection: Connection
) -> None:
    users = [f"user{n}" for n in range(40)]
    log.append(connection, [noted(user, f"{user} {n}") for n in range(5) for user in users])
    ledger = Ledger("user7 2", "user23 0", "user39 4")
    ensure_live(connection, ledger)
    drain(runner_of(database, ledger), connection)
    cut = {"user7": 2, "user23": 0, "user39": 4}
    for user in users:
        assert entries(connection, user) == [f"{user} {n}" for n in range(cut.get(user, 5))]
    assert [row[:2] for row in parked(connection, "ledger")] == [
        *(("user23", f"user23 {n}") for n in range(5)),
        ("user39", "user39 4"),
        *(("user7", f"user7 {n}") for n in (2, 3, 4)),
    ]
    assert [row[2] for row in parked(connection, "ledger") if row[2]] == [
        f"ValueError: cannot stomach {user} {cut[user]}" for user in ("user23", "user39", "user7")
    ]


def test_what_a_table_refuses_parks_its_user(database: str, connection: Connection) -> None:
    projector = CardsProjector()
    ensure_live(connection, projector)
    card = str(uuid7())
    log.append(connection, [noted("good", "went to Oslo")])
    append_raw(
        connection,
        "bad",
        kind="CardsConnected",
        data={
            "from_card": card,
            "to_card": str(uuid7()),
            "predicate": "related_to",
            "reason": "alike",
            "confidence": "high",
        },
    )
    log.append(connection, [noted("bad", "went to Bern"), noted("good", "went to Rome")])
    drain(runner_of(database, projector), connection)
    assert [row[:2] for row in parked(connection, "cards")] == [
        ("bad", "CardsConnected"),
        ("bad", "went to Bern"),
    ]
    assert "invalid input syntax for type real" in str(parked(connection, "cards")[0][2])
    cards = connection.execute("SELECT user_id, content FROM cards.cards ORDER BY content").fetchall()
    assert cards == [("good", "went to Oslo"), ("good", "went to Rome")]


NOT_ITS_FAULT = [
    psycopg.errors.DiskFull, psycopg.errors.AdminShutdown, psycopg.errors.DeadlockDetected,
    psycopg.errors.UndefinedTable, psycopg.errors.InsufficientPrivilege,
    ProjectorBlockedError, CheckpointMovedError, MemoryError, OSError,
]  # fmt: skip


@pytest.mark.parametrize("error", NOT_ITS_FAULT)
def test_what_is_not_the_events_fault_parks_nobody(
    database: str, connection: Connection, error: type[Exception]
) -> None:
    ledger = Ledger("two")
    ledger.error = error
    ensure_live(connection, ledger)
    log.append(connection, [noted("alex", "one"), noted("alex", "two")])
    with pytest.raises(error):
        runner_of(database, ledger).step(connection)
    assert parked(connection, "ledger") == []
    assert entries(connection, "alex") == []
    assert set(Generation("ledger", 1).processor.positions(connection).values()) == {0}


def test_parking_and_the_checkpoint_are_one_transaction(database: str, connection: Connection) -> None:
    ledger = Ledger("two")
    ensure_live(connection, ledger)
    log.append(connection, [noted("alex", "one"), noted("alex", "two")])
    runner = runner_of(database, ledger)
    with connection.transaction(force_rollback=True):
        assert runner.step(connection) == 2
        assert len(parked(connection, "ledger")) == 1
    assert parked(connection, "ledger") == []
    assert set(Generation("ledger", 1).processor.positions(connection).values()) == {0}
    drain(runner, connection)
    assert entries(connection, "alex") == ["one"]
    assert [row[1] for row in parked(connection, "ledger")] == ["two"]


def test_retry_folds_in_order_as_far_as_it_goes(database: str, connection: Connection) -> None:
    ledger = Ledger("two", "four")
    ensure_live(connection, ledger)
    log.append(connection, [noted("alex", word) for word in ("one", "two", "three", "four", "five")])
    drain(runner_of(database, ledger), connection)
    again = parking.retry(connection, ledger, "alex")
    assert (again.folded, again.reason) == (0, "ValueError: cannot stomach two")
    assert parked(connection, "ledger")[0] == ("alex", "two", "ValueError: cannot stomach two", 2)
    ledger.refused = {"four"}
    further = parking.retry(connection, ledger, "alex")
    assert (further.folded, further.reason) == (2, "ValueError: cannot stomach four")
    assert entries(connection, "alex") == ["one", "two", "three"]
    assert parked(connection, "ledger") == [
        ("alex", "four", "ValueError: cannot stomach four", 1), ("alex", "five", None, 0)
    ]  # fmt: skip
    ledger.refused = set()
    assert parking.retry(connection, ledger, "alex") == parking.RetryResult(2, 0, None)
    assert parking.retry(connection, ledger, "alex") == parking.RetryResult(0, 0, None)
    log.append(connection, [noted("alex", "six")])
    drain(runner_of(database, ledger), connection)
    assert entries(connection, "alex") == ["one", "two", "three", "four", "five", "six"]
    assert parked(connection, "ledger") == []


def test_a_long_queue_is_retried_whole(database: str, connection: Connection) -> None:
    ledger = Ledger("0")
    ensure_live(connection, ledger)
    log.append(connection, [noted("alex", str(n)) for n in range(1200)])
    drain(runner_of(database, ledger), connection)
    [queue] = parking.queues(connection)
    assert (queue.user_id, queue.behind, queue.type) == ("alex", 1199, "EventNoted")
    assert [event.payload.content for event in parking.waiting(connection, queue)] == [
        str(n) for n in range(1200)
    ]
    ledger.refused = {"1100"}
    assert parking.retry(connection, ledger, "alex").folded == 1100
    ledger.refused = set()
    assert parking.retry(connection, ledger, "alex").folded == 100
    assert entries(connection, "alex") == [str(n) for n in range(1200)]


def test_drop_goes_without_the_first_keeps_a_record_and_folds_the_rest(
    database: str, connection: Connection
) -> None:
    ledger = Ledger("two", "four")
    ensure_live(connection, ledger)
    log.append(connection, [noted("alex", word) for word in ("one", "two", "three", "four", "five")])
    drain(runner_of(database, ledger), connection)
    outcome = parking.drop(connection, ledger, "alex", "it is nonsense")
    assert outcome == parking.RetryResult(1, 1, "ValueError: cannot stomach four")
    assert parking.drop(connection, ledger, "alex", "as well", whole=True) == parking.RetryResult(0, 2, None)
    assert entries(connection, "alex") == ["one", "three"]
    assert parked(connection, "ledger") == []
    record = connection.execute(
        "SELECT e.data->>'content', d.reason, d.because, d.attempts FROM log.dropped d "
        "JOIN log.events e USING (partition, position) ORDER BY d.position"
    ).fetchall()
    assert record == [
        ("two", "ValueError: cannot stomach two", "it is nonsense", 1),
        ("four", "ValueError: cannot stomach four", "as well", 1),
        ("five", None, "as well", 0),
    ]
    # The decision outlives the generation: tables that pass the event again go without it too.
    connection.execute("TRUNCATE ledger.entries")
    connection.execute("UPDATE log.checkpoints SET position = 0 WHERE processor = 'ledger'")
    drain(runner_of(database, ledger), connection)
    assert entries(connection, "alex") == ["one", "three"]
    assert parked(connection, "ledger") == []


def test_parked_events_belong_to_the_generation_that_passed_them(
    database: str, connection: Connection
) -> None:
    ledger = Ledger("two")
    ensure_live(connection, ledger)
    log.append(connection, [noted("alex", "one"), noted("alex", "two")])
    drain(runner_of(database, ledger), connection)
    assert len(parking.queues(connection)) == 1
    # Another generation takes over: what waits for the retired one is nobody's business, but not forgotten.
    connection.execute("UPDATE log.generations SET status = 'retired' WHERE projection = 'ledger'")
    connection.execute(
        "INSERT INTO log.generations (projection, generation, status) VALUES ('ledger', 2, 'live')"
    )
    Generation("ledger", 2).processor.open(connection)
    assert parking.queues(connection) == []
    assert len(parked(connection, "ledger")) == 1
    connection.execute("DELETE FROM log.checkpoints WHERE processor = 'ledger' AND generation = 1")
    assert parked(connection, "ledger") == []


@contextmanager
def running(database: str, projector: Projector) -> Iterator[None]:
    stop = threading.Event()
    runner = Runner(Settings(database_url=database, batch_events=3), projector, stop.is_set)
    thread = threading.Thread(target=runner.run)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(10)


def test_retry_and_runner_keep_out_of_each_others_way(database: str, connection: Connection) -> None:
    ledger = Ledger("one")
    ensure_live(connection, ledger)
    log.append(connection, [noted("alex", "one")])
    runner = runner_of(database, ledger)
    drain(runner, connection)
    ledger.refused = set()
    log.append(connection, [noted("alex", "two")])
    with connect(database, application="operator") as operator:
        with connection.transaction():
            assert runner.step(connection) == 1, "two waits behind one, in a transaction that is still open"
            operator.execute("SET lock_timeout = '200ms'")
            with pytest.raises(psycopg.errors.LockNotAvailable):
                parking.retry(operator, ledger, "alex")
        log.append(connection, [noted("alex", "three")])
        with operator.transaction():
            assert parking.retry(operator, ledger, "alex").folded == 2
            assert runner.step(connection) == 0, "the partition is left alone until the retry is done"
        drain(runner, connection)
    assert entries(connection, "alex") == ["one", "two", "three"]
    assert parked(connection, "ledger") == []


def test_retrying_while_the_runner_runs_keeps_the_order_and_loses_nothing(
    database: str, connection: Connection
) -> None:
    words = [str(n) for n in range(300)]
    live, mended = Ledger("5"), Ledger()
    ensure_live(connection, live)
    with running(database, live), connect(database, application="operator") as operator:
        for word in words[:100]:
            log.append(connection, [noted("alex", word)])
        eventually(lambda: parking.queues(connection))
        live.refused = set()
        folded = 0
        for word in words[100:]:
            log.append(connection, [noted("alex", word)])
            folded += parking.retry(operator, mended, "alex").folded
        heads = log.heads(connection)
        eventually(lambda: Generation("ledger", 1).processor.positions(connection) == heads)
        folded += parking.retry(operator, mended, "alex").folded
    assert folded > 0
    assert parked(connection, "ledger") == []
    assert entries(connection, "alex") == words


def command(database: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CARDLOG_")}
    return subprocess.run(
        [sys.executable, "-m", "deploy.command", *arguments], capture_output=True, text=True, timeout=60, check=False,
        env={**kept, "CARDLOG_DATABASE_URL": database, "CARDLOG_REDIS_URL": "redis://127.0.0.1:1"},
    )  # fmt: skip


def test_the_command_lists_retries_and_drops(database: str, connection: Connection) -> None:
    projector = CardsProjector()
    ensure_live(connection, projector)
    connection.execute(
        "ALTER TABLE cards.event_cards ADD CONSTRAINT no_mud CHECK (content NOT LIKE '%%mud%%')"
    )
    log.append(connection, [noted("alex", "saw mud"), noted("alex", "went home"), noted("bea", "went out")])
    append_raw(connection, "cleo", kind="NeverHeardOf")
    runner = runner_of(database, projector)
    drain(runner, connection)

    listed = json.loads(command(database, "parked", "list", "--json").stdout)
    assert [(each["processor"], each["user_id"], each["behind"], each["attempts"]) for each in listed] == [
        ("cards", "alex", 1, 1), ("cards", "cleo", 0, 1)
    ]  # fmt: skip
    assert "no_mud" in listed[0]["reason"]
    assert "NeverHeardOf" in listed[1]["reason"]
    assert "3 events of 2 users wait" in command(database, "parked", "list").stdout
    [shown] = json.loads(command(database, "parked", "show", "--user", "alex", "--json").stdout)
    assert [event["type"] for event in shown["events"]] == ["EventNoted", "EventNoted"]

    failed = command(database, "parked", "retry")
    assert failed.returncode == 1
    assert "alex still waits" in failed.stderr
    connection.execute("ALTER TABLE cards.event_cards DROP CONSTRAINT no_mud")
    assert command(database, "parked", "retry", "--user", "alex").returncode == 0
    assert command(database, "parked", "drop").returncode == 1
    dropped = command(database, "parked", "drop", "--all", "--because", "a test", "--json")
    assert json.loads(dropped.stdout) == [
        {"processor": "cards", "user_id": "cleo", "folded": 0, "dropped": 1, "reason": None}
    ]
    assert json.loads(command(database, "parked", "list", "--json").stdout) == []
    cards = connection.execute("SELECT user_id, content FROM cards.cards ORDER BY content").fetchall()
    assert cards == [("alex", "saw mud"), ("alex", "went home"), ("bea", "went out")]


class Choosy:
    """An extractor that chokes on mud and keeps every other turn in its words."""

    def __init__(self) -> None:
        self.name = "choosy"
        self.model: str | None = None
        self.prompt_version = "1"
        self.bursts: list[list[str]] = []
        self.away = False

    def extract(self, burst: SessionBatch) -> Extraction:
        if self.away:
            raise ExtractorUnavailableError("out for lunch")
        texts = [turn.turn.text for turn in burst.turns]
        if "mud" in texts:
            raise ZeroDivisionError("mud")
        self.bursts.append([*(f"({turn.turn.text})" for turn in burst.preceding), *texts])
        cards = tuple(noted(burst.turns[0].user_id, text).payload for text in texts)
        return Extraction(cards)


def kinds(connection: Connection, user: str) -> list[tuple[str, str]]:
    return connection.execute(
        "SELECT type, coalesce(data->>'content', data->>'reason', data->>'cards') FROM log.events "
        "WHERE user_id = %s AND type <> 'TurnRecorded' ORDER BY position",
        (user,),
    ).fetchall()


def test_a_turn_the_extractor_fails_on_is_said_to_have_failed_and_the_others_go_on(
    database: str, connection: Connection
) -> None:
    EXTRACTOR.open(connection)
    extractor = Choosy()
    worker = ExtractorWorker(Settings(database_url=database), extractor, lambda: False)
    log.append(
        connection, [turn("alex", "one"), turn("alex", "mud"), turn("alex", "three"), turn("bea", "four")]
    )
    append_raw(connection, "cleo", kind="TurnRecorded", version=9, data={"turn_id": "t9"})
    log.append(connection, [turn("cleo", "five")])
    append_raw(connection, "cleo", kind="NeverHeardOf")
    while worker.step(connection):
        pass
    assert kinds(connection, "alex") == [
        ("TurnsExtracted", "1"), ("EventNoted", "one"),
        ("ExtractionFailed", "ZeroDivisionError: mud"),
        ("TurnsExtracted", "1"), ("EventNoted", "three"),
    ]  # fmt: skip
    assert kinds(connection, "bea") == [("TurnsExtracted", "1"), ("EventNoted", "four")]
    cleos = kinds(connection, "cleo")
    assert ("ExtractionFailed", "TurnRecorded schema version 9 is newer than this build's 1") in cleos
    assert ("EventNoted", "five") in cleos
    failed = connection.execute(
        "SELECT data->'turn_ids'->>0, (data->'turn_positions'->>0)::bigint FROM log.events "
        "WHERE type = 'ExtractionFailed' ORDER BY user_id"
    ).fetchall()
    assert failed == [("mud", 2), ("t9", 1)]
    assert ["(one)", "(mud)", "three"] in extractor.bursts


def test_an_extractor_that_is_away_fails_no_turn(database: str, connection: Connection) -> None:
    EXTRACTOR.open(connection)
    extractor = Choosy()
    extractor.away = True
    worker = ExtractorWorker(Settings(database_url=database), extractor, lambda: False)
    log.append(connection, [turn("alex", "one")])
    with pytest.raises(ExtractorUnavailableError):
        worker.step(connection)
    assert kinds(connection, "alex") == []
    extractor.away = False
    while worker.step(connection):
        pass
    assert kinds(connection, "alex") == [("TurnsExtracted", "1"), ("EventNoted", "one")]
