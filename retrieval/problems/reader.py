"""Reads the problems of a user from the live table and from the tail of the log."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

import psycopg
from psycopg.rows import dict_row

from events.problems.problem import Problem, fold, in_order, until
from events.problems.problem_log import ENTRIES, PROBLEMS, UNFOLDED, events_in, parameters
from events.problems.rows import problem_of
from events.types.envelope import Event
from retrieval.pool.connections import Pool, listing

_PATIENCE_S = 2.0


class ProblemReader:
    """Reads problems of one user at a time. A write is seen at once, whatever the projector's lag is.

    ``pool`` must be of the primary. Methods raise psycopg.Error when Postgres is away.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def present(self, owner: str) -> list[Problem]:
        """Returns the problems of a user: active ones first, then by priority, then the last changed."""
        try:
            rows = await self._rows(owner, PROBLEMS)
        except psycopg.errors.UndefinedTable:
            return in_order(fold(await self._entries(owner)).by_id.values())
        if rows[0]["behind"]:
            return in_order(fold(await self._entries(owner)).by_id.values())
        return in_order(problem_of(row) for row in rows if row["problem_id"] is not None)

    async def past(self, owner: str, as_of: datetime | None, known_at: datetime | None) -> list[Problem]:
        """Returns the problems of a user at ``as_of``, by what was recorded at ``known_at``, in the same order."""
        return in_order(fold(until(await self._recorded(owner), as_of, known_at)).by_id.values())

    async def history(
        self,
        owner: str,
        problem_id: UUID,
        as_of: datetime | None = None,
        known_at: datetime | None = None,
    ) -> tuple[Problem, list[Event]] | None:
        """Returns a problem with its events in the order of the log. None: the user has no such problem."""
        if as_of is None and known_at is None:
            events = await self._entries(owner)
        else:
            events = until(await self._recorded(owner), as_of, known_at)
        problems = fold(events)
        found = problems.named(problem_id)
        return None if found is None else (found, problems.history(found, events))

    async def _recorded(self, owner: str) -> list[Event]:
        return events_in(await self._rows(owner, UNFOLDED))

    async def _entries(self, owner: str) -> list[Event]:
        try:
            return events_in(await self._rows(owner, ENTRIES))
        except psycopg.errors.UndefinedTable:
            return await self._recorded(owner)

    async def _rows(self, owner: str, query: Any) -> list[dict[str, object]]:
        async with (
            listing(self._pool, owner, _PATIENCE_S) as connection,
            connection.cursor(row_factory=dict_row) as cursor,
        ):
            return await (await cursor.execute(query, parameters(owner))).fetchall()
