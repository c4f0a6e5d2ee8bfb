"""Appends the events of extractions, unless their turns were erased meanwhile."""

from collections.abc import Sequence

from events.platform.database import Connection, rows_of, statement
from events.store import log
from events.store.log import event_if_readable
from events.types.cards import EventNoted
from events.types.envelope import Appended, Event, NewEvent, partition_of
from events.types.extraction import TurnsExtracted
from events.types.tombstones import STREAM, Erased, SubjectErased
from events.types.turns import TurnRecorded
from ingest.extraction.extraction_events import words_before

_ERASED = "the turns were erased while they were extracted"
_TURNS_READ = 1_000


class TurnsErasedError(ValueError):
    """The turns of an extraction were erased while they were extracted."""


def append(connection: Connection, events: Sequence[NewEvent]) -> list[Appended]:
    """Appends ``events`` in the transaction of the caller, as :func:`events.store.log.append` does.

    Raises :class:`TurnsErasedError` when a turn of an extraction was erased. The caller's transaction must then end.
    The append locks the partition, and an erasure appends to it. One of the two therefore sees the other.
    """
    appended = log.append(connection, events)
    extracted: dict[str, set[int]] = {}
    for event in events:
        if isinstance(event.payload, TurnsExtracted):
            extracted.setdefault(event.user_id, set()).update(event.payload.turn_positions)
    if extracted:
        _check(connection, events, extracted)
    return appended


def turns_at(connection: Connection, partition: int, positions: Sequence[int]) -> list[Event]:
    """Returns the turns at ``positions`` in their order. An erased one has the payload :class:`Erased`."""
    rows = rows_of(
        connection,
        statement("ingest.extraction", "turns_at"),
        {"partition": partition, "positions": list(positions)},
    )
    return list(map(event_if_readable, rows))


def remaining(connection: Connection, turns: Sequence[Event]) -> list[Event]:
    """Returns those of ``turns`` (of one partition) that the log still holds, as it holds them now."""
    found = turns_at(connection, turns[0].partition, [turn.position for turn in turns])
    return [turn for turn in found if not isinstance(turn.payload, Erased)]


def _check(connection: Connection, events: Sequence[NewEvent], extracted: dict[str, set[int]]) -> None:
    rows = rows_of(
        connection,
        statement("ingest.extraction", "erasures_since"),
        {
            "users": list(extracted),
            "partitions": [partition_of(user) for user in extracted],
            "positions": [min(positions, default=0) for positions in extracted.values()],
            "stream": STREAM,
        },
    )
    for tombstone in map(event_if_readable, rows):
        payload, positions = tombstone.payload, extracted[tombstone.user_id]
        # A tombstone becomes unreadable when a later erasure removes the whole user.
        whole = not isinstance(payload, SubjectErased) or payload.positions is None
        if whole and min(positions) < tombstone.position:
            raise TurnsErasedError(_ERASED)
        if not whole and positions.intersection(payload.positions):
            raise TurnsErasedError(_ERASED)
    for user in {row["user_id"] for row in rows}:
        _check_words_before(connection, [event for event in events if event.user_id == user])


def _check_words_before(connection: Connection, events: Sequence[NewEvent]) -> None:
    """Raises :class:`TurnsErasedError` when an episode repeats the words of a turn that is not in the log any more."""
    for event in events:
        if not isinstance(event.payload, EventNoted) or not event.payload.before:
            continue
        rows = rows_of(
            connection,
            statement("ingest.extraction", "latest_turns_of_session"),
            {
                "partition": partition_of(event.user_id),
                "user_id": event.user_id,
                "stream": f"session/{event.stream.removeprefix('extraction/')}",
                "limit": _TURNS_READ,
            },
        )
        there = {
            words_before(turn.payload)
            for turn in map(event_if_readable, rows)
            if isinstance(turn.payload, TurnRecorded)
        }
        if not there.issuperset(said.text for said in event.payload.before):
            raise TurnsErasedError(_ERASED)
