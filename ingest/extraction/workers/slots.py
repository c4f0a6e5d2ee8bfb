"""Who may be read now: a bounded number of calls, shared so that one user's trouble leaves others theirs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ingest.extraction.workers.partition_window import ExtractionTask


class Slots:
    """Shares of ``limit`` calls. Pure bookkeeping: no clock, no threads.

    No user has more than a quarter of them, and more than one only while a quarter is free: a few users whose calls
    all hang leave that quarter to whoever has none under way. Users whose last call failed have no more than half
    together, so that the other half is there for those whose calls succeed. Everybody has at least one.
    """

    def __init__(self, limit: int) -> None:
        self._of_one = max(1, limit // 4)
        self._in_trouble = max(1, limit // 2)
        self._for_firsts = limit // 4
        self._troubled: set[str] = set()
        self._calls: Counter[str] = Counter()

    def failed(self, user_id: str) -> None:
        """A call for this user failed."""
        self._troubled.add(user_id)

    def succeeded(self, user_id: str) -> None:
        """A call for this user was answered."""
        self._troubled.discard(user_id)

    def forget(self) -> None:
        """Nothing is known of anybody."""
        self._troubled.clear()
        self._calls.clear()

    def in_order(
        self, waiting: Sequence[ExtractionTask], under_way: Iterable[ExtractionTask]
    ) -> list[ExtractionTask]:
        """What waits, beside what is under way: users in no trouble first, then what failed least often, then every
        user's first before anybody's second."""
        self._calls = Counter(reading.user_id for reading in under_way)
        turns = self._calls.copy()
        places: list[tuple[tuple[bool, int, int], ExtractionTask]] = []
        for reading in waiting:
            user_id = reading.user_id
            places.append(((user_id in self._troubled, reading.tries, turns[user_id]), reading))
            turns[user_id] += 1
        return [reading for _, reading in sorted(places, key=lambda place: place[0])]

    def troubled(self, user_id: str) -> bool:
        """Whether the user's last call failed."""
        return user_id in self._troubled

    def admit(self, user_id: str, free: int) -> bool:
        """Whether one more call for the user is within the shares, where ``free`` may begin."""
        if free <= 0 or self._calls[user_id] >= self._of_one:
            return False
        if self._calls[user_id] and free <= self._for_firsts:
            return False
        troubled = sum(count for each, count in self._calls.items() if each in self._troubled)
        return user_id not in self._troubled or troubled < self._in_trouble

    def take(self, user_id: str) -> None:
        """A call for the user begins."""
        self._calls[user_id] += 1
