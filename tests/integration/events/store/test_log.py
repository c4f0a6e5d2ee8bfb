"""The log keeps its guarantees: contiguous positions, each event once, in order, unchangeable, verifiable."""

import threading
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest

from events.platform.database import Connection, connect
from events.store import log
from events.store.verification import verify
from events.types.envelope import NewEvent, partition_of
from events.types.turns import TurnRecorded
from tests.support.events import turns
from tests.support.events.turns import NOW, recorded


def turn(user: str, turn_id: str, text: str = "hello", **envelope: Any) -> NewEvent:
    said = recorded(text, turn_id=turn_id, session_id="default")
    return turns.turn(user, said, **{"dedupe_key": f"turn/{turn_id}"} | envelope)


def users_of_one_partition(count: int) -> list[str]:
    wanted = partition_of("seed")
    return [user for user in (f"user{n}" for n in range(10_000)) if partition_of(user) == wanted][:count]


def test_positions_count_from_one_without_a_hole_under_concurrent_writers(
    database: str, connection: Connection
) -> None:
    users = users_of_one_partition(4)

    def write(user: str) -> None:
        with connect(database, application="writer") as own:
            for batch in range(10):
                log.append(own, [turn(user, f"{batch}-{n}") for n in range(3)])

    threads = [threading.Thread(target=write, args=(user,)) for user in users]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    partition = partition_of(users[0])
    positions = [event.position for event in log.read(connection, partition)]
    assert positions == list(range(1, 121))
    assert log.heads(connection)[partition] == 120
    assert verify(connection).faults == ()


def test_a_dedupe_key_counts_once_per_user_and_says_where_the_first_one_is(connection: Connection) -> None:
    [first] = log.append(connection, [turn("alex", "t1")])
    again, other, twice = log.append(
        connection, [turn("alex", "t1", "changed"), turn("bea", "t1"), turn("bea", "t1")]
    )
    assert (again.duplicate, again.position) == (True, first.position)
    assert not other.duplicate
    assert twice == replace(other, duplicate=True)
    assert [event.payload.text for event in log.read(connection, partition_of("alex"))] == ["hello"]


def test_what_a_dropped_event_caused_is_dropped_with_it(connection: Connection) -> None:
    def understood() -> list[NewEvent]:
        leader = turn("alex", "extraction")
        return [leader, turn("alex", "card", dedupe_key=None, causation_id=leader.event_id)]

    log.append(connection, understood())
    appended = log.append(connection, understood())
    assert [place.duplicate for place in appended] == [True, True]
    assert len(log.read(connection, partition_of("alex"))) == 2


def test_an_expected_stream_version_that_does_not_hold_appends_nothing(connection: Connection) -> None:
    log.append(connection, [turn("alex", "1", expected_version=0)])
    with pytest.raises(log.AppendConflictError, match="at version 1, not at the expected 0"):
        log.append(connection, [turn("alex", "2"), turn("alex", "3", expected_version=0)])
    assert len(log.read(connection, partition_of("alex"))) == 1
    [appended] = log.append(connection, [turn("alex", "4", expected_version=1)])
    assert appended.version == 2


@pytest.mark.parametrize(
    "statement",
    ["UPDATE log.events SET actor = 'x'", "DELETE FROM log.events", "TRUNCATE log.events"],
)
def test_the_log_refuses_every_change(connection: Connection, statement: str) -> None:
    log.append(connection, [turn("alex", "1")])
    with pytest.raises(psycopg.errors.IntegrityConstraintViolation, match="append-only"):
        connection.execute(statement)


def test_payloads_come_back_as_they_went_in(connection: Connection) -> None:
    text = 'Ω≈ç√ "quoted" \\ back\u2028slash \u0001 控制字元 👩‍👩‍👧 \U0001f469'
    log.append(connection, [turn("alex", "1", text)])
    [event] = log.read(connection, partition_of("alex"))
    assert event.payload.text == text
    assert event.payload.said_at == NOW


def test_a_payload_into_which_no_query_could_look_is_refused_and_one_that_only_resembles_it_is_not(
    connection: Connection,
) -> None:
    for text in ("a\0b", "a\\\0"):
        with pytest.raises(log.EventRefusedError, match="TurnRecorded holds a NUL character"):
            log.append(connection, [turn("alex", "t1"), turn("alex", "t2", text)])
    log.append(connection, [turn("alex", "t3", "\\u0000")])
    found = connection.execute("SELECT data->>'text' FROM log.events").fetchall()
    assert found == [("\\u0000",)]


def test_recorded_at_never_goes_back_within_a_partition(connection: Connection) -> None:
    connection.execute("UPDATE log.heads SET recorded_at = now() + interval '1 hour'")
    [appended] = log.append(connection, [turn("alex", "1")])
    assert appended.recorded_at is not None
    assert appended.recorded_at > datetime.now(UTC)


def test_a_follower_is_woken_by_what_it_follows_and_by_what_names_nothing(
    database: str, connection: Connection
) -> None:
    with connect(database, application="follower") as own:
        follower = log.Follower(own, {"StateAsserted"})
        log.announce(connection, [turn("alex", "t1")])
        assert follower.wait(0.3) is False
        log.announce(connection)
        assert follower.wait(60) is True
    with connect(database, application="follower") as own:
        follower = log.Follower(own, {TurnRecorded.__name__})
        log.announce(connection, [turn("alex", "t1")])
        assert follower.wait(60) is True
        log.announce(connection, [turn("alex", "t1")])
        own.execute("SELECT 1")  # the owner works between two waits
        assert follower.wait(60) is True
        assert follower.wait(0) is False
