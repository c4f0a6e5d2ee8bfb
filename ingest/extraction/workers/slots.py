"""Shares a bounded number of calls between users, so that the failures of one user do not stop other users."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

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
