"""Room for so much work at once: more than a process can do would only take time from all the rest."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class SaturatedError(RuntimeError):
    """More is asked than this process answers."""


class ConcurrencyLimiter:
    """Lets ``places`` in at once, the others in the order they came.

    A recall waits for its place before any of its deadlines begins. Without that, all of them share what there is,
    every channel of every one of them is late, and what they did by then is lost.
    """

    def __init__(self, places: int, within_s: float, what: str = "recalls") -> None:
        self._free = asyncio.Semaphore(places)
        self._places = places
        self._within_s = within_s
        self._what = what
        self.waiting = 0

    @property
    def saturated(self) -> bool:
        """Whether as many wait as are in: what can be done without had better not be done."""
        return self.waiting >= self._places

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """A place for as long as the context lasts. Raises :class:`SaturatedError` where none is free ``within_s``."""
        self.waiting += 1
        try:
            async with asyncio.timeout(self._within_s):
                await self._free.acquire()
        except TimeoutError:
            raise SaturatedError(
                f"{self.waiting - 1} more {self._what} wait for one of {self._places} places in this process, for more "
                f"than {self._within_s:g} s; ask again later, or run more services"
            ) from None
        finally:
            self.waiting -= 1
        try:
            yield
        finally:
            self._free.release()
