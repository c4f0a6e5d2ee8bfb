"""The problems of a user as the log has them. A read right after a write sees it, whatever the projector's lag is."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

import psycopg
from psycopg.rows import dict_row

from events.platform.database import Connection
from events.platform.sql import statement
from events.problems.problem import TYPES
from events.store import log
from events.types.envelope import Event, partition_of

_PACKAGE = "events.problems"
PROBLEMS = statement(_PACKAGE, "problems_of")
"""The rows of a user's problems, and whether the log knows more."""
ENTRIES = statement(_PACKAGE, "entries_of")
"""The events of a user's problems."""
UNFOLDED = statement(_PACKAGE, "unfolded_entries")
"""The same from the log alone, with withdrawn events and their withdrawals."""


def parameters(owner: str) -> dict[str, object]:
    """Returns the parameters of the statements of this module."""
    return {"partition": partition_of(owner), "user_id": owner, "types": sorted(TYPES)}


def events_in(rows: Iterable[dict[str, object]]) -> list[Event]:
    """Returns the events of rows, without those that this build cannot read."""
    return [event for event in map(log.event_if_readable, rows) if event.type in TYPES]


def entries(connection: Connection, owner: str) -> list[Event]:
    """Returns the events of the problems of a user, in order."""
    with connection.cursor(row_factory=dict_row) as cursor:
        try:
            with connection.transaction():
                rows = cursor.execute(ENTRIES, parameters(owner)).fetchall()
        except psycopg.errors.UndefinedTable:
            rows = cursor.execute(UNFOLDED, parameters(owner)).fetchall()
    return events_in(rows)


def note_of(connection: Connection, event: Event) -> UUID | None:
    """Returns the id of the event that tells in words what an event of a problem did, or None: a turn told it."""
    values = parameters(event.user_id) | {"stream": event.stream, "event_id": event.event_id}
    row = connection.execute(statement(_PACKAGE, "note_of"), values).fetchone()
    return None if row is None else row[0]


def lock(connection: Connection, owner: str) -> None:
    """Lets commands about one user's problems work one after the other, until the caller's transaction ends."""
    connection.execute(statement(_PACKAGE, "lock_problems"), {"user_id": owner})
