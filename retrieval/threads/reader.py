"""Reads the threads of a user from the log, so a write is seen at once."""

from __future__ import annotations

from uuid import UUID

from psycopg.rows import dict_row

from events.threads.thread import Thread, in_order
from events.threads.thread_log import ENTRIES, parameters, threads_in
from retrieval.pool.connections import Pool, listing

_PATIENCE_S = 2.0


class ThreadReader:
    """Reads threads of one user at a time. ``pool`` must be of the primary. Methods raise psycopg.Error."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def present(self, owner: str) -> list[Thread]:
        """Returns the threads of a user: open ones first, then the last changed."""
        return in_order((await self._threads(owner)).values())

    async def thread(self, owner: str, thread_id: UUID) -> Thread | None:
        """Returns a thread, or None."""
        return (await self._threads(owner)).get(thread_id)

    async def _threads(self, owner: str) -> dict[UUID, Thread]:
        async with (
            listing(self._pool, owner, _PATIENCE_S) as connection,
            connection.cursor(row_factory=dict_row) as cursor,
        ):
            return threads_in(await (await cursor.execute(ENTRIES, parameters(owner))).fetchall())
