"""The breaker: after failures in a row calls are held back, and one at a time finds out whether it is over."""

from __future__ import annotations

import random
from typing import Literal

State = Literal["closed", "open", "half-open"]

_FIRST_S, _LONGEST_S = 0.5, 30.0
_PROBE_S = 5.0  # a probe that takes longer finds nothing out: the next may go
_NEWCOMER_S = 2.0  # between two calls for users nothing speaks against, while others' fail
_WELL_S = 60.0  # somebody whose call succeeded this recently speaks for the other side


class CircuitBreaker:
    """Closed: all calls may go. Open: none, for a time that doubles. Half-open: one; its outcome decides.

    Failures are told with ``who`` the call was for. One whose calls fail while others' succeed speaks against
    itself and not against the other side: its failures in a row count as one. Where many fail at once that cannot be
    told apart; so, however long the pause, every two seconds one call may go for somebody whose calls did not fail.
    Time is given, never read, so that it is the caller's. Not safe for several threads.
    """

    def __init__(self, failures: int) -> None:
        self._limit = max(1, failures)
        self._in_a_row = 0
        self._until = 0.0
        self._pause = _FIRST_S
        self._open = False
        self._probing: float | None = None
        self._left_alone_until = 0.0
        self._next_newcomer = 0.0
        self._blamed: set[str] = set()
        self._well: dict[str, float] = {}  # the last two whose calls succeeded, and when
        self.reason: str | None = None
        self.successes = 0

    def state(self, now: float) -> State:
        """How it stands."""
        if not self._open:
            return "closed"
        return "half-open" if now >= self._until else "open"

    @property
    def is_disturbed(self) -> bool:
        """Whether the last call failed."""
        return self._in_a_row > 0 or self._open

    def allows_call(self, now: float, *, newcomer: bool = False) -> bool:
        """Whether a call may go now; half-open, only the first who asks may. A ``newcomer`` is somebody whose calls did
        not fail: it does not wait for the end of a pause, unless the other side asked to be left alone."""
        state = self.state(now)
        if state == "closed":
            return True
        if state == "half-open" and (self._probing is None or now - self._probing >= _PROBE_S):
            self._probing = now
            return True
        if newcomer and now >= max(self._left_alone_until, self._next_newcomer):
            self._probing = now
            self._next_newcomer = now + _NEWCOMER_S
            return True
        return False

    def record_success(self, now: float = 0.0, who: str = "") -> None:
        """The other side answered."""
        self.successes += 1
        self._in_a_row = 0
        self._blamed.clear()
        self._well.pop(who, None)
        self._well[who] = now
        if len(self._well) > 2:
            del self._well[next(iter(self._well))]
        self._open, self._probing = False, None
        self._pause = _FIRST_S
        self.reason = None

    def record_no_verdict(self) -> None:
        """A permitted call was not made after all, so nothing was found out."""
        self._probing = None

    def record_failure(
        self, now: float, reason: str, retry_after: float | None = None, who: str = ""
    ) -> None:
        """A call failed; the other side may have asked to be left alone."""
        well = any(now - at <= _WELL_S for one, at in self._well.items() if one != who)
        if not (who and who in self._blamed and well):
            self._in_a_row += 1
        self._blamed.add(who)
        self.reason = reason
        probe, self._probing = self._probing is not None, None
        if retry_after is not None:
            self._open = True
            self._left_alone_until = max(self._left_alone_until, now + retry_after)
            self._until = max(self._until, self._left_alone_until)
        elif self._in_a_row >= self._limit and (probe or not self._open):
            # Calls that were under way when it opened fail, too, and are no news.
            self._open = True
            self._until = now + self._pause
            self._pause = min(self._pause * 2, _LONGEST_S)


def backoff(tries: int) -> float:
    """Seconds to wait after the ``tries``-th failure of the same turns; spread, so that not all come back at once."""
    spread: float = random.uniform(0.75, 1.25)  # noqa: S311 - nobody gains by guessing it
    return min(_FIRST_S * 2.0 ** (tries - 1), _LONGEST_S) * spread
