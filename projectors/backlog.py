"""Describes for operators whether the cards without a vector become more or fewer."""

from collections import deque

from events.platform.counting import counted

FALLING_BEHIND = "falling behind"
"""The first words of the remark when more cards are deferred than embedded."""

_OVER_S = 60.0
_SOONEST_S = 5.0
_MINUTE_S = 60.0


class Backlog:
    """Watches the number of cards without a vector over the last minute."""

    def __init__(self) -> None:
        self._seen: deque[tuple[float, int]] = deque()

    def due(self, now: float) -> bool:
        """True when the last count is at least 5 s old at ``now`` (seconds, monotonic)."""
        return not self._seen or now - self._seen[-1][0] >= _SOONEST_S

    def count(self, waiting: int, oldest_s: float | None, now: float) -> str | None:
        """Returns the remark for ``waiting`` cards at ``now``, or None when no card waits.

        ``oldest_s`` is the age of the oldest of these cards, in seconds. The remark holds the trend and an estimate.
        """
        if not waiting:
            self._seen.clear()
            self._seen.append((now, 0))
            return None
        self._seen.append((now, waiting))
        while len(self._seen) > 2 and now - self._seen[1][0] >= _OVER_S:
            self._seen.popleft()
        since, before = self._seen[0]
        cards = f"{counted(waiting, 'card')} without a vector, the oldest for {_duration(oldest_s or 0.0)}"
        if now - since < _SOONEST_S:
            return f"behind: {cards}"
        rate = (before - waiting) / (now - since)
        if rate <= 0:
            return f"{FALLING_BEHIND}: {cards}, at this rate never embedded"
        return f"catching up: {cards}, at this rate embedded in {_duration(waiting / rate)}"


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < _MINUTE_S else f"{seconds / _MINUTE_S:.0f} minutes"
