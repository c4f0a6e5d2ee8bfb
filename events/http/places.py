"""Shares the connections of a service among tenants, and among the memories of each tenant."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import Request

from events.access.limiters import ConcurrencyLimiter, SaturatedError
from events.http.access import principal_of
from events.http.errors import ProblemError
from events.http.limits import users_of

WAITS_S = 5.0


class Places:
    """A dependency of routes: a request holds one of ``places`` before it holds a thread or a connection.

    Commands on one memory wait for each other inside PostgreSQL. Without a share for each memory they would hold all
    connections there, and commands on other memories would wait too. A tenant with many memories gets half of the
    places. Raises a 503 problem after ``WAITS_S`` seconds.
    """

    def __init__(self, places: int, what: str) -> None:
        self._limiter = ConcurrencyLimiter(places, WAITS_S, what)
        self._title = f"Too many {what} at once"

    async def __call__(self, request: Request) -> AsyncIterator[None]:
        async with self.held(request):
            yield

    @asynccontextmanager
    async def held(self, request: Request) -> AsyncIterator[None]:
        """Holds a place for a part of a request, which then waits without one."""
        memory = min(users_of(request.scope), default="")
        try:
            async with self._limiter.place((principal_of(request).tenant, memory)):
                yield
        except SaturatedError as error:
            raise ProblemError(503, self._title, str(error)) from error
