"""The threads of a user as the log has them. A read right after a write sees it, because it needs no table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from events.platform.database import Connection
from events.platform.sql import statement
from events.store import log
from events.store.rows import rows_of
from events.threads.thread import Thread, fold
from events.types.envelope import partition_of
from events.types.threads import STREAM

_PACKAGE = "events.threads"
ENTRIES = statement(_PACKAGE, "entries")
"""The events of a user's threads, in order."""


def parameters(owner: str) -> dict[str, object]:
    """Returns the parameters of :data:`ENTRIES`."""
    return {"partition": partition_of(owner), "user_id": owner, "stream": STREAM}


def threads_in(rows: Iterable[dict[str, Any]]) -> dict[UUID, Thread]:
    """Returns the threads of rows of :data:`ENTRIES`, by id. An event that cannot be read counts as none."""
    return fold(map(log.event_if_readable, rows))


def threads_of(connection: Connection, owner: str) -> dict[UUID, Thread]:
    """Returns the threads of a user at the end of the log, by id."""
    return threads_in(rows_of(connection, ENTRIES, parameters(owner)))


def lock(connection: Connection, owner: str) -> None:
    """Lets commands about one user's threads work one after the other, until the caller's transaction ends."""
    connection.execute(statement(_PACKAGE, "lock_threads"), {"user_id": owner, "stream": STREAM})
