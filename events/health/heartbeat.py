"""The heartbeat of each worker: its state, its rate and its last error."""

import json
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from types import TracebackType
from typing import Literal, Self

import psycopg
from psycopg.rows import class_row

from events.platform.database import Connection, connect, statement
from events.platform.failures import in_a_line

logger = logging.getLogger(__name__)

WorkerState = Literal["running", "waiting", "stopped"]

UNSEEN_S = 15.0
"""A worker without a heartbeat for this long counts as gone. It has missed five heartbeats."""
_HEARTBEAT_S = 3.0
_RATE_OVER_S = 10.0
_LAST_HEARTBEAT_S = 2.0
_LONGEST = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class HeartbeatReport:
    """The latest heartbeat of one worker. Ages are seconds on the database's clock.

    - ``rate``: turns or events per second over the last 10 seconds; None in the first second.
    - ``seen_s``: the age of the heartbeat.
    - ``moved_s``: the time since the worker last processed an event; None when it never did.
    - ``done``: turns or events processed since the start of the worker.
    - ``counts``: further counters since the start of the worker.
    """

    stage: str
    worker: str
    pid: int
    state: WorkerState
    detail: str | None
    error: str | None
    error_at: datetime | None
    done: int
    rate: float | None
    seen_s: float
    moved_s: float | None
    counts: Mapping[str, float] = field(default_factory=dict)

    @property
    def alive(self) -> bool:
        """True when the heartbeat is recent and the worker has not stopped."""
        return self.state != "stopped" and self.seen_s < UNSEEN_S


def reports(connection: Connection) -> list[HeartbeatReport]:
    """Returns the latest heartbeat of every worker of every stage."""
    with connection.cursor(row_factory=class_row(HeartbeatReport)) as cursor:
        return cursor.execute(statement("events.health", "heartbeats")).fetchall()


