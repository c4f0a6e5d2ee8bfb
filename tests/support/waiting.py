"""Waits for a condition and never for a fixed time."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Literal, TypeVar

T = TypeVar("T")

PATIENT: dict[str, Any] = {
    **{f"{name}_deadline_ms": 10_000 for name in ("semantic", "tags", "fuzzy", "time", "graph", "overlay")},
    "quarantine_over_ms": 60_000,
    "auth": "off",
    "embed_model": "hash",
}
"""Settings of a recall that is not about time, keys or models: a busy machine misses no deadline, no channel rests, no
request needs a key, and it does not matter which models this machine has."""

ALONE = PATIENT | {"pool_size": 2}
"""The same for a service that is asked one thing after the other. Each of its connections takes processor time."""


def eventually(look: Callable[[], T | Literal[False, ""] | None], *, within: float = 240.0) -> T:
    """Returns the first true value of ``look()``. Fails when no value is true ``within`` seconds."""
    until = time.monotonic() + within
    while True:
        value = look()
        if value:
            return value
        assert time.monotonic() < until, f"not within {within} s: {look}"
        time.sleep(0.02)


@contextmanager
def working(run: Callable[[], None], stop: threading.Event) -> Iterator[None]:
    """Runs ``run`` beside the block. After the block ``stop`` is set, and ``run`` must end."""
    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(240)
        assert not thread.is_alive()
