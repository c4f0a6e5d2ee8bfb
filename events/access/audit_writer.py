"""Writes audit entries in batches, in a thread of its own, which holds the connection. Requests do not wait for it."""

import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Sequence
from concurrent.futures import Future
from itertools import islice

import psycopg

from events.access.audit import Entry, record, subject_key
from events.platform.database import Connection, connect
from events.platform.failures import in_a_line
from events.platform.isolation import isolate

logger = logging.getLogger(__name__)

MOST_WAITING = 10_000
_BATCH = 500
_LINGER_S = 0.2
_LONGEST_BACKOFF_S = 2.0
_STOP_WITHIN_S = 5.0


class AuditAwayError(RuntimeError):
    """The audit log takes no entry now. The message gives the reason."""


class AuditWriter:
    """Takes entries at once and writes them later, in their order.

    While PostgreSQL is away the entries wait, at most ``most`` of them. Further ones are lost; their number is
    counted, and becomes an entry with the outcome ``lost`` as soon as PostgreSQL is back. :meth:`stop` writes what
    waits. The thread starts with the first entry.
    """

    def __init__(self, url: str, service: str, *, most: int = MOST_WAITING) -> None:
        self._url = url
        self._service = service
        self._most = most
        self._waiting: deque[tuple[Entry, Future[None] | None]] = deque()
        self._urgent = 0
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._stopping = False
        self._connection: Connection | None = None
        self._key: bytes | None = None
        self._unreported = 0
        self._report: Entry | None = None
        self.lost = 0
        self.written: Counter[str] = Counter()

    @property
    def waiting(self) -> int:
        """The number of entries that are not written yet."""
        return len(self._waiting)

    def put(self, entry: Entry) -> None:
        """Takes ``entry`` without waiting. Counts it as lost when too many wait already."""
        with self._changed:
            self._add(entry, None)

    def commit(self, entry: Entry) -> Future[None]:
        """Takes ``entry``. The future ends when the entry is committed, or with :class:`AuditAwayError`."""
        done: Future[None] = Future()
        done.set_running_or_notify_cancel()  # nobody can cancel it now
        with self._changed:
            if self._add(entry, done):
                self._urgent += 1
            else:
                done.set_exception(AuditAwayError(f"{self._most} entries wait already"))
        return done

    def stop(self) -> None:
        """Writes what waits. Gives up when PostgreSQL is away; the log then says how many entries are lost."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join(_STOP_WITHIN_S)

    def _add(self, entry: Entry, done: Future[None] | None) -> bool:
        if len(self._waiting) >= self._most or self._stopping:
            self.lost += entry.requests
            self._unreported += entry.requests
            return False
        self._waiting.append((entry, done))
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="audit", daemon=True)
            self._thread.start()
        self._changed.notify_all()
        return True

    def _run(self) -> None:
        backoff = 0.0
        while self._await(backoff):
            with self._changed:
                batch = list(islice(self._waiting, _BATCH))
                if self._unreported and self._report is None:
                    self._report = Entry(
                        service=self._service, operation="audit", outcome="lost", requests=self._unreported
                    )
                    self._unreported = 0
            try:
                self._write(batch)
                backoff = 0.0
            except psycopg.Error as error:
                if not backoff:
                    logger.warning(
                        "the audit log cannot be written now; %d entries wait: %s",
                        len(self._waiting),
                        in_a_line(str(error)),
                    )
                backoff = min(max(0.1, backoff * 2), _LONGEST_BACKOFF_S)
                self._disconnect()
                self._refuse_urgent(error)
                if self._stopping:
                    break
        self._disconnect()
        if left := self.waiting:
            logger.error("the process stops, and %d audit entries are lost", left)
            self.lost += left

    def _await(self, backoff: float) -> bool:
        """Waits for entries, then a little for more of them. Returns False when all are written and it must stop."""
        with self._changed:
            if backoff:
                self._changed.wait_for(lambda: self._stopping, backoff)
            self._changed.wait_for(lambda: self._waiting or self._stopping)
            until = time.monotonic() + _LINGER_S
            self._changed.wait_for(
                lambda: self._urgent or self._stopping or len(self._waiting) >= _BATCH,
                max(0.0, until - time.monotonic()),
            )
            return bool(self._waiting)

    def _write(self, batch: Sequence[tuple[Entry, Future[None] | None]]) -> None:
        """Writes ``batch`` and takes it off the queue. Raises psycopg's errors while the server is away."""
        if self._connection is None:
            self._connection = connect(self._url, application=f"{self._service}, audit")
            self._key = subject_key(self._connection)
        entries = [entry for entry, _ in batch]
        if self._report is not None:
            entries.append(self._report)
        self._append(self._connection, entries)
        self._report = None
        with self._changed:
            for _ in batch:
                self._waiting.popleft()
            self._urgent -= sum(done is not None for _, done in batch)
        self.written.update(entry.outcome for entry in entries)
        for _, done in batch:
            if done is not None:
                done.set_result(None)

    def _append(self, connection: Connection, entries: list[Entry]) -> None:
        """Appends ``entries``. An entry that the server refuses for its data is lost, and the others are kept."""
        for refused in isolate(entries, lambda some: record(connection, some, self._key)):
            logger.error(
                "the database refuses an audit entry of %s", refused.item.operation, exc_info=refused.error
            )
            self.lost += 1

    def _refuse_urgent(self, error: psycopg.Error) -> None:
        with self._changed:
            refused = [done for _, done in self._waiting if done is not None]
            self._waiting = deque((entry, None) for entry, _ in self._waiting)
            self._urgent = 0
        for done in refused:
            done.set_exception(AuditAwayError(in_a_line(str(error)) or type(error).__name__))

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
