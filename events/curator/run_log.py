"""The runs of the curator at the end of the log. A read right after a write sees it, because it needs no table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from events.platform.database import Connection
from events.platform.sql import statement
from events.store import log
from events.store.rows import rows_of
from events.types.curation import STREAM
from events.types.envelope import Event, partition_of

_PACKAGE = "events.curator"
RUNS = statement(_PACKAGE, "runs")
ACTS = statement(_PACKAGE, "acts")
MOST = 10_000
"""The most events of runs that are read of one user, the last first."""


def run_parameters(owner: str, limit: int = MOST) -> dict[str, object]:
    """Returns the parameters of :data:`RUNS`."""
    return {"partition": partition_of(owner), "user_id": owner, "stream": STREAM, "limit": limit}


def act_parameters(owner: str, keys: Iterable[str]) -> dict[str, object]:
    """Returns the parameters of :data:`ACTS`."""
    return {"partition": partition_of(owner), "user_id": owner, "keys": list(keys)}


def runs_of(connection: Connection, owner: str) -> list[Event]:
    """Returns the events of a user's runs, the last first."""
    return [log.event_if_readable(row) for row in rows_of(connection, RUNS, run_parameters(owner))]


def acts_of(connection: Connection, owner: str, keys: Sequence[str]) -> list[Event]:
    """Returns the events that have some idempotency keys, in order."""
    if not keys:
        return []
    return [log.event_if_readable(row) for row in rows_of(connection, ACTS, act_parameters(owner, keys))]


def lock(connection: Connection, owner: str) -> None:
    """Lets runs and undoings of one user work one after the other, until the caller's transaction ends."""
    connection.execute(statement(_PACKAGE, "lock_curator"), {"user_id": owner})
