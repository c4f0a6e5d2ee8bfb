"""When a change of a fact is too grave to be believed without asking."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """A change waits for a verdict when it is the ``changes``-th or a later one within ``days``, or when it
    contradicts, without announcing a change, what has held for ``stale_days``."""

    changes: int = 3
    days: int = 30
    stale_days: int = 30
