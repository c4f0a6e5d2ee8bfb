"""The context of a session batch: the earlier turns of its session, and the modes that its turns may belong to."""

from collections.abc import Mapping, Sequence

from events.modes.mode_log import registries_of
from events.modes.registry import NOTHING, Modes
from events.platform.database import Connection, rows_of, statement
from events.store import log
from events.types.envelope import Event, partition_of
from events.types.extraction import TurnsExtracted
from events.types.turns import TurnRecorded
from ingest.extraction.extraction_events import extraction_stream
from ingest.extraction.extractor_port import RecordedTurn
from ingest.extraction.turn_modes import NO_MODES, RECENT, ModeContext, mode_context

CONTEXT_TURNS = 20
"""Number of earlier turns of the session that an extractor sees."""

Session = tuple[str, str]  # user, stream


def recorded(event: Event) -> RecordedTurn:
    assert isinstance(event.payload, TurnRecorded)
    return RecordedTurn(event.user_id, event.position, event.payload)


def preceding(connection: Connection, firsts: Sequence[Event]) -> list[tuple[RecordedTurn, ...]]:
    """Returns up to :data:`CONTEXT_TURNS` turns of the session before each event of ``firsts``, oldest first."""
    found: list[list[RecordedTurn]] = [[] for _ in firsts]
    asked = [place for place, event in enumerate(firsts) if event.version > 1]
    if asked:
        rows = rows_of(
            connection,
            statement("ingest.extraction", "preceding_turns"),
            {
                "partitions": [firsts[place].partition for place in asked],
                "users": [firsts[place].user_id for place in asked],
                "streams": [firsts[place].stream for place in asked],
                "versions": [firsts[place].version for place in asked],
                "limit": CONTEXT_TURNS,
            },
        )
        for row in rows:
            place = asked[row.pop("ordinal") - 1]
            event = log.event_if_readable(row)
            if isinstance(event.payload, TurnRecorded):
                found[place].append(recorded(event))
    return [tuple(turns) for turns in found]


def mode_contexts(
    connection: Connection, firsts: Sequence[Event], everybody: Mapping[str, str]
) -> list[ModeContext]:
    """Returns the modes for the batches that begin with the turns ``firsts``, in their order.

    ``everybody`` are the modes of the installation. The recent modes are read only for users who have modes.
    """
    registries = registries_of(connection, {event.user_id for event in firsts})
    found = []
    for event in firsts:
        modes = Modes(registries.get(event.user_id, NOTHING), everybody)
        turn = event.payload
        if not modes or not isinstance(turn, TurnRecorded):
            found.append(NO_MODES)
            continue
        recent = _recent(connection, event) if event.version > 1 else []
        meant = [None if name is None else modes.meaning(turn.project_id, name) for name in recent]
        found.append(mode_context(modes, turn.project_id, meant))
    return found


def _recent(connection: Connection, first: Event) -> list[str | None]:
    """Returns the modes of the session's turns before ``first``, oldest first. None: nothing told a mode."""
    rows = rows_of(
        connection,
        statement("ingest.extraction", "recent_extractions"),
        {
            "partition": partition_of(first.user_id),
            "user_id": first.user_id,
            "stream": extraction_stream(first.stream),
            "limit": RECENT,
        },
    )
    recent: list[str | None] = []
    for row in rows:
        payload = log.event_if_readable(row).payload
        if isinstance(payload, TurnsExtracted) and min(payload.turn_positions, default=0) < first.position:
            recent[:0] = payload.modes
    return recent[-RECENT:]