class Heartbeat:
    """Writes the heartbeat of one worker from another thread. A long batch therefore does not look like a dead worker.

    Inside the context the thread updates the worker's row in ``log.heartbeats`` every ``every_s`` and at every change
    of state. All workers of a process share the thread and its connection. The end of the context writes the state
    ``stopped``. The worker never waits for Postgres and gets no errors of the heartbeat. A worker without a heartbeat
    counts as gone, also while Postgres is away. A process that is suspended or killed writes no heartbeat.
    """

    def __init__(self, database_url: str, stage: str, worker: str, *, every_s: float = _HEARTBEAT_S) -> None:
        self._writer = _writer_of(database_url, os.getpid())
        self._names = {"stage": stage, "worker": worker, "pid": os.getpid()}
        self._every_s = every_s
        self._lock = threading.Lock()
        self._due = 0.0
        self._ended = False
        self._over = threading.Event()
        self._state: WorkerState = "running"
        self._detail: str | None = None
        self._error: str | None = None
        self._error_at = 0.0
        self._done = 0
        self._counts: dict[str, float] = {}
        self._moved_at: float | None = None
        self._counted: deque[tuple[float, int]] = deque()

    def __enter__(self) -> Self:
        self._ended = False
        self._due = 0.0
        self._over.clear()
        self._say("running", None, None)
        self._writer.add(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        reason = None if error is None else f"{type(error).__name__}: {error}"
        self._say("stopped", reason, reason)
        with self._lock:
            self._ended, self._due = True, 0.0
        self._writer.wake()
        # A worker must stop in time even while Postgres is away.
        self._over.wait(_LAST_HEARTBEAT_S)

    def running(self, note: str | None = None) -> None:
        """Sets the state ``running``. ``note`` is a detail for the operator."""
        self._say("running", note, None)

    def waiting(self, why: str) -> None:
        """Sets the state ``waiting``: the worker cannot continue. ``why`` is also its last error."""
        self._say("waiting", why, why)

    def resting(self, why: str) -> None:
        """Sets the state ``waiting``: no work is due yet. ``why`` is no error."""
        self._say("waiting", why, None)

    def failed(self, why: str) -> None:
        """Sets the last error. The worker continues, and its state does not change."""
        with self._lock:
            self._note(why)

    def passed(self, count: int) -> None:
        """Adds ``count`` processed turns or events. Their effects must be committed."""
        if count:
            with self._lock:
                self._done += count
                self._moved_at = time.monotonic()

    def count(self, amounts: Mapping[str, float]) -> None:
        """Adds ``amounts`` to the counters of these names. These counters are separate from ``done``."""
        with self._lock:
            for name, amount in amounts.items():
                self._counts[name] = self._counts.get(name, 0) + amount

    def _say(self, state: WorkerState, detail: str | None, error: str | None) -> None:
        detail = None if detail is None else in_a_line(detail, _LONGEST)
        with self._lock:
            changed = (state, detail) != (self._state, self._detail)
            self._state, self._detail = state, detail
            if error is not None:
                self._note(error)
            if changed:
                self._due = 0.0
        if changed:
            self._writer.wake()

    def _note(self, error: str) -> None:
        self._error = in_a_line(error, _LONGEST)
        self._error_at = time.monotonic()

    def due_in(self) -> float:
        """Returns the seconds until the next heartbeat."""
        with self._lock:
            return self._due - time.monotonic()

    def beat(self, connection: Connection | None) -> bool:
        """Writes the heartbeat, or lets it pass without a ``connection``. Returns False if it was the last one."""
        with self._lock:
            last = self._ended
            self._due = time.monotonic() + self._every_s
        if connection is not None:
            try:
                connection.execute(statement("events.health", "upsert_heartbeat"), self._report())
                connection.execute(
                    statement("events.health", "delete_stale_heartbeats"), {**self._names, "unseen": UNSEEN_S}
                )
            except Exception as error:  # the heartbeats of the other workers go on
                logger.debug("no heartbeat: %s", error)
                connection.close()
        if last:
            self._over.set()
        return not last

    def _report(self) -> dict[str, object]:
        now = time.monotonic()
        with self._lock:
            return {
                **self._names,
                "state": self._state,
                "detail": self._detail,
                "error": self._error,
                "error_s": now - self._error_at,
                "done": self._done,
                "rate": None if self._ended else self._rate(now),
                "counts": json.dumps(self._counts),
                "moved_s": None if self._moved_at is None else now - self._moved_at,
            }

    def _rate(self, now: float) -> float | None:
        counted = self._counted
        counted.append((now, self._done))
        while len(counted) > 2 and now - counted[1][0] >= _RATE_OVER_S:
            counted.popleft()
        since, before = counted[0]
        # Under one second the rate is noise.
        return (self._done - before) / (now - since) if now - since >= 1.0 else None


class _Writer:
    """The thread of a process that writes all its heartbeats to one database. It lives while there is one."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._lock = threading.Lock()
        self._wake = threading.Event()
        self._beating: list[Heartbeat] = []

    def add(self, heartbeat: Heartbeat) -> None:
        with self._lock:
            self._beating.append(heartbeat)
            first = len(self._beating) == 1
        self._wake.set()
        if first:
            threading.Thread(target=self._run, name="heartbeat", daemon=True).start()

    def wake(self) -> None:
        self._wake.set()

    def _run(self) -> None:
        connection: Connection | None = None
        while True:
            self._wake.clear()
            with self._lock:
                due = [each for each in self._beating if each.due_in() <= 0]
            if due and (connection is None or connection.closed):
                connection = self._connected()
            over = [each for each in due if not each.beat(connection)]
            with self._lock:
                self._beating = [each for each in self._beating if each not in over]
                if not self._beating:
                    break
                wait = min(each.due_in() for each in self._beating)
            self._wake.wait(max(0.0, wait))
        if connection is not None:
            connection.close()

    def _connected(self) -> Connection | None:
        try:
            return connect(self._url, application="heartbeat")
        except psycopg.Error as error:
            logger.debug("no heartbeat: %s", error)
            return None


@lru_cache(maxsize=16)
def _writer_of(url: str, _pid: int) -> _Writer:
    return _Writer(url)
