"""The loop of every worker that follows the log: connect, handle batches, wait for news, and retry after a failure."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import closing
from typing import Protocol

from events.health.heartbeat import Heartbeat
from events.platform.database import (
    Connection,
    DatabaseUnfitError,
    connect_with_retry,
    require_proof,
    statement,
)
from events.platform.failures import NEEDS_OPERATOR, is_away
from events.platform.linger import Linger, pause
from events.platform.settings import Settings
from events.store.batches import RoundResult
from events.store.checkpoints import CheckpointMovedError
from events.store.feed import Feed
from events.store.log import reason_of

logger = logging.getLogger(__name__)

_FIRST_BACKOFF_S = 0.1


class Worker(Protocol):
    """A worker that runs until it is told to stop."""

    def run(self) -> None: ...


class LogWorker(ABC):
    """Handles what ``feed`` gives in rounds until ``stopping`` is true. All methods run in the thread of :meth:`run`.

    The worker has one connection to Postgres at a time. Postgres may go away at any time. Every failure closes the
    connection, and the next round runs on a new one:

    - Another worker moved the checkpoint, or Postgres is away: a pause of 0.1 s. The connection attempts back off.
    - A database that does not fit this process (:class:`DatabaseUnfitError`) needs an operator. The pause is as below.
    - Any other error: a pause of 0.1 s that doubles up to ``longest_backoff_s``. A round that passes events resets it.

    The heartbeat says why nothing moves. Every pause ends within 50 ms of ``stopping``.

    ``name`` is part of the log messages and of the name of the connection. ``blocked`` are errors whose message names
    the reason, so the log needs no traceback. ``linger_s`` is the shortest time between two rounds that found work.
    Zero turns a timeout off.
    """

    def __init__(
        self,
        settings: Settings,
        stopping: Callable[[], bool],
        name: str,
        worker: str,
        feed: Feed,
        *,
        linger_s: float = 0.0,
        blocked: tuple[type[Exception], ...] = (),
        idle_in_transaction_timeout_ms: int = 0,
        idle_session_timeout_ms: int = 0,
        longest_backoff_s: float = 10.0,
    ) -> None:
        self._settings = settings
        self._stopping = stopping
        self._name = name
        self._feed = feed
        self._heartbeat = Heartbeat(settings.database_url, name, worker)
        self._linger = Linger(linger_s, stopping)
        self._blocked = blocked
        self._idle_in_transaction_ms = idle_in_transaction_timeout_ms
        self._idle_session_ms = idle_session_timeout_ms
        self._longest_backoff_s = longest_backoff_s
        self._backoff_s = _FIRST_BACKOFF_S

    def prepare(self, connection: Connection) -> bool:
        """Prepares a new connection. Returns False when the worker is told to stop meanwhile."""
        return True

    @abstractmethod
    def handle(self, connection: Connection) -> RoundResult:
        """Runs one round, usually one batch. A round that raises moves no checkpoint and runs again."""

    def step(self, connection: Connection) -> int:
        """Runs one round on a connection of the caller, without the loop. Returns the events that it passed."""
        return self.handle(connection).passed

    def drain(self, connection: Connection) -> None:  # noqa: B027 - most workers leave nothing open
        """Finishes open work after the worker is told to stop. The worker bounds the time."""

    def release(self) -> None:  # noqa: B027 - most workers keep nothing
        """Drops everything that depends on the connection. Runs once for each connection, also after a failure."""

    def pause(self, seconds: float) -> None:
        """Waits before the next connection."""
        pause(seconds, self._stopping)

    def run(self) -> None:
        """Works until ``stopping``. Reports and waits out every error, except an error of :meth:`release`."""
        with self._heartbeat:
            while not self._stopping():
                connection = connect_with_retry(
                    self._settings.database_url,
                    application=self._name,
                    stopping=self._stopping,
                    idle_in_transaction_timeout_ms=self._idle_in_transaction_ms,
                )
                if connection is not None:
                    with closing(connection):
                        self._use(connection)
        logger.info("%s stopped", self._name)

    def _use(self, connection: Connection) -> None:
        """Runs rounds on ``connection`` until it fails or the worker is told to stop."""
        try:
            self._feed.open(connection)
            if self._idle_session_ms:
                # A stopped process keeps its connection and its locks. The server ends such a session.
                connection.execute(
                    statement("events.store", "set_idle_session_timeout"), {"idle_ms": self._idle_session_ms}
                )
            require_proof(connection)
            if not self.prepare(connection):
                return
            while not self._stopping():
                self._run_round(connection)
            self.drain(connection)
        except Exception as error:
            self._pause_after(error)
        finally:
            self.release()

    def _run_round(self, connection: Connection) -> None:
        self._linger.begin_round()
        result = self.handle(connection)
        if result.stalled is not None:
            self._heartbeat.waiting(result.stalled)
        elif result.resting is not None:
            self._heartbeat.resting(result.resting)
        else:
            self._heartbeat.running(result.note or self._feed.note)
        self._heartbeat.passed(result.passed if result.done is None else result.done)
        if result.passed and self._backoff_s > _FIRST_BACKOFF_S:
            logger.info("%s runs again", self._name)
            self._backoff_s = _FIRST_BACKOFF_S
        if result.more:
            return
        if result.passed:
            self._linger.wait()
        self._feed.wait(result.wait_s)

    def _pause_after(self, error: Exception) -> None:
        """Reports ``error`` and waits before the next connection."""
        if isinstance(error, CheckpointMovedError):
            logger.warning("%s starts over: %s", self._name, error)
            self.pause(_FIRST_BACKOFF_S)
        elif is_away(error):
            why = reason_of(error)
            logger.warning("postgres went away, %s tries again: %s", self._name, why)
            self._heartbeat.waiting(f"postgres went away: {why}")
            self.pause(_FIRST_BACKOFF_S)
        else:
            unfit = isinstance(error, DatabaseUnfitError)
            known = unfit or isinstance(error, self._blocked)
            why = f"{NEEDS_OPERATOR}: {error}" if unfit else str(error) if known else reason_of(error)
            logger.log(
                logging.WARNING if known else logging.ERROR,
                "%s is blocked, trying again in %.1f s: %s", self._name, self._backoff_s, why,
                exc_info=None if known else error,
            )  # fmt: skip
            self._heartbeat.waiting(why)
            self.pause(self._backoff_s)
            self._backoff_s = min(self._backoff_s * 2, self._longest_backoff_s)
