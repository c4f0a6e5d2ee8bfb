"""Waiting in workers: the wait before a retry, and the linger between batches."""

import time
from collections.abc import Callable

UNHURRIED_S = 0.5
"""The least time between two rounds of a worker whose results no answer waits for."""

_NAP_S = 0.05


def pause(seconds: float, stopping: Callable[[], bool]) -> None:
    """Waits for ``seconds``. Returns earlier when ``stopping()`` is true."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0 and not stopping():
        time.sleep(min(_NAP_S, left))


class Linger:
    """Lets a round begin at the earliest ``apart_s`` after the round before it. A round after a longer idle time does
    not wait. Fewer and larger rounds cost less."""

    def __init__(self, apart_s: float, stopping: Callable[[], bool]) -> None:
        self._apart_s = apart_s
        self._stopping = stopping
        self._next = 0.0

    def begin_round(self) -> None:
        """Notes that a round begins now."""
        self._next = time.monotonic() + self._apart_s

    def wait(self) -> None:
        """Waits until the next round may begin. A worker calls it after a round that found work and finished it."""
        pause(self._next - time.monotonic(), self._stopping)
