"""Limits how many requests run at the same time. More concurrent work would make every request slower."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class SaturatedError(RuntimeError):
    """No place became free within the wait. The message gives the numbers and the remedy."""


class ConcurrencyLimiter:
    """Runs at most ``places`` requests at the same time. The others wait in the order of their arrival.

    A recall waits for its place before its deadlines begin. Without the limiter all recalls share the processor, every
    channel of every recall misses its deadline, and the work of the channels is lost.
    """

    def __init__(self, places: int, within_s: float, what: str = "recalls") -> None:
        self._free = asyncio.Semaphore(places)
        self._places = places
        self._within_s = within_s
        self._what = what
        self.waiting = 0

    @property
    def saturated(self) -> bool:
        """True when as many requests wait as run. Optional work should then be skipped."""
        return self.waiting >= self._places

    @asynccontextmanager
    async def place(self) -> AsyncIterator[None]:
        """Holds a place while the context lasts. Raises :class:`SaturatedError` when none is free ``within_s``."""
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
