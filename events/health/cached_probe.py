"""Looking at something that may hang, without hanging with it."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

logger = logging.getLogger(__name__)

T = TypeVar("T")


class CachedProbe(Generic[T]):
    """The latest of what ``look()`` returned, at most ``fresh_s`` old, within ``patience_s``; None is unknown.

    However many ask at once, one look is under way at a time. A look that hangs is left hanging, in a
    thread that does not keep the process alive, and its answer is taken when it comes after all.
    A look that raises is unknown, and logged.
    """

    def __init__(self, look: Callable[[], T], *, fresh_s: float = 1.0, patience_s: float = 2.0) -> None:
        self._look = look
        self._fresh_s = fresh_s
        self._patience_s = patience_s
        self._changed = threading.Condition()
        self._looking = False
        self._looks = 0
        self._value: T | None = None
        self._at: float | None = None

    def __call__(self) -> T | None:
        with self._changed:
            if self._at is not None and time.monotonic() - self._at < self._fresh_s:
                return self._value
            if not self._looking:
                self._looking = True
                threading.Thread(target=self._run, name="probe", daemon=True).start()
            before = self._looks
            if not self._changed.wait_for(lambda: self._looks != before, self._patience_s):
                return None
            return self._value

    def _run(self) -> None:
        value = None
        try:
            value = self._look()
        except Exception:
            logger.warning("looking failed", exc_info=True)
        with self._changed:
            self._value, self._at = value, time.monotonic()
            self._looks += 1
            self._looking = False
            self._changed.notify_all()
