"""Parked events are retried in order, or dropped with a record."""

import json
from functools import partial

import psycopg
import pytest

from events.platform.database import Connection, connect
from events.store import log
from projectors import parking
from projectors.cards.projector import CardsProjector
from projectors.generations.generations import Generation, ensure_live
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


def test_drop_skips_the_first_keeps_a_record_and_folds_the_rest(
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
    # The decision outlives the generation: later generations skip the event too.
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
    assert command("drop").returncode == 1
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
