"""The runner: drives a projector along the log, exactly once."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from events.health.heartbeat import Heartbeat
from events.platform.database import connect_with_retry
from events.platform.failures import is_away
from events.platform.linger import Linger, pause
from events.platform.settings import Settings
from events.store.checkpoints import CheckpointMovedError, reached_heads
from events.store.feed import Feed, LogFeed
from events.store.log import Connection, reason_of
from projectors.generations.generations import (
    Deferring,
    Projector,
    ProjectorBlockedError,
    ensure_live,
    hold_live,
    use_schema,
)
from projectors.parking import parking
from projectors.runner.backlog import Backlog

logger = logging.getLogger(__name__)

_PATIENCE_S = 0.1
_LONGEST_PAUSE_S = 10.0


class Runner:
    """Folds the live generation until told to stop.

    Tables and checkpoint move in one transaction, so a kill at any instant repeats nothing and skips
    nothing. Several runners share the partitions; the one that comes second to a partition stands by.
    Events come from ``feed``, from the log itself where none is given.
    """

    def __init__(
        self,
        settings: Settings,
        projector: Projector,
        stopping: Callable[[], bool],
        worker: str = "1",
        feed: Feed | None = None,
    ) -> None:
        self._settings = settings
        self._projector = projector
        self._stopping = stopping
        self._feed = feed or LogFeed(settings.database_url, projector.name, stopping, projector.types)
        self._heartbeat = Heartbeat(settings.database_url, projector.name, worker)
        self._linger = Linger(max(projector.rest_s, settings.linger_ms / 1000), stopping)
        self._more = False
        self._done = 0
        self._backlog = Backlog()
        self._note: str | None = None

    def run(self) -> None:
        """Project until ``stopping``. Waits out a Postgres that is away."""
        with self._heartbeat:
            self._follow()

    def _follow(self) -> None:
        name = self._projector.name
        delay = _PATIENCE_S
        while not self._stopping():
            connection = connect_with_retry(
                self._settings.database_url,
                application=name,
                stopping=self._stopping,
                idle_in_transaction_timeout_ms=self._settings.idle_in_transaction_timeout_ms,
            )
            if connection is None or not self._feed.open():
                break
            try:
                generation = ensure_live(connection, self._projector)
                logger.info("projecting %s, generation %d", name, generation.number)
                while not self._stopping():
                    self._linger.begin_round()
                    passed = self.step(connection)
                    self._heartbeat.running(self._note or self._feed.note)
                    self._heartbeat.passed(self._done)
                    if passed and delay > _PATIENCE_S:
                        logger.info("%s goes on", name)
                        delay = _PATIENCE_S
                    if not self._more:
                        if passed:
                            self._linger.wait()
                        self._feed.wait()
            except CheckpointMovedError as error:
                logger.warning("standing by: %s", error)
            except ProjectorBlockedError as error:
                delay = self._pause_after_failure(str(error), delay)
            except Exception as error:
                # Nothing of the batch counts.
                if is_away(error):
                    logger.warning("postgres went away while projecting %s, trying again: %s", name, error)
                    self._heartbeat.waiting(f"postgres went away: {error}")
                    time.sleep(_PATIENCE_S)
                else:
                    # Say what stands in the way and try again, ever more slowly.
                    logger.exception("%s cannot go on", name)
                    delay = self._pause_after_failure(reason_of(error), delay)
            finally:
                connection.close()
                self._feed.close()
        logger.info("projector %s stopped", name)

    def _pause_after_failure(self, why: str, delay: float) -> float:
        """Say why nothing moves, wait, and return the next, longer wait."""
        logger.warning("%s stands still, trying again in %.1f s: %s", self._projector.name, delay, why)
        self._heartbeat.waiting(why)
        pause(delay, self._stopping)
        return min(delay * 2, _LONGEST_PAUSE_S)

    def step(self, connection: Connection) -> int:
        """One batch in one transaction; returns how many events were passed: folded, or parked with their user.

        Where that reached all there is, some of what was put off is done, in a transaction of its own, and counted too.
        """
        self._more = False
        self._done = 0
        passed = self._fold(connection)
        if self._more or not isinstance(self._projector, Deferring):
            return passed
        with connection.transaction():
            if hold_live(connection, self._projector.name) is None:
                return passed
            use_schema(connection, self._projector.name)
            settled = self._projector.settle(connection)
            if self._backlog.due(now := time.monotonic()):
                self._note = self._backlog.count(*self._projector.left(connection), now)
        self._done += settled
        self._more = settled > 0
        return passed + settled

    def _fold(self, connection: Connection) -> int:
        projector, limit, deferring = self._projector, self._projector.batch_partitions, False
        with connection.transaction():
            generation = hold_live(connection, self._projector.name)
            if generation is None:
                return 0
            if isinstance(self._projector, Deferring):
                standing = generation.processor.progress(connection).values()
                if sum(head - position for position, head in standing) > self._projector.defer_above:
                    deferring = True
                    projector, limit = self._projector.deferred, self._projector.defer_partitions
            sought = self._feed.sought(connection, generation.processor)
            claims = generation.processor.claim(connection, limit=limit, partitions=sought)
            if not claims:
                return 0
            batches = self._feed.read(connection, claims, limit=self._settings.batch_events)
            use_schema(connection, self._projector.name)
            parking.fold(
                connection, generation, projector, [event for _, events in batches for event in events]
            )
            generation.processor.advance(
                connection, [(claim, events[-1].position) for claim, events in batches]
            )
        # Right behind a batch that reached all there was, another look would find nothing.
        self._more = len(claims) == limit or not reached_heads(batches)
        passed = sum(len(events) for _, events in batches)
        self._done += 0 if deferring else passed
        return passed
