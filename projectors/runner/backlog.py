"""Whether what was put off grows or shrinks, in words for an operator."""

from __future__ import annotations

from collections import deque

FALLING_BEHIND = "falling behind"
"""How a stage begins what it says of itself when more is put off than it can do."""

_OVER_S = 60.0
_SOONEST_S = 5.0
_MINUTE_S = 60.0


class Backlog:
    """Watches how many cards wait for their vector, over the last minute."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def due(self, now: float) -> bool:
        """Whether it is time to count again."""
        return not self._seen or now - self._seen[-1][0] >= _SOONEST_S

    def count(self, waiting: int, oldest_s: float | None, now: float) -> str | None:
        """What to say of ``waiting`` cards, the oldest for ``oldest_s``, at ``now``; None when none wait."""
        if not waiting:
            self._seen.clear()
            self._seen.append((now, 0))
            return None
        self._seen.append((now, waiting))
        while len(self._seen) > 2 and now - self._seen[1][0] >= _OVER_S:
            self._seen.popleft()
        since, before = self._seen[0]
        what = f"{waiting} cards without a vector, the oldest for {_span(oldest_s or 0.0)}"
        if now - since < _SOONEST_S:
            return f"behind: {what}"
        a_second = (before - waiting) / (now - since)
        if a_second <= 0:
            return f"{FALLING_BEHIND}: {what}, at this rate never embedded"
        return f"catching up: {what}, at this rate embedded in {_span(waiting / a_second)}"


def _span(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < _MINUTE_S else f"{seconds / _MINUTE_S:.0f} minutes"
