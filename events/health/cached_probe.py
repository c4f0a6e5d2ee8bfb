"""Caches the result of a probe that may hang. The caller never hangs with the probe."""

import logging
import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

logger = logging.getLogger(__name__)

T = TypeVar("T")


class CachedProbe(Generic[T]):
    """Returns the latest result of ``probe()``, at most ``fresh_s`` old, within ``patience_s``. None is unknown.

    Only one probe runs at a time, for any number of callers. A probe that hangs keeps its thread, which does not keep
    the process alive, and further callers do not wait for it. A late result counts when it arrives. A probe that raises
    gives None, and a warning in the log.
    """

    def __init__(self, probe: Callable[[], T], *, fresh_s: float = 1.0, patience_s: float = 2.0) -> None:
        self._probe = probe
        self._fresh_s = fresh_s
        self._patience_s = patience_s
        self._changed = threading.Condition()
        self._since: float | None = None
        self._finished = 0
        self._value: T | None = None
        self._at: float | None = None

    def __call__(self) -> T | None:
        with self._changed:
            if self._at is not None and time.monotonic() - self._at < self._fresh_s:
                return self._value
            if self.hangs:
                return None
            if self._since is None:
                self._since = time.monotonic()
                threading.Thread(target=self._run, name="probe", daemon=True).start()
            before = self._finished
            if not self._changed.wait_for(lambda: self._finished != before, self._patience_s):
                return None
            return self._value

    @property
    def hangs(self) -> bool:
        """True while a probe runs for longer than the patience."""
        since = self._since
        return since is not None and time.monotonic() - since > self._patience_s

    def _run(self) -> None:
        value = None
        try:
            value = self._probe()
        except Exception:
            logger.warning("the probe failed", exc_info=True)
        with self._changed:
            self._value, self._at = value, time.monotonic()
            self._finished += 1
            self._since = None
            self._changed.notify_all()
