"""Reads the problems of a user from the live table and from the tail of the log."""

from uuid import UUID

import psycopg

from events.problems.problem import Problem, fold, in_order, problem_of
from events.problems.problem_log import query, telling
from events.store.asking import Asking
from events.types.envelope import Event
from retrieval.pool import Pool, answered


class ProblemReader:
    """Reads problems of one user at a time. A write is seen at once, whatever the projector's lag is.

    ``pool`` must be of the primary. Methods raise psycopg.Error when Postgres is away.
    """

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    async def present(self, owner: str) -> list[Problem]:
        """Returns the problems of a user: active ones first, then by priority, then the last changed."""
        return await answered(self._pool, owner, _present(owner))

    async def history(self, owner: str, problem_id: UUID) -> tuple[Problem, list[Event]] | None:
        """Returns a problem with its events in the order of the log. None: the user has no such problem."""
        events = await answered(self._pool, owner, telling(owner))
        problems = fold(events)
        found = problems.named(problem_id)
        return None if found is None else (found, problems.history(found, events))


def _present(owner: str) -> Asking[list[Problem]]:
    try:
        rows = yield query("problems_of", owner)
    except psycopg.errors.UndefinedTable:
        rows = [{"behind": True}]
    if rows[0]["behind"]:
        return in_order(fold((yield from telling(owner))).by_id.values())
    return in_order(problem_of(row) for row in rows if row["problem_id"] is not None)
