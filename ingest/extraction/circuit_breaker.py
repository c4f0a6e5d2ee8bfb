"""The circuit breaker holds back calls after failures in a row, then tries one call at a time."""

import random
from typing import Literal

State = Literal["closed", "open", "half-open"]

_FIRST_S, _LONGEST_S = 0.5, 30.0
_PROBE_S = 5.0  # After this time without a result, the next call may probe.
_NEWCOMER_S = 2.0  # Between two calls for users without failures, while the calls for other users fail.
_WELL_S = 60.0  # A success this recent shows that the server works.


class CircuitBreaker:
    """Decides which calls to a server are allowed. Closed: all. Open: none, for a pause that doubles. Half-open: one.

    ``who`` names the user a call is for. When the calls for one user fail and the calls for other users succeed, the
    user's turns are at fault and not the server. The failures of this user in a row then count as one. When calls for
    many users fail at once, the breaker cannot distinguish the two cases. So it allows one call every two seconds for
    a user without failures, however long the pause is. All times are seconds of the caller's clock. A breaker is not
    thread-safe.
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
        self._well: dict[str, float] = {}  # The last two users with a successful call, and its time.
        self.reason: str | None = None
        self.successes = 0

    def state(self, now: float) -> State:
        if not self._open:
            return "closed"
        return "half-open" if now >= self._until else "open"

    @property
    def is_disturbed(self) -> bool:
        """True when the last call failed."""
        return self._in_a_row > 0 or self._open

    def allows_call(self, now: float, *, newcomer: bool = False) -> bool:
        """Returns True when a call is allowed now. A half-open breaker allows only the first caller.

        A ``newcomer`` is a user whose calls did not fail. A newcomer does not wait for the end of a pause, unless the
        server sent a Retry-After.
        """
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
        """Records that the server answered a call for ``who``. The breaker closes."""
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
        """Records that an allowed call was not made. The next call may probe."""
        self._probing = None

    def record_failure(
        self, now: float, reason: str, retry_after: float | None = None, who: str = ""
    ) -> None:
        """Records that a call for ``who`` failed. ``retry_after`` is the pause in seconds that the server asked for."""
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
            # Calls that were running when the breaker opened fail too. Such failures do not extend the pause.
            self._open = True
            self._until = now + self._pause
            self._pause = min(self._pause * 2, _LONGEST_S)


def backoff(tries: int) -> float:
    """Returns the seconds to wait after the ``tries``-th failure of the same turns, with 25 % jitter."""
    spread: float = random.uniform(0.75, 1.25)  # noqa: S311 - jitter is no secret
    return min(_FIRST_S * 2.0 ** (tries - 1), _LONGEST_S) * spread
