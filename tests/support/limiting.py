"""A line before a concurrency limiter that stands, on a clock that a test moves."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from events.access.fair_share import Asker
from events.access.limiters import ConcurrencyLimiter


class Clock:
    """The clock of this process, ``later`` seconds ahead. Event loops have it too."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.later = 0.0
        clock = time.monotonic
        monkeypatch.setattr(time, "monotonic", lambda: clock() + self.later)


@asynccontextmanager
async def standing_line(
    room: ConcurrencyLimiter, clock: Clock, asker: Asker = ("burst", "key")
) -> AsyncIterator[list[int]]:
    """A line of twenty requests that came at once. Ten had their turn, one in 4 s. The others are served at the end.

    Yields the numbers of those that were served. ``room`` has two places. Its requests wait for 100 s, and 10 s
    in a line that stands.
    """
    served: list[int] = []
    leave = asyncio.Semaphore(0)

    async def visit(number: int) -> None:
        async with room.place(asker):
            served.append(number)
            await leave.acquire()

    async with asyncio.TaskGroup() as group:
        for number in range(20):
            group.create_task(visit(number))
        while room.waiting < 19:
            await asyncio.sleep(0)
        for number in range(1, 10):
            clock.later += 4.0
            leave.release()
            while len(served) <= number:
                await asyncio.sleep(0)
        yield served
        for _ in range(20):
            leave.release()
