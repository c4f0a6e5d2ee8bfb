"""Shares the connections of commands among the memories that the commands change."""

from __future__ import annotations

from collections.abc import AsyncIterator

from fastapi import Request

from events.access.concurrency_limiter import ConcurrencyLimiter, SaturatedError
from events.http.access import principal_of
from events.http.errors import ProblemError
from events.http.limits import users_of

WAITS_S = 5.0


class CommandPlaces:
    """A dependency of routes: a command holds one of ``places`` before it holds a thread or a connection.

    Commands on one memory wait for each other inside PostgreSQL. Without a share for each memory they would hold all
    connections there, and commands on other memories would wait too. Raises a 503 problem after ``WAITS_S`` seconds.
    """

    def __init__(self, places: int) -> None:
        self._limiter = ConcurrencyLimiter(places, WAITS_S, "commands")

    async def __call__(self, request: Request) -> AsyncIterator[None]:
        principal = principal_of(request)
        memory = f"{principal.tenant}/{min(users_of(request), default='')}"
        try:
            async with self._limiter.place((memory, principal.key_id or "")):
                yield
        except SaturatedError as error:
            raise ProblemError(503, "Too many commands at once", str(error)) from error
