"""How old what a replica shows may be, told without comparing the clocks of two machines."""

from __future__ import annotations

from collections import deque


class WalClock:
    """Remembers where the primary's write-ahead log ended, and when, by this process's own clock.

    A replica that has replayed up to a place remembered shows everything that was committed by then. So its age is
    never told too low: not while the primary writes nothing, nor while the replica has lost it, nor
    while nobody looks at the primary any more.
    """

    def __init__(self, keep_s: float) -> None:
        self._keep_s = keep_s
        self._ends: deque[tuple[float, int]] = deque()

    def note(self, at: float, end: int) -> None:
        """The log reached ``end`` bytes by ``at`` or later; call it in the order of ``at``."""
        self._ends.append((at, end))
        while self._ends[0][0] < at - self._keep_s:
            self._ends.popleft()

    def age(self, replayed: int, now: float) -> float | None:
        """Seconds before ``now`` from which on commits may be missing at ``replayed``; None: more than is known."""
        for at, end in reversed(self._ends):
            if end <= replayed:
                return max(0.0, now - at)
        return None
