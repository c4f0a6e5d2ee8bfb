"""Runs long calls in threads, which never keep the process alive, and shares them between users."""

import queue
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from ingest.extraction.workers.partition_window import ExtractionTask


class Slots:
    """Shares ``limit`` calls between users. The class has no clock and no threads.

    No user has more than a quarter of the calls. A user has more than one call only while a quarter of the calls is
    free. Users whose calls hang therefore leave that quarter to users without a running call. Users whose last call
    failed have at most half of the calls together, so the other half is free for users whose calls succeed. Every user
    may have at least one call.
    """

    def __init__(self, limit: int) -> None:
        self._of_one = max(1, limit // 4)
        self._in_trouble = max(1, limit // 2)
        self._for_firsts = limit // 4
        self._troubled: set[str] = set()
        self._calls: Counter[str] = Counter()

    def failed(self, user_id: str) -> None:
        """Records that a call for this user failed."""
        self._troubled.add(user_id)

    def succeeded(self, user_id: str) -> None:
        """Records that a call for this user succeeded."""
        self._troubled.discard(user_id)

    def forget(self) -> None:
        """Forgets every user."""
        self._troubled.clear()
        self._calls.clear()

    def in_order(
        self, waiting: Sequence[ExtractionTask], under_way: Iterable[ExtractionTask]
    ) -> list[ExtractionTask]:
        """Returns the ``waiting`` tasks in the order of their calls. ``under_way`` are the tasks of running calls.

        Users whose last call succeeded come first, then tasks with fewer tries. The first task of every user comes
        before the second task of any user.
        """
        self._calls = Counter(task.user_id for task in under_way)
        turns = self._calls.copy()
        places: list[tuple[tuple[bool, int, int], ExtractionTask]] = []
        for task in waiting:
            user_id = task.user_id
            places.append(((user_id in self._troubled, task.tries, turns[user_id]), task))
            turns[user_id] += 1
        return [task for _, task in sorted(places, key=lambda place: place[0])]

    def troubled(self, user_id: str) -> bool:
        """True when the last call of the user failed."""
        return user_id in self._troubled

    def admit(self, user_id: str, free: int) -> bool:
        """True when the user may have one more call. ``free`` is the number of calls that may start now."""
        if free <= 0 or self._calls[user_id] >= self._of_one:
            return False
        if self._calls[user_id] and free <= self._for_firsts:
            return False
        troubled = sum(count for each, count in self._calls.items() if each in self._troubled)
        return user_id not in self._troubled or troubled < self._in_trouble

    def take(self, user_id: str) -> None:
        """Records that a call for the user starts."""
        self._calls[user_id] += 1


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
