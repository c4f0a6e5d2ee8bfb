"""Rounds of work that do not follow one another too closely: what comes one by one is cheaper done a few at a time."""

from __future__ import annotations

import time


class Pace:
    """Lets rounds begin at least ``apart_s`` after one another. What comes after a while of nothing never waits."""

    def __init__(self, apart_s: float) -> None:
        self._apart_s = apart_s
        self._next = 0.0

    def begin(self) -> None:
        """A round begins."""
        self._next = time.monotonic() + self._apart_s

    def rest(self) -> None:
        """Wait until the next round may begin: behind one that found work, and left none that it knows of."""
        time.sleep(max(0.0, self._next - time.monotonic()))
