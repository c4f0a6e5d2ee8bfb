"""Measures the age of a replica's data without comparing the clocks of two machines."""

from __future__ import annotations

from collections import deque


class WalClock:
    """Remembers the ends of the primary's write-ahead log, with their times by this process's clock.

    A replica that has replayed up to a remembered end shows everything that was committed by that time. The reported
    age is therefore never too low. This also holds while the primary writes nothing, while the replica has lost the
    primary, and while nobody reads the end of the primary's log.
    """

    def __init__(self, keep_s: float) -> None:
        self._keep_s = keep_s
        self._ends: deque[tuple[float, int]] = deque()

    def note(self, at: float, end: int) -> None:
        """Records that the log had reached ``end`` (a position in bytes) when it was read after ``at`` (seconds).

        Calls must be in the order of ``at``.
        """
        self._ends.append((at, end))
        while self._ends[0][0] < at - self._keep_s:
            self._ends.popleft()

    def age(self, replayed: int, now: float) -> float | None:
        """Returns the age in seconds of the data at position ``replayed``, or None when it is older than known.

        Every commit that is older than this age is visible at ``replayed``.
        """
        for at, end in reversed(self._ends):
            if end <= replayed:
                return max(0.0, now - at)
        return None
