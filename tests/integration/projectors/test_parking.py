"""What cannot be folded is parked with its user, and retried or dropped."""

import json
from functools import partial
from typing import Any

import psycopg
import pytest

from events.platform.database import Connection, connect
from events.store import log
from events.store.checkpoints import CheckpointMovedError
from ingest.extraction.extractor_port import Extraction, ExtractorUnavailableError, SessionBatch
from ingest.extraction.workers.rules_worker import PROCESSOR as EXTRACTOR
from ingest.extraction.workers.rules_worker import ExtractorWorker
from projectors import parking
from projectors.cards.projector import CardsProjector
from projectors.generations.generations import Generation, ensure_live
from projectors.generations.projector import ProjectorBlockedError
from tests.support.events.turns import neighbours, turn
from tests.support.projectors.folding import settings_of
from tests.support.projectors.parking import (
    Ledger,
    append_raw,
    drain,
    entries,
    noted,
    parked,
    runner_of,
)
from tests.support.stack import typed_here

UNREADABLE: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown type": ({"kind": "NeverHeardOf"}, "unknown event type 'NeverHeardOf'"),
    "a newer version": (
        {"kind": "EventNoted", "version": 9},
        "schema version 9 is newer than this build's 1",
    ),
    "a field too few": ({"kind": "EventNoted"}, "EventNoted.content is missing"),
    "no object at all": ({"kind": "EventNoted", "data": 5}, "EventNoted is no JSON object"),
}


@pytest.mark.parametrize("poison", UNREADABLE)
def test_an_unreadable_event_parks_its_user_and_the_others_continue(
    connection: Connection, poison: str
) -> None:
    bad, good = neighbours(2)
    event, reason = UNREADABLE[poison]
    ledger = Ledger()
    ensure_live(connection, ledger)
    log.append(connection, [noted(bad, "b1"), noted(good, "g1")])
    append_raw(connection, bad, **event)
    log.append(connection, [noted(bad, "b2"), noted(good, "g2"), noted("elsewhere", "e1")])
    assert drain(runner_of(connection, ledger), connection) == 6
    assert entries(connection, bad) == ["b1"]
    assert entries(connection, good) == ["g1", "g2"]
    assert entries(connection, "elsewhere") == ["e1"]
    first, second = parked(connection, "ledger")
    assert reason in str(first[2])
    assert (first[0], first[3]) == (bad, 1)
    assert second == (bad, "b2", None, 0)
    # A later batch of the user waits without a try, and the checkpoint is at the head.
    log.append(connection, [noted(bad, "b3"), noted(good, "g3")])
    assert drain(runner_of(connection, ledger), connection) == 2
    assert entries(connection, bad) == ["b1"]
    assert entries(connection, good) == ["g1", "g2", "g3"]
    assert parked(connection, "ledger")[2] == (bad, "b3", None, 0)
    heads = log.heads(connection)
    assert Generation("ledger", 1).processor.positions(connection) == heads


def test_what_the_fold_refuses_is_found_among_many_users_of_one_batch(connection: Connection) -> None:
    users = [f"user{n}" for n in range(40)]
    log.append(connection, [noted(user, f"{user} {n}") for n in range(5) for user in users])
    ledger = Ledger("user7 2", "user23 0", "user39 4")
    ensure_live(connection, ledger)
    drain(runner_of(connection, ledger), connection)
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


NOT_ITS_FAULT = [
    psycopg.errors.DiskFull, psycopg.errors.AdminShutdown, psycopg.errors.DeadlockDetected,
    psycopg.errors.UndefinedTable, psycopg.errors.InsufficientPrivilege,
    ProjectorBlockedError, CheckpointMovedError, MemoryError, OSError,
]  # fmt: skip


@pytest.mark.parametrize("error", NOT_ITS_FAULT)
def test_what_is_not_the_events_fault_parks_nobody(connection: Connection, error: type[Exception]) -> None:
    ledger = Ledger("two")
    ledger.error = error
    ensure_live(connection, ledger)
    log.append(connection, [noted("alex", "one"), noted("alex", "two")])
    with pytest.raises(error):
        runner_of(connection, ledger).step(connection)
    assert parked(connection, "ledger") == []
    assert entries(connection, "alex") == []
    assert set(Generation("ledger", 1).processor.positions(connection).values()) == {0}


def test_parking_and_the_checkpoint_are_one_transaction(connection: Connection) -> None:
    ledger = Ledger("two")
    ensure_live(connection, ledger)
    log.append(connection, [noted("alex", "one"), noted("alex", "two")])
    runner = runner_of(connection, ledger)
    with connection.transaction(force_rollback=True):
        assert runner.step(connection) == 2
        assert len(parked(connection, "ledger")) == 1
    assert parked(connection, "ledger") == []
    assert set(Generation("ledger", 1).processor.positions(connection).values()) == {0}
    drain(runner, connection)
    assert entries(connection, "alex") == ["one"]
    assert [row[1] for row in parked(connection, "ledger")] == ["two"]


class Choosy:
    """An extractor that fails on "mud" and keeps every other turn in its words."""

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


def test_a_turn_that_fails_the_extractor_is_recorded_as_failed_and_the_others_continue(
    connection: Connection,
) -> None:
    EXTRACTOR.open(connection)
    extractor = Choosy()
    worker = ExtractorWorker(settings_of(connection), extractor, lambda: False)
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
    assert ("ExtractionFailed", "TurnRecorded schema version 9 is newer than this build's 2") in cleos
    assert ("EventNoted", "five") in cleos
    failed = connection.execute(
        "SELECT data->'turn_ids'->>0, (data->'turn_positions'->>0)::bigint FROM log.events "
        "WHERE type = 'ExtractionFailed' ORDER BY user_id"
    ).fetchall()
    assert failed == [("mud", 2), ("t9", 1)]
    assert ["(one)", "(mud)", "three"] in extractor.bursts


