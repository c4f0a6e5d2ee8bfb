"""Verification names the first bad position, at every place and for every size of slice."""

from datetime import UTC, datetime

import pytest

from events.platform.database import Connection
from events.store import log
from events.store.verification import verify
from events.types.envelope import partition_of
from tests.support.events.turns import turn

NOW = datetime(2026, 5, 8, 16, 44, 10, tzinfo=UTC)
USER, PARTITION, EVENTS = "alex", partition_of("alex"), 10


@pytest.fixture
def tampered(connection: Connection) -> Connection:
    """A log of ten events of one user and some of another. A superuser may change it."""
    log.append(connection, [turn(USER, f"turn {n}") for n in range(1, EVENTS + 1)])
    log.append(connection, [turn("bea", f"turn {n}") for n in range(3)])
    connection.execute("SET session_replication_role = replica")
    return connection


SLICES = [1, 3, 5, 10, 10_000]


def only_fault(connection: Connection) -> str:
    """Returns the only fault, which is the same for every size of slice."""
    found = {verify(connection, slice_events=size).faults for size in SLICES}
    [[fault]] = found
    return fault


BYTES = (
    "UPDATE log.events SET data = overlay(data::text PLACING 'T' FROM position('turn' IN data::text))::json"
)
HOW = {
    "a changed user": f"UPDATE log.events SET user_id = user_id || 'x' WHERE partition = {PARTITION} AND position = %s",
    "a changed time": "UPDATE log.events SET recorded_at = recorded_at + interval '1 us' "
    f"WHERE partition = {PARTITION} AND position = %s",
    "one flipped byte": f"{BYTES} WHERE partition = {PARTITION} AND position = %s",
    "one deleted event": f"DELETE FROM log.events WHERE partition = {PARTITION} AND position = %s",
    "a flipped digest": "UPDATE log.events SET digest = set_bit(digest, 7, 1 - get_bit(digest, 7)) "
    f"WHERE partition = {PARTITION} AND position = %s",
}


@pytest.mark.parametrize(
    ("how", "position"),
    [
        *((how, 4) for how in HOW),
        *((how, place) for how in ("one flipped byte", "one deleted event") for place in (1, 3, EVENTS)),
    ],
)
def test_one_bad_event_is_named_and_no_other(tampered: Connection, how: str, position: int) -> None:
    assert tampered.execute(HOW[how].encode(), (position,)).rowcount == 1
    fault = only_fault(tampered)
    what = "is missing" if "deleted" in how else "was changed"
    assert fault.startswith(f"partition {PARTITION}, position {position}: {what}")


@pytest.mark.parametrize(("first", "second"), [(1, 2), (3, 4), (2, 9), (9, 10)])
def test_of_a_swapped_pair_the_first_is_named(tampered: Connection, first: int, second: int) -> None:
    # Positions are a key, so the swap uses a free position in between.
    for old, new in ((first, 1000), (second, first), (1000, second)):
        tampered.execute(
            "UPDATE log.events SET position = %s WHERE partition = %s AND position = %s",
            (new, PARTITION, old),
        )
    fault = only_fault(tampered)
    assert fault.startswith(
        f"partition {PARTITION}, position {first}: was changed, or stands in another's place"
    )


HEADS = {
    "sha256('x')": ("digest = sha256('x')", 10, "its digest is not the head's"),
    "too far": ("position = 12", 11, "is missing, the head says 12"),
    "too low": (
        "position = 8, digest = (SELECT digest FROM log.events WHERE partition = %(p)s AND position = 8)",
        9, "stands behind the head",
    ),
    "set back to nothing": ("position = 0, digest = sha256('')", 1, "stands behind the head"),
}  # fmt: skip


@pytest.mark.parametrize("how", HEADS)
def test_a_changed_head_is_found(tampered: Connection, how: str) -> None:
    change, position, reason = HEADS[how]
    tampered.execute(f"UPDATE log.heads SET {change} WHERE partition = %(p)s".encode(), {"p": PARTITION})
    fault = only_fault(tampered)
    assert fault == f"partition {PARTITION}, position {position}: {reason}"


def test_a_rewritten_end_with_digests_that_follow_is_still_not_the_head(tampered: Connection) -> None:
    """A change of the last event with a recomputed digest is found, because the head differs."""
    tampered.execute(BYTES.encode() + b" WHERE partition = %s AND position = 10", (PARTITION,))
    tampered.execute(
        """UPDATE log.events e SET digest = log.chain_step(before.digest, log.canonical(
               e.partition, e.position, e.event_id, e.user_id, e.stream, e.version, e.type, e.schema_version,
               e.dedupe_key, e.occurred_at, e.recorded_at, e.actor, e.causation_id, e.correlation_id, e.data), NULL)
           FROM log.events before
           WHERE e.partition = %(p)s AND e.position = 10 AND before.partition = %(p)s AND before.position = 9""",
        {"p": PARTITION},
    )
    fault = only_fault(tampered)
    assert fault == f"partition {PARTITION}, position 10: its digest is not the head's"


def test_a_sound_log_is_sound_and_progress_counts_up_to_it(tampered: Connection) -> None:
    for size in SLICES:
        told: list[int] = []
        found = verify(tampered, told.append, slice_events=size)
        assert found.faults == ()
        assert found.events == told[-1] == EVENTS + 3
        assert told == sorted(told)
        assert max(b - a for a, b in zip([0, *told], told, strict=False)) <= size
