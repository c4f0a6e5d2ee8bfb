"""The runs of the curator at the end of the log. A read right after a write sees it, because it needs no table."""

from __future__ import annotations

from collections.abc import Sequence

from events.platform.database import Connection
from events.platform.sql import statement
from events.store import asking, log
from events.types.curation import STREAM
from events.types.envelope import Event

_MOST = 10_000
"""The most events of runs that are read of one user, the last first."""


def runs(owner: str) -> asking.Asking[list[Event]]:
    """Asks for the events of a user's runs, the last first."""
    return [log.event_if_readable(row) for row in (yield asking.latest(owner, STREAM, limit=_MOST))]


def acts(owner: str, keys: Sequence[str]) -> asking.Asking[list[Event]]:
    """Asks for the events that have some idempotency keys, in order."""
    if not keys:
        return []
    values = {**asking.of_user(owner), "keys": list(keys)}
    rows = yield asking.Query(statement("events.curator", "acts"), values)
    return [log.event_if_readable(row) for row in rows]


def runs_of(connection: Connection, owner: str) -> list[Event]:
    """Returns the events of a user's runs, the last first."""
    return asking.answered(connection, runs(owner))


def acts_of(connection: Connection, owner: str, keys: Sequence[str]) -> list[Event]:
    """Returns the events that have some idempotency keys, in order."""
    return asking.answered(connection, acts(owner, keys))


def lock(connection: Connection, owner: str) -> None:
    """Lets runs and undoings of one user work one after the other, until the caller's transaction ends."""
    asking.lock(connection, owner, STREAM)
