"""What was said before in a session: the context turns are read in."""

from __future__ import annotations

from collections.abc import Sequence

from events.platform.sql import statement
from events.store import log
from events.store.checkpoints import Connection
from events.store.rows import rows_of
from events.types.envelope import Event
from events.types.turns import TurnRecorded
from ingest.extraction.extractor_port import RecordedTurn

CONTEXT_TURNS = 6
"""Earlier turns of the session an extractor may look at."""

Session = tuple[str, str]  # user, stream


def recorded(event: Event) -> RecordedTurn:
    """The turn of a ``TurnRecorded``."""
    assert isinstance(event.payload, TurnRecorded)
    return RecordedTurn(event.user_id, event.position, event.payload)


def preceding(connection: Connection, firsts: Sequence[Event]) -> list[tuple[RecordedTurn, ...]]:
    """Up to :data:`CONTEXT_TURNS` turns of its session before each of ``firsts``, oldest first."""
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
