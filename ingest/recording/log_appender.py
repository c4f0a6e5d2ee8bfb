"""The log appender of the recorder: one connection to the log for all Redis streams of a process."""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from events.health.heartbeat import Heartbeat
from events.http.tokens import stored_key
from events.platform.database import Connection, connect_with_retry
from events.platform.failures import is_away
from events.platform.isolation import is_the_datas_fault, isolate
from events.platform.linger import pause
from events.store import log
from events.types.envelope import Appended, NewEvent

logger = logging.getLogger(__name__)

_FIRST_PAUSE_S = 0.1
_LONGEST_PAUSE_S = 2.0

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Refused:
    """The log refuses this event in every batch. ``reason`` is text for an operator."""

    reason: str


class _StoppedError(Exception):
    """``stopping()`` became true while Postgres was away."""


class LogAppender:
    """Appends the turns of all streams of a process to the log, one batch at a time, over one connection."""

    def __init__(self, database_url: str, heartbeat: Heartbeat, stopping: Callable[[], bool]) -> None:
        self._url = database_url
        self.heartbeat = heartbeat
        self._stopping = stopping
        self._lock = threading.Lock()
        self._connection: Connection | None = None

    def append(self, events: Sequence[NewEvent]) -> list[Appended | Refused] | None:
        """Appends ``events`` durably and returns one result for each event, in the same order.

        A refused event does not keep the others out: ``append`` halves the batch until the refused event is alone.
        Waits while Postgres is away or misconfigured. Returns None when ``stopping()`` becomes true during the wait.
        """
        results: dict[int, Appended | Refused] = {}

        def attempt(which: Sequence[int]) -> None:
            appended = self._append([events[index] for index in which])
            results.update(zip(which, appended, strict=True))

        with self._lock:
            try:
                culprits = isolate(range(len(events)), attempt, blames=_blames_the_event)
            except _StoppedError:
                return None
        for culprit in culprits:
            results[culprit.item] = Refused(log.reason_of(culprit.error))
        return [results[index] for index in range(len(events))]

    def token_key(self) -> bytes | None:
        """Returns the key of tokens that the database keeps. Waits and returns None as :meth:`append` does."""
        with self._lock:
            try:
                return self._tried(stored_key)
            except _StoppedError:
                return None

    def _append(self, events: Sequence[NewEvent]) -> list[Appended]:
        """Appends all ``events`` or none. Raises as :meth:`_tried`."""

        def attempt(connection: Connection) -> list[Appended]:
            appended = log.append(connection, events)
            log.announce(connection, events)
            return appended

        return self._tried(attempt)

    def _tried(self, work: Callable[[Connection], _T]) -> _T:
        """Returns the result of ``work``, and tries again while Postgres is away or misconfigured.

        Raises the database error when the data are at fault. Raises :class:`_StoppedError` when ``stopping()`` becomes
        true while Postgres is away.
        """
        delay = _FIRST_PAUSE_S
        while True:
            if self._connection is None or self._connection.closed:
                self._connection = connect_with_retry(
                    self._url, application="recorder", stopping=self._stopping
                )
                if self._connection is None:
                    raise _StoppedError
            try:
                return work(self._connection)
            except Exception as error:
                if is_the_datas_fault(error):
                    raise
                why = "postgres is away" if is_away(error) else "postgres cannot store turns"
                logger.warning("%s; the recorder tries again in %.1f s: %s", why, delay, error)
                self.heartbeat.waiting(f"{why}: {error}")
                self._connection.close()
                pause(delay, self._stopping)
                delay = min(delay * 2, _LONGEST_PAUSE_S)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()


def _blames_the_event(error: Exception) -> bool:
    return is_the_datas_fault(error) and not isinstance(error, _StoppedError)
