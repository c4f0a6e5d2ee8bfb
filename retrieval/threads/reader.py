"""Reads the threads of a user from the log, so a write is seen at once."""

from __future__ import annotations

from uuid import UUID

from events.threads.thread import Thread, in_order
from events.threads.thread_log import threads
from retrieval.pool.connections import Pool, answered


class ThreadReader:
    """Reads threads of one user at a time. ``pool`` must be of the primary. Methods raise psycopg.Error."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def present(self, owner: str) -> list[Thread]:
        """Returns the threads of a user: open ones first, then the last changed."""
        return in_order((await answered(self._pool, owner, threads(owner))).values())

    async def thread(self, owner: str, thread_id: UUID) -> Thread | None:
        """Returns a thread, or None."""
        return (await answered(self._pool, owner, threads(owner))).get(thread_id)
