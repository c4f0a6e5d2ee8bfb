"""Runs long calls in threads. The threads never keep the process alive."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

K = TypeVar("K")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CompletedCall(Generic[K, T]):
    """A completed call: its key, and its result or its error."""

    key: K
    result: T | None
    error: Exception | None


class BoundedExecutor(Generic[K, T]):
    """Runs at most ``limit`` calls at once, each in a thread. Only one thread may use the executor.

    Threads start when they are needed. They are daemons, so a call without an answer ends with the process. Nothing
    of such a call was written.
    """

    def __init__(self, limit: int) -> None:
        self.limit = max(1, limit)
        self.under_way = 0
        self._threads = 0
        self._work: queue.SimpleQueue[tuple[K, Callable[[], T]] | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[CompletedCall[K, T]] = queue.SimpleQueue()

    @property
    def available(self) -> int:
        """The number of calls that may start now."""
        return self.limit - self.under_way

    def submit(self, key: K, call: Callable[[], T]) -> None:
        """Runs ``call`` in a thread. The caller keeps within :attr:`available`."""
        self.under_way += 1
        if self._threads < self.under_way:
            self._threads += 1
            threading.Thread(target=self._run, name=f"call {self._threads}", daemon=True).start()
        self._work.put((key, call))

    def completed(self, timeout: float) -> list[CompletedCall[K, T]]:
        """Returns the calls that ended since the last call of this method. Waits up to ``timeout`` s for the first."""
        found: list[CompletedCall[K, T]] = []
        try:
            if self.under_way:
                found.append(self._done.get(timeout=timeout) if timeout > 0 else self._done.get_nowait())
                while True:
                    found.append(self._done.get_nowait())
        except queue.Empty:
            pass
        self.under_way -= len(found)
        return found

    def close(self) -> None:
        """Ends idle threads now, and busy threads after their call."""
        for _ in range(self._threads):
            self._work.put(None)
        self._threads = 0

    def _run(self) -> None:
        while (item := self._work.get()) is not None:
            key, call = item
            try:
                self._done.put(CompletedCall(key, call(), None))
            except Exception as error:
                self._done.put(CompletedCall(key, None, error))
