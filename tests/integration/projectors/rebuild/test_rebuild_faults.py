"""A rebuild that fails or is killed leaves the live generation as it is."""

import os
import signal
import subprocess
import sys

import pytest

from events.platform.database import Connection, connect
from events.platform.settings import variable_of
from projectors.cards.projector import CardsProjector
from projectors.generations.digest import digest_of
from projectors.generations.generations import Generation, ensure_live, hold_live
from projectors.rebuild.fail_fast_fold import FoldFailedError
from projectors.rebuild.swap import swap
from tests.bench.support.history import fill
from tests.support.projectors.folding import (
    count,
    fold_live,
    rebuild,
    some_events,
    statuses,
    tamper,
)
from tests.support.waiting import eventually

POISON = {
    "is an unknown type": "type = 'NoSuchThing'",
    "schema version 99 is not known": "schema_version = 99",
    "is missing": """data = '{"content":"x"}'""",
    "CheckViolation": """data = replace(data::text, '"user_stated"', '"somebody"')::json""",
}


@pytest.mark.parametrize(
    ("why", "workers"), [*((each, 1) for each in POISON), ("schema version 99 is not known", 2)]
)
def test_an_event_that_cannot_be_folded_ends_the_rebuild_and_is_named(
    connection: Connection, why: str, workers: int
) -> None:
    partition, event_id = some_events(connection)
    fold_live(connection)
    before = digest_of(connection, CardsProjector(), "cards")
    tamper(
        connection,
        f"UPDATE log.events SET {POISON[why]} WHERE partition = {partition} AND position = 2",
    )
    with pytest.raises(RuntimeError) as caught:
        rebuild(connection, workers=workers)
    message = str(caught.value)
    kind = "NoSuchThing" if "type" in why else "EventNoted"
    assert f"event {event_id} ({kind}, partition {partition}, position 2)" in message
    if why != "CheckViolation":
        assert why in message
    assert statuses(connection) == {1: "live"}
    assert digest_of(connection, CardsProjector(), "cards") == before


def test_a_hole_in_the_log_ends_the_rebuild_and_is_named(connection: Connection) -> None:
    partition, _ = some_events(connection)
    fold_live(connection)
    tamper(connection, f"DELETE FROM log.events WHERE partition = {partition} AND position = 2")
    with pytest.raises(FoldFailedError, match=f"partition {partition} has no position 2"):
        rebuild(connection)
    assert statuses(connection) == {1: "live"}


@pytest.mark.parametrize("why", ["is an unknown type", "CheckViolation"])
def test_what_was_dropped_by_decision_is_left_out_of_rebuilds(connection: Connection, why: str) -> None:
    partition, event_id = some_events(connection)
    ensure_live(connection, CardsProjector())
    tamper(
        connection,
        f"UPDATE log.events SET {POISON[why]} WHERE partition = {partition} AND position = 2",
    )
    connection.execute(
        "INSERT INTO log.dropped (processor, partition, user_id, position, event_id, because, attempts, parked_at)"
        " VALUES ('cards', %s, 'alex', 2, %s, 'test', 1, now())",
        [partition, event_id],
    )
    rebuild(connection)
    kept = [("one",), ("other",), ("three",)]
    assert connection.execute("SELECT content FROM cards.cards ORDER BY content").fetchall() == kept
    # The first generation is still empty, so the swap folds every event as it folds those that come during a rebuild.
    swap(connection, CardsProjector(), Generation("cards", 1))
    assert connection.execute("SELECT content FROM cards.cards ORDER BY content").fetchall() == kept


def start(database: str, *arguments: str) -> subprocess.Popen[str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("CARDLOG_")}
    return subprocess.Popen(
        [sys.executable, "-m", "deploy.command", "rebuild", *arguments],
        env={**kept, variable_of("database_url"): database},
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def partitions_done(connection: Connection) -> int:
    return count(connection, "log.checkpoints WHERE processor = 'cards' AND generation = 2 AND position > 0")


@pytest.mark.parametrize(
    ("stage", "number"),
    [
        ("folding", signal.SIGTERM),
        ("folding", signal.SIGKILL),
        ("indexing", signal.SIGKILL),
        ("swapping", signal.SIGKILL),
    ],
)
def test_a_rebuild_that_is_killed_leaves_the_live_generation_and_the_next_one_succeeds(
    database: str, connection: Connection, stage: str, number: signal.Signals
) -> None:
    # Only the folding must last until the test has its lock.
    fill(connection, 500 if stage == "folding" else 40, users=40, texts=300)
    fold_live(database)
    before = digest_of(connection, CardsProjector(), "cards")
    with connect(database, application="in the way") as other, other.transaction():
        if stage == "swapping":
            assert hold_live(other, "cards") is not None
        process = start(database, "cards", "--workers", "2" if stage == "folding" else "1")
        try:
            eventually(lambda: statuses(connection).get(2) == "building")
            if stage == "folding":
                eventually(lambda: partitions_done(connection))
                other.execute("LOCK TABLE cards_g2.cards IN SHARE MODE")
            elif stage == "indexing":
                # This lock allows writes of rows, and blocks the creation of an index.
                other.execute("LOCK TABLE cards_g2.words IN ROW EXCLUSIVE MODE")
            eventually(lambda: count(connection, "pg_locks WHERE NOT granted") > 0)
            process.send_signal(number)
            if stage == "folding":
                # Its workers end with it, and a rebuild that is told to stop drops its tables. Both wait for the lock.
                other.execute("ROLLBACK; BEGIN")
            _, errors = process.communicate(timeout=240)
        finally:
            process.kill()
            process.wait()
        if number == signal.SIGTERM:
            assert process.returncode == 130, errors
            assert "the live generation is unchanged" in errors
            assert statuses(connection) == {1: "live"}
        else:
            assert process.returncode == -signal.SIGKILL
            assert statuses(connection) == {1: "live", 2: "building"}
        assert digest_of(connection, CardsProjector(), "cards") == before
    assert rebuild(database, verify=True).equal
    assert statuses(connection) == {1: "retired", 2: "live"}
    assert digest_of(connection, CardsProjector(), "cards") == before
