"""The runner: folds the live generation of a projection, each event exactly once."""

import logging
import time
from collections.abc import Callable
from dataclasses import replace

from events.health.log_worker import LogWorker
from events.platform.database import Connection, DatabaseUnfitError
from events.platform.settings import Settings
from events.store.batches import (
    Batches,
    BatchLimit,
    RoundResult,
    handle_batch,
)
from events.store.feed import Feed, LogFeed
from projectors import parking
from projectors.backlog import Backlog
from projectors.forgetting import TOMBSTONES
from projectors.generations.generations import difference, ensure_live, hold_live, use_schema
from projectors.generations.projector import Projector, ProjectorBlockedError

logger = logging.getLogger(__name__)


class Runner(LogWorker):
    """Folds the live generation of ``projector`` until ``stopping`` is true.

    Tables and checkpoint move in one transaction. A kill at any moment therefore repeats nothing and skips nothing.
    Several runners share the partitions: the claim of one runner hides the partition from the others. Events come
    from ``feed``, or from the log when ``feed`` is None.
    """

    def __init__(
        self,
        settings: Settings,
        projector: Projector,
        stopping: Callable[[], bool],
        worker: str = "1",
        feed: Feed | None = None,
    ) -> None:
        super().__init__(
            settings,
            stopping,
            projector.name,
            worker,
            feed or LogFeed(projector.types),
            linger_s=max(projector.rest_s, settings.linger_ms / 1000),
            blocked=(ProjectorBlockedError,),
            idle_in_transaction_timeout_ms=settings.idle_in_transaction_timeout_ms,
        )
        self._projector = projector
        self._backlog = Backlog()
        self._limit = BatchLimit()
        self._note: str | None = None
        self._compared: int | None = None  # the generation whose tables fit this version

    def prepare(self, connection: Connection) -> bool:
        generation = ensure_live(connection, self._projector)
        if generation.number != self._compared:
            if other := difference(connection, self._projector, generation.number, self._projector.name):
                raise DatabaseUnfitError(other)
            self._compared = generation.number
        logger.info("projecting %s, generation %d", self._projector.name, generation.number)
        return True

    def handle(self, connection: Connection) -> RoundResult:
        """Passes one batch in one transaction: every event is folded, or parked with its user.

        After the last known event the round also settles deferred work, in a transaction of its own. ``passed``
        counts settled cards, too.
        """
        folded = self._fold(connection)
        if folded.more or self._projector.deferred is None:
            return replace(folded, note=self._note)
        with connection.transaction():
            if hold_live(connection, self._projector.name) is None:
                return replace(folded, note=self._note)
            use_schema(connection, self._projector.name)
            settled = self._projector.settle(connection)
            if self._backlog.due(now := time.monotonic()):
                self._note = self._backlog.count(*self._projector.left(connection), now)
        hindrance = None if settled else self._projector.hindrance
        return RoundResult(
            passed=folded.passed + settled,
            done=(folded.passed if folded.done is None else folded.done) + settled,
            more=settled > 0,
            note=self._note,
            wait_s=None if hindrance is None else hindrance.again_s,
            stalled=hindrance.reason if hindrance is not None and hindrance.whole else None,
        )

    def _fold(self, connection: Connection) -> RoundResult:
        projector, deferring = self._projector, False
        with self._limit as partitions, connection.transaction():
            generation = hold_live(connection, self._projector.name)
            if generation is None:
                return RoundResult()
            if (deferred := projector.deferred) is not None:
                progress = generation.processor.progress(connection).values()
                if sum(head - position for position, head in progress) > projector.defer_above:
                    deferring, projector = True, deferred

            def fold(batches: Batches) -> None:
                if events := [event for page in batches for event in page.events]:
                    use_schema(connection, self._projector.name)
                    parking.fold(connection, generation, projector, events)

            result = handle_batch(
                connection,
                generation.processor,
                self._feed,
                fold,
                events=self._settings.batch_events,
                types=projector.types | TOMBSTONES,
                partitions=partitions,
            )
        # Events of a deferred fold count as done when their vectors exist.
        return replace(result, done=0) if deferring else result
