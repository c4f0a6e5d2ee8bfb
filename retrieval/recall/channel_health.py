"""Channel health: the last latencies of a channel, and whether the channel is quarantined."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Collection
from statistics import median_low
from typing import Literal

from events.resources import recall as resources

SAMPLES = 10
"""The P95 needs this many latencies. The first answers of a process are slow, so fewer decide nothing."""
PROBE_EVERY_S = 0.5
BUSY = 5
"""A channel whose P95 is at most this many times the median P95 of the others is slow because the machine is."""

Admission = Literal["ask", "probe", "rest"]


class ChannelHealth:
    """Quarantines a channel for ``quarantine_s`` when the P95 of its last ten latencies exceeds ``limit_ms``.

    No question waits for a quarantined channel. The channel is probed in the background, and the quarantine ends as
    soon as the P95 is back under the limit. A quarantine that runs out clears the latencies. Answers and late answers
    count. Errors do not count, because a quick error says nothing about speed. The P95 is interpolated: one slow
    answer in ten is allowed, two are not.

    On a busy machine every channel is slow. So the limit is at least :data:`BUSY` times the median P95 of the other
    channels of ``beside``: no quarantine begins while they are as slow, and it ends when they become so. The lower
    median keeps the limit low when half of them are slow for a reason of their own. Probes may not get that far.
    """

    def __init__(
        self,
        *,
        limit_ms: float = 150.0,
        quarantine_s: float = 600.0,
        clock: Callable[[], float] = time.monotonic,
        beside: Collection[ChannelHealth] = (),
    ) -> None:
        self._beside = beside
        self._limit_ms = limit_ms
        self._quarantine_s = quarantine_s
        self._clock = clock
        self._latencies: deque[float] = deque(maxlen=SAMPLES)
        self._until: float | None = None
        self._next_probe = 0.0
        self._probing = False

    def admit(self) -> Admission:
        """Returns what to do with the next question. After ``"probe"`` the caller calls :meth:`probed` at its end."""
        now = self._clock()
        if self._until is None or self._within_limit:
            self._until = None
            return "ask"
        if now >= self._until:
            self._until = None
            self._latencies.clear()
            return "ask"
        if self._probing or now < self._next_probe:
            return "rest"
        self._probing = True
        self._next_probe = now + PROBE_EVERY_S
        return "probe"

    def record(self, ms: float) -> None:
        """Records a latency. The channel answered after ``ms``, or was cancelled after ``ms`` without an answer."""
        self._latencies.append(ms)
        if self._within_limit:
            self._until = None
        elif self._until is None:
            self._until = self._clock() + self._quarantine_s
            self._next_probe = self._clock() + PROBE_EVERY_S

    def probed(self) -> None:
        """Records that the background probe ended."""
        self._probing = False

    @property
    def quarantined(self) -> bool:
        return self._until is not None and self._clock() < self._until and not self._within_limit

    @property
    def _within_limit(self) -> bool:
        p95 = self.p95
        return p95 is None or p95 <= self._limit_ms or p95 <= self.limit_ms

    @property
    def limit_ms(self) -> float:
        """The P95 above which the channel is quarantined."""
        others = [p95 for each in self._beside if each is not self and (p95 := each.p95) is not None]
        return max(self._limit_ms, BUSY * median_low(others)) if others else self._limit_ms

    @property
    def p95(self) -> float | None:
        """The P95 of the last ten latencies in ms. None before there are ten."""
        if len(self._latencies) < SAMPLES:
            return None
        place = 0.95 * (SAMPLES - 1)
        low = int(place)
        ordered = sorted(self._latencies)
        return ordered[low] + (place - low) * (ordered[low + 1] - ordered[low])

    @property
    def why(self) -> str:
        """The reason of the quarantine and the time left, as text."""
        left = max(0.0, (self._until or 0.0) - self._clock())
        return (
            f"its last {SAMPLES} latencies have a P95 of {self.p95 or 0:.0f} ms, more than {self.limit_ms:.0f}; "
            f"tried again in the background, and in {left:.0f} s at the latest"
        )

    def report(self, fault: str | None = None) -> resources.ChannelHealth:
        """Returns the health for operators. ``fault`` names the setting that makes the channel fail."""
        p95 = self.p95
        return resources.ChannelHealth(
            status="quarantined" if self.quarantined else "ok",
            p95_ms=None if p95 is None else round(p95, 2),
            samples=len(self._latencies),
            quarantined_for_s=round(max(0.0, (self._until or 0.0) - self._clock()), 1)
            if self.quarantined
            else None,
            fault=fault,
        )
