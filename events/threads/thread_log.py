"""The threads of a user as the log has them. A read right after a write sees it, because it needs no table."""

from __future__ import annotations

from uuid import UUID

from events.platform.database import Connection
from events.store import asking
from events.threads.thread import Thread, fold
from events.types.threads import STREAM


def threads(owner: str) -> asking.Asking[dict[UUID, Thread]]:
    """Asks for the threads of a user at the end of the log, by id. An event that cannot be read counts as none."""
    return fold((yield from asking.stream_of(owner, STREAM)))


def threads_of(connection: Connection, owner: str) -> dict[UUID, Thread]:
    """Returns the threads of a user at the end of the log, by id."""
    return asking.answered(connection, threads(owner))


def lock(connection: Connection, owner: str) -> None:
    """Lets commands about one user's threads work one after the other, until the caller's transaction ends."""
    asking.lock(connection, owner, STREAM)
