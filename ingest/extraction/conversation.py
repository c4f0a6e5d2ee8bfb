"""The context of a session batch: the earlier turns of its session."""

from collections.abc import Sequence

from events.platform.database import Connection, rows_of, statement
from events.store import log
from events.types.envelope import Event
from events.types.turns import TurnRecorded
from ingest.extraction.extractor_port import RecordedTurn

CONTEXT_TURNS = 6
"""Number of earlier turns of the session that an extractor sees."""

Session = tuple[str, str]  # user, stream


def recorded(event: Event) -> RecordedTurn:
    """Returns the turn of a ``TurnRecorded`` event."""
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
