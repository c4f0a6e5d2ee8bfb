"""Waiting for a condition, never for a time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def eventually(look: Callable[[], T], *, within: float = 30.0) -> T:
    """The first true value of ``look()``; fails when there is none ``within`` seconds."""
    until = time.monotonic() + within
    while True:
        value = look()
        if value:
            return value
        assert time.monotonic() < until, f"not within {within} s: {look}"
        time.sleep(0.02)
