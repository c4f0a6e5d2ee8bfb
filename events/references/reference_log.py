"""References as the log has them. A read right after a write sees it, because it needs no table."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import groupby

from events.platform.database import Connection, rows_of, statement
from events.references.reference import TYPES, Reference, fold
from events.store import asking, log
from events.types.envelope import Event, partition_of
from events.types.references import ReferenceChanged, ReferenceCreated
from events.types.tombstones import Erased

_PACKAGE = "events.references"
_VALUED = (ReferenceCreated.__name__, ReferenceChanged.__name__)
THEN = statement(_PACKAGE, "references_then")
STATE = statement(_PACKAGE, "stream_state")
"""The events that make the state of a stream: its first one, the last change of the value, and all after it."""


def current(connection: Connection, owner: str, stream: str, version: int | None = None) -> Reference | None:
    """Returns the reference at the end of ``stream``, or at ``version``. None: there is none.

    The cost does not depend on the length of the history.
    """
    return state_of(rows_of(connection, STATE, state_parameters(owner, stream, version)))


def version_of(connection: Connection, owner: str, stream: str) -> int:
    """Returns the version of a stream; 0 for one without events."""
    row = connection.execute(
        statement(_PACKAGE, "stream_version"),
        {**asking.of_user(owner), "stream": stream},
    ).fetchone()
    return 0 if row is None else int(row[0])


def state_parameters(
    owner: str, stream: str, version: int | None = None, as_of: datetime | None = None
) -> dict[str, object]:
    """Returns the parameters of :data:`STATE`, for a version or for an instant."""
    return {
        **asking.of_user(owner),
        "stream": stream,
        "version": version,
        "as_of": as_of,
        "creating": ReferenceCreated.__name__,
        "changing": ReferenceChanged.__name__,
    }


def state_of(rows: Sequence[dict[str, object]]) -> Reference | None:
    """Returns the reference of the rows of :data:`STATE`. None for a value that was erased."""
    events = [log.event_of(row) for row in rows]
    if any(isinstance(event.payload, Erased) and event.type in _VALUED for event in events[1:]):
        return None
    return fold(events)


def lock(connection: Connection, owner: str, stream: str) -> None:
    """Lets writers of one stream work one after the other, until the transaction of the caller ends."""
    connection.execute(statement(_PACKAGE, "lock_stream"), {"user_id": owner, "stream": stream})


def share_owner(connection: Connection, owner: str) -> None:
    """Lets no erasure of an owner begin until the transaction of the caller ends. :func:`lock` does the same."""
    connection.execute(statement(_PACKAGE, "share_owner"), {"user_id": owner})


def lock_owner(connection: Connection, owner: str) -> None:
    """Stops the writers of an owner's references and document, until the transaction of the caller ends."""
    connection.execute(statement(_PACKAGE, "lock_owner"), {"user_id": owner})


def streams_between(connection: Connection, owner: str, prefix: str) -> list[str]:
    """Returns the names behind ``prefix/`` of the streams of an owner, in order, at most 1,000."""
    rows = connection.execute(statement(_PACKAGE, "streams_of"), _under(owner, prefix)).fetchall()
    return [stream for (stream,) in rows]


def last_events(connection: Connection, owner: str, prefix: str) -> list[Event]:
    """Returns the last event of each stream of an owner under ``prefix/``, in the order of the streams."""
    rows = rows_of(connection, statement(_PACKAGE, "last_of_streams"), _under(owner, prefix))
    return [log.event_of(row) for row in rows]


def _under(owner: str, prefix: str) -> dict[str, object]:
    """Returns the parameters of a query for the streams of an owner under ``prefix/``."""
    return {**asking.of_user(owner), **names_under(prefix)}


def names_under(prefix: str) -> dict[str, str]:
    """Returns the range of the names that begin with ``prefix/``: from the first, and before the last."""
    return {"first": f"{prefix}/", "last": f"{prefix}0"}


def parameters_of(
    owners: Sequence[str], as_of: datetime | None, known_at: datetime | None
) -> dict[str, object]:
    """Returns the parameters of :data:`THEN`: what held at ``as_of``, by what was recorded at ``known_at``."""
    return {
        "owners": list(owners),
        "partitions": [partition_of(owner) for owner in owners],
        "types": sorted(TYPES),
        **names_under("reference"),
        "as_of": as_of,
        "known_at": known_at,
    }


def references_in(rows: Iterable[dict[str, object]]) -> list[tuple[Reference, Event]]:
    """Returns each reference of the rows of :data:`THEN` that had not moved, with the event that gave its value."""
    events = map(log.event_if_readable, rows)
    found = []
    for _, group in groupby(events, key=lambda event: (event.user_id, event.stream)):
        told = list(group)
        last = [each for each in told if isinstance(each.payload, ReferenceCreated | ReferenceChanged)]
        reference = fold(told)
        if reference is not None and reference.moved_to is None and last:
            found.append((reference, last[-1]))
    return found
