"""The proposer: reads the turns of the log in order and proposes the ops that they ask for."""

import logging
from collections.abc import Callable

from events.health.log_worker import LogWorker
from events.platform.database import Connection
from events.platform.isolation import is_the_datas_fault
from events.platform.linger import UNHURRIED_S
from events.platform.settings import Settings
from events.store.batches import (
    Batches,
    RoundResult,
    handle_batch,
)
from events.store.checkpoints import Processor
from events.store.feed import LogFeed
from events.store.log import announce, reason_of
from events.types.envelope import Event
from events.types.turns import TurnRecorded
from ingest.references.proposals import propose
from ingest.references.retractions import propose_retractions

logger = logging.getLogger(__name__)

PROCESSOR = Processor("proposer")
TURN = TurnRecorded.__name__


class Proposer(LogWorker):
    """Proposes ops and retractions until ``stopping`` is true.

    The proposals and the checkpoint commit together, so none is repeated.

    A turn whose data no statement accepts is passed, with a line in the log. Other turns are not affected.
    """

    def __init__(self, settings: Settings, stopping: Callable[[], bool], worker: str = "1") -> None:
        feed, linger_s = LogFeed({TURN}), max(UNHURRIED_S, settings.linger_ms / 1000)
        super().__init__(settings, stopping, PROCESSOR.name, worker, feed, linger_s=linger_s)

    def prepare(self, connection: Connection) -> bool:
        PROCESSOR.open(connection)
        return True

    def handle(self, connection: Connection) -> RoundResult:
        """Passes one batch in one transaction."""
        made = 0

        def work(batches: Batches) -> None:
            nonlocal made
            for page in batches:
                for event in page.events:
                    made += self._propose(connection, event)

        with connection.transaction():
            result = handle_batch(
                connection, PROCESSOR, self._feed, work, events=self._settings.batch_events, types={TURN}
            )
        if made:
            announce(connection)
        return result

    def _propose(self, connection: Connection, event: Event) -> int:
        try:
            with connection.transaction():
                made = 0
                if self._settings.reference_proposals:
                    made += propose(connection, event, self._settings.reference_apply_percent / 100)
                if self._settings.forget_proposals:
                    made += propose_retractions(connection, event)
                return made
        except Exception as error:
            if not is_the_datas_fault(error):
                raise
            logger.warning(
                "no op is proposed for the turn at %d/%d: %s",
                event.partition,
                event.position,
                reason_of(error),
            )
            return 0
