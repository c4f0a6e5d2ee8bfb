"""Waiting in workers: until something may be tried again, and between rounds that are cheaper done a few at a time."""

from __future__ import annotations

import time
from collections.abc import Callable

_NAP_S = 0.05


def pause(seconds: float, stopping: Callable[[], bool]) -> None:
    """Wait for ``seconds``, or until told to stop."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0 and not stopping():
        time.sleep(min(_NAP_S, left))


class Linger:
    """Lets rounds begin at least ``apart_s`` after one another. What comes after a while of nothing never waits."""

    def __init__(self, apart_s: float, stopping: Callable[[], bool]) -> None:
        self._apart_s = apart_s
        self._stopping = stopping
        self._next = 0.0

    def begin_round(self) -> None:
        """A round begins."""
        self._next = time.monotonic() + self._apart_s

    def wait(self) -> None:
        """Wait until the next round may begin: behind one that found work, and left none that it knows of."""
        pause(self._next - time.monotonic(), self._stopping)