def test_an_extractor_that_is_away_fails_no_turn(connection: Connection) -> None:
    EXTRACTOR.open(connection)
    extractor = Choosy()
    extractor.away = True
    worker = ExtractorWorker(settings_of(connection), extractor, lambda: False)
    log.append(connection, [turn("alex", "one")])
    with pytest.raises(ExtractorUnavailableError):
        worker.step(connection)
    assert kinds(connection, "alex") == []
    extractor.away = False
    while worker.step(connection):
        pass
    assert kinds(connection, "alex") == [("TurnsExtracted", "1"), ("EventNoted", "one")]


def test_retry_folds_in_order_as_far_as_it_goes(connection: Connection) -> None:
    ledger = Ledger("two", "four")
    ensure_live(connection, ledger)
    log.append(connection, [noted("alex", word) for word in ("one", "two", "three", "four", "five")])
    drain(runner_of(connection, ledger), connection)
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
    drain(runner_of(connection, ledger), connection)
    assert entries(connection, "alex") == ["one", "two", "three", "four", "five", "six"]
    assert parked(connection, "ledger") == []


def test_a_long_queue_is_retried_whole(connection: Connection) -> None:
    ledger = Ledger("0")
    ensure_live(connection, ledger)
    log.append(connection, [noted("alex", str(n)) for n in range(1200)])
    drain(runner_of(connection, ledger), connection)
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


def test_drop_skips_the_first_keeps_a_record_and_folds_the_rest(connection: Connection) -> None:
    ledger = Ledger("two", "four")
    ensure_live(connection, ledger)
    log.append(connection, [noted("alex", word) for word in ("one", "two", "three", "four", "five")])
    drain(runner_of(connection, ledger), connection)
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
    # The decision outlives the generation: later generations skip the event too.
    connection.execute("TRUNCATE ledger.entries")
    connection.execute("UPDATE log.checkpoints SET position = 0 WHERE processor = 'ledger'")
    drain(runner_of(connection, ledger), connection)
    assert entries(connection, "alex") == ["one", "three"]
    assert parked(connection, "ledger") == []


def test_parked_events_belong_to_the_generation_that_passed_them(connection: Connection) -> None:
    ledger = Ledger("two")
    ensure_live(connection, ledger)
    log.append(connection, [noted("alex", "one"), noted("alex", "two")])
    drain(runner_of(connection, ledger), connection)
    assert len(parking.queues(connection)) == 1
    # Another generation is live now. The parked events of the retired generation stay recorded and concern no reader.
    connection.execute("UPDATE log.generations SET status = 'retired' WHERE projection = 'ledger'")
    connection.execute(
        "INSERT INTO log.generations (projection, generation, status) VALUES ('ledger', 2, 'live')"
    )
    Generation("ledger", 2).processor.open(connection)
    assert parking.queues(connection) == []
    assert len(parked(connection, "ledger")) == 1
    connection.execute("DELETE FROM log.checkpoints WHERE processor = 'ledger' AND generation = 1")
    assert parked(connection, "ledger") == []


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


def test_the_command_lists_retries_and_drops(
    database: str,
    connection: Connection,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("CARDLOG_DATABASE_URL", database)
    monkeypatch.setenv("CARDLOG_REDIS_URL", "redis://127.0.0.1:1")
    command = partial(typed_here, capsys, "parked")
    projector = CardsProjector()
    ensure_live(connection, projector)
    connection.execute("ALTER TABLE cards.cards ADD CONSTRAINT no_mud CHECK (content NOT LIKE '%%mud%%')")
    log.append(connection, [noted("alex", "saw mud"), noted("alex", "went home"), noted("bea", "went out")])
    append_raw(connection, "cleo", kind="NeverHeardOf")
    runner = runner_of(database, projector)
    drain(runner, connection)

    listed = json.loads(command("list", "--json").stdout)
    assert [(each["processor"], each["user_id"], each["behind"], each["attempts"]) for each in listed] == [
        ("cards", "alex", 1, 1), ("cards", "cleo", 0, 1)
    ]  # fmt: skip
    assert "no_mud" in listed[0]["reason"]
    assert "NeverHeardOf" in listed[1]["reason"]
    assert "3 events of 2 users wait" in command("list").stdout
    [shown] = json.loads(command("show", "--user", "alex", "--json").stdout)
    assert [event["type"] for event in shown["events"]] == ["EventNoted", "EventNoted"]

    failed = command("retry")
    assert failed.returncode == 1
    assert "alex still waits" in failed.stderr
    connection.execute("ALTER TABLE cards.cards DROP CONSTRAINT no_mud")
    assert command("retry", "--user", "alex").returncode == 0
    assert command("drop").returncode == 2
    asked = command("drop", "--all")
    assert (asked.returncode, "add --yes" in asked.stdout) == (0, True)
    dropped = command("drop", "--all", "--yes", "--because", "a test", "--json")
    assert json.loads(dropped.stdout) == [
        {
            "processor": "cards",
            "tenant": "default",
            "user_id": "cleo",
            "folded": 0,
            "dropped": 1,
            "reason": None,
        }
    ]
    assert json.loads(command("list", "--json").stdout) == []
    cards = connection.execute("SELECT user_id, content FROM cards.cards ORDER BY content").fetchall()
    assert cards == [("alex", "saw mud"), ("alex", "went home"), ("bea", "went out")]
