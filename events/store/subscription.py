"""The loop of every processor: connect, handle batches, wait for news, and try again after a failure."""

import logging
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol

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
from events.store.checkpoints import CheckpointMovedError, Claim, Processor, past, reached_heads
from events.store.feed import Feed
from events.store.log import reason_of
from events.types.envelope import PARTITIONS, Event

logger = logging.getLogger(__name__)

_FIRST_BACKOFF_S = 0.1

Batches = Sequence[tuple[Claim, list[Event]]]


@dataclass(frozen=True, slots=True)
class RoundResult:
    """The result of one round of a handler.

    ``passed``: events that the checkpoints moved past. ``done``: events for the rate in the heartbeat; None means
    ``passed``. ``more``: the handler knows of work, so the next round begins at once. ``wait_s``: the longest wait for
    news; None means the feed's own. ``note``: a remark for the operator. ``stalled``: the reason why nothing moves.
    ``resting``: the reason why no work is due yet, which is no error.
    """

    passed: int = 0
    done: int | None = None
    more: bool = False
    wait_s: float | None = None
    note: str | None = None
    stalled: str | None = None
    resting: str | None = None


class Handler(ABC):
    """Does the work of one processor. The subscription does everything else.

    All methods run in the thread of the subscription.
    """

    def prepare(self, connection: Connection) -> bool:
        """Prepares a new connection. Returns False when the worker is told to stop meanwhile."""
        return True

    @abstractmethod
    def handle(self, connection: Connection) -> RoundResult:
        """Runs one round, usually one batch. A round that raises moves no checkpoint and runs again."""

    def step(self, connection: Connection) -> int:
        """Runs one round on a connection of the caller, without the subscription. Returns the events that it passed."""
        return self.handle(connection).passed

    def drain(self, connection: Connection) -> None:  # noqa: B027 - most handlers leave nothing open
        """Finishes open work after the worker is told to stop. The handler bounds the time."""

    def release(self) -> None:  # noqa: B027 - most handlers keep nothing
        """Drops everything that depends on the connection. Runs once for each connection, also after a failure."""


class Reporter(Protocol):
    """Tells operators the state of a worker. :class:`events.health.heartbeat.Heartbeat` is the one in use."""

    def __enter__(self) -> object: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def running(self, note: str | None = None) -> None: ...

    def waiting(self, why: str) -> None: ...

    def resting(self, why: str) -> None: ...

    def passed(self, count: int) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionOptions:
    """The differences between the subscriptions of different processors.

    ``name`` is part of the log messages and of the name of the connection. ``blocked`` are errors whose message names
    the reason, so the log needs no traceback. ``linger_s`` is the shortest time between two rounds that found work.
    Zero turns a timeout off.
    """

    name: str
    linger_s: float = 0.0
    blocked: tuple[type[Exception], ...] = ()
    idle_in_transaction_timeout_ms: int = 0
    idle_session_timeout_ms: int = 0
    longest_backoff_s: float = 10.0


