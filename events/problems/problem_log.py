"""The problems of a user as the log has them. A read right after a write sees it, whatever the projector's lag is."""

from uuid import UUID

import psycopg

from events.platform.database import Connection, statement
from events.problems.problem import TYPES
from events.store import asking, log
from events.store.asking import Asking, Query
from events.types.envelope import Event

_PACKAGE = "events.problems"


def query(name: str, owner: str, *, folded: bool = True) -> Query:
    """Returns a query of this room about a user's problems."""
    return Query(statement(_PACKAGE, name), {**asking.of_user(owner), "types": sorted(TYPES)}, folded)


def telling(owner: str) -> Asking[list[Event]]:
    """Asks for the events of the problems of a user, in order, without those that this build cannot read."""
    try:
        rows = yield query("entries_of", owner)
    except psycopg.errors.UndefinedTable:
        rows = yield query("unfolded_entries", owner, folded=False)
    return [event for event in map(log.event_if_readable, rows) if event.type in TYPES]


def entries(connection: Connection, owner: str) -> list[Event]:
    """Returns the events of the problems of a user, in order."""
    return asking.answered(connection, telling(owner))


def note_of(connection: Connection, event: Event) -> UUID | None:
    """Returns the id of the event that tells in words what an event of a problem did, or None: a turn told it."""
    values = {**asking.of_user(event.user_id), "stream": event.stream, "event_id": event.event_id}
    row = connection.execute(statement(_PACKAGE, "note_of"), values).fetchone()
    return None if row is None else row[0]
