"""The health of a channel: how long its last answers took, and whether it should be asked at all."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Any, Literal

SAMPLES = 10
"""Latencies a verdict rests on; with fewer there is none, for the first answers of a process are slow."""
PROBE_EVERY_S = 0.5

Admission = Literal["ask", "probe", "rest"]


class ChannelHealth:
    """A channel whose last ten latencies have a P95 above ``limit_ms`` rests for ``quarantine_s``.

    While it rests nobody waits for it, but a question now and then is tried on it in the background; as
    soon as those samples bring the P95 back under the limit it is asked again. Afterwards it starts with a
    clean window. Only answers count, and those that were too late: a quick error says nothing of speed.
    The P95 is interpolated, so one slow answer in ten is forgiven and two are not.
    """

    def __init__(
        self,
        *,
        limit_ms: float = 150.0,
        quarantine_s: float = 600.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._limit_ms = limit_ms
        self._quarantine_s = quarantine_s
        self._clock = clock
        self._latencies: deque[float] = deque(maxlen=SAMPLES)
        self._until: float | None = None
        self._next_probe = 0.0
        self._probing = False

    def admit(self) -> Admission:
        """What to do with the next question. After ``"probe"``, :meth:`probed` must be called once it ended."""
        now = self._clock()
        if self._until is None:
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
        """An answer took ``ms``, or had not come by then."""
        self._latencies.append(ms)
        p95 = self.p95
        if p95 is None:
            return
        if p95 <= self._limit_ms:
            self._until = None
        elif self._until is None:
            self._until = self._clock() + self._quarantine_s
            self._next_probe = self._clock() + PROBE_EVERY_S

    def probed(self) -> None:
        """The trial in the background is over."""
        self._probing = False

    @property
    def quarantined(self) -> bool:
        return self._until is not None and self._clock() < self._until

    @property
    def p95(self) -> float | None:
        """P95 of the last ten latencies in ms; None before there are ten."""
        if len(self._latencies) < SAMPLES:
            return None
        place = 0.95 * (SAMPLES - 1)
        low = int(place)
        ordered = sorted(self._latencies)
        return ordered[low] + (place - low) * (ordered[low + 1] - ordered[low])

    @property
    def why(self) -> str:
        """Why it rests, and for how much longer."""
        left = max(0.0, (self._until or 0.0) - self._clock())
        return (
            f"its last {SAMPLES} latencies have a P95 of {self.p95 or 0:.0f} ms, more than {self._limit_ms:.0f}; "
            f"tried again in the background, and in {left:.0f} s at the latest"
        )

    def document(self) -> dict[str, Any]:
        """How it stands, for operators."""
        p95 = self.p95
        return {
            "status": "quarantined" if self.quarantined else "ok",
            "p95_ms": None if p95 is None else round(p95, 2),
            "samples": len(self._latencies),
            "quarantined_for_s": round(max(0.0, (self._until or 0.0) - self._clock()), 1)
            if self.quarantined
            else None,
        }