class Subscription:
    """Runs the rounds of ``handler`` until ``stopping`` is true.

    The subscription has one connection to Postgres at a time. Postgres may go away at any time. Every failure closes
    the connection, and the next round runs on a new one:

    - Another worker moved the checkpoint, or Postgres is away: a pause of 0.1 s. The connection attempts back off.
    - A database that does not fit this process (:class:`DatabaseUnfitError`) needs an operator. The pause is as below.
    - Any other error: a pause of 0.1 s that doubles up to ``longest_backoff_s``. A round that passes events resets it.

    The heartbeat says why nothing moves. Every pause ends within 50 ms of ``stopping``.
    """

    def __init__(
        self,
        settings: Settings,
        handler: Handler,
        feed: Feed,
        heartbeat: Reporter,
        stopping: Callable[[], bool],
        options: SubscriptionOptions,
        *,
        pause: Callable[[float, Callable[[], bool]], None] = pause,
    ) -> None:
        self._url = settings.database_url
        self._handler = handler
        self._feed = feed
        self._heartbeat = heartbeat
        self._stopping = stopping
        self._options = options
        self._linger = Linger(options.linger_s, stopping)
        self._pause = pause
        self._backoff_s = _FIRST_BACKOFF_S

    def run(self) -> None:
        """Runs until ``stopping``. Reports and waits out every error, except an error of ``release``."""
        with self._heartbeat:
            while not self._stopping():
                connection = connect_with_retry(
                    self._url,
                    application=self._options.name,
                    stopping=self._stopping,
                    idle_in_transaction_timeout_ms=self._options.idle_in_transaction_timeout_ms,
                )
                if connection is not None:
                    with closing(connection):
                        self._use(connection)
        logger.info("%s stopped", self._options.name)

    def _use(self, connection: Connection) -> None:
        """Runs rounds on ``connection`` until it fails or the worker is told to stop."""
        try:
            self._feed.open(connection)
            if self._options.idle_session_timeout_ms:
                # A stopped process keeps its connection and its locks. The server ends such a session.
                connection.execute(
                    statement("events.store", "set_idle_session_timeout"),
                    {"idle_ms": self._options.idle_session_timeout_ms},
                )
            require_proof(connection)
            if not self._handler.prepare(connection):
                return
            while not self._stopping():
                self._run_round(connection)
            self._handler.drain(connection)
        except Exception as error:
            self._pause_after(error)
        finally:
            self._handler.release()

    def _run_round(self, connection: Connection) -> None:
        self._linger.begin_round()
        result = self._handler.handle(connection)
        if result.stalled is not None:
            self._heartbeat.waiting(result.stalled)
        elif result.resting is not None:
            self._heartbeat.resting(result.resting)
        else:
            self._heartbeat.running(result.note or self._feed.note)
        self._heartbeat.passed(result.passed if result.done is None else result.done)
        if result.passed and self._backoff_s > _FIRST_BACKOFF_S:
            logger.info("%s runs again", self._options.name)
            self._backoff_s = _FIRST_BACKOFF_S
        if result.more:
            return
        if result.passed:
            self._linger.wait()
        self._feed.wait(result.wait_s)

    def _pause_after(self, error: Exception) -> None:
        """Reports ``error`` and waits before the next connection."""
        name = self._options.name
        if isinstance(error, CheckpointMovedError):
            logger.warning("%s starts over: %s", name, error)
            self._pause(_FIRST_BACKOFF_S, self._stopping)
        elif is_away(error):
            why = reason_of(error)
            logger.warning("postgres went away, %s tries again: %s", name, why)
            self._heartbeat.waiting(f"postgres went away: {why}")
            self._pause(_FIRST_BACKOFF_S, self._stopping)
        else:
            unfit = isinstance(error, DatabaseUnfitError)
            known = unfit or isinstance(error, self._options.blocked)
            why = f"{NEEDS_OPERATOR}: {error}" if unfit else str(error) if known else reason_of(error)
            logger.log(
                logging.WARNING if known else logging.ERROR,
                "%s is blocked, trying again in %.1f s: %s", name, self._backoff_s, why,
                exc_info=None if known else error,
            )  # fmt: skip
            self._heartbeat.waiting(why)
            self._pause(self._backoff_s, self._stopping)
            self._backoff_s = min(self._backoff_s * 2, self._options.longest_backoff_s)


class BatchLimit:
    """The most partitions of one batch: half as many after a failure, and twice as many after a success.

    The server ends a transaction that does nothing for too long. A batch that computes for longer than that would
    otherwise be repeated in the same size for ever.
    """

    def __init__(self) -> None:
        self._partitions = PARTITIONS

    def __enter__(self) -> int:
        return self._partitions

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        more = self._partitions * 2 if error is None else self._partitions // 2
        self._partitions = min(max(more, 1), PARTITIONS)


def handle_batch(
    connection: Connection,
    processor: Processor,
    feed: Feed,
    work: Callable[[Batches], object],
    *,
    events: int,
    partitions: int | None = None,
    admit: Callable[[list[Claim]], list[Claim]] = lambda claims: claims,
    own: Mapping[int, Collection[int]] | None = None,
) -> RoundResult:
    """Claims partitions, reads their next events, calls ``work`` with them and moves the checkpoints past them.

    Everything happens in the transaction of the caller: the work and the checkpoints commit together or not at all.
    ``work`` gets at most ``events`` events of each partition, in order and without a gap. ``partitions`` limits the
    claims. ``admit`` may leave claims out. ``work`` may fill ``own`` with the positions, by partition, of what it
    appended and need not read: the checkpoints move past these, too. Returns ``passed`` and ``more`` of
    the round.

    Raises :class:`CheckpointMovedError`, :class:`events.store.checkpoints.LogHoleError` and what ``work`` raises.
    """
    claims = processor.claim(
        connection, limit=partitions or PARTITIONS, partitions=feed.sought(connection, processor)
    )
    if not claims or not (claims := admit(claims)):
        return RoundResult()
    batches = feed.read(connection, claims, limit=events)
    work(batches)
    moves = [
        (claim, past(page[-1].position, (own or {}).get(claim.partition, ()))) for claim, page in batches
    ]
    processor.advance(connection, moves)
    # A batch that reached every head leaves nothing to find. New events are announced.
    more = len(claims) == partitions or not reached_heads(batches)
    return RoundResult(passed=sum(position - claim.position for claim, position in moves), more=more)
