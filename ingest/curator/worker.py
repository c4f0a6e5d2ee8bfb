"""The worker of the curator: finds users who are idle, and runs the passes over the memory of each.

The checkpoints tell how far every event was seen. They move only past users whose memory was read after their last
event, so a kill at any moment repeats at most runs that then add nothing.
"""

import logging
from collections.abc import Callable, Iterator

from psycopg.rows import TupleRow

from events.health.log_worker import LogWorker
from events.platform.database import Connection, statement, tuples_of
from events.platform.isolation import is_the_datas_fault
from events.platform.linger import UNHURRIED_S
from events.platform.settings import Settings
from events.store.batches import RoundResult
from events.store.checkpoints import Processor
from events.store.feed import LogFeed
from events.store.log import reason_of
from ingest.curator.asking import create_asker
from ingest.curator.runner import BehindError, curate

logger = logging.getLogger(__name__)

PROCESSOR = Processor("curator")
_PACKAGE = "ingest.curator"
_EVENTS = 20_000  # of a partition, that one look reads
_LONGEST = 10  # times the idle time: a user who is never idle waits no longer


class Curator(LogWorker):
    """Curates idle users until ``stopping`` is true.

    A user whose memory no statement accepts is passed, with a line in the log. Other users are not affected.
    """

    def __init__(self, settings: Settings, stopping: Callable[[], bool], worker: str = "1") -> None:
        linger_s = max(UNHURRIED_S, settings.linger_ms / 1000)
        super().__init__(settings, stopping, PROCESSOR.name, worker, LogFeed(), linger_s=linger_s)
        self._asker = create_asker(settings)
        # How far each user's memory was read, by partition. What is at or below the checkpoint is forgotten.
        self._read: dict[int, dict[str, int]] = {}

    def run(self) -> None:
        """Curates until ``stopping``. Waits while Postgres is away."""
        try:
            super().run()
        finally:
            if self._asker is not None:
                self._asker.close()

    def prepare(self, connection: Connection) -> bool:
        PROCESSOR.open(connection)
        return True

    def release(self) -> None:
        self._read.clear()

    def handle(self, connection: Connection) -> RoundResult:
        """Curates the users who are idle, and moves the checkpoints."""
        reached = {
            partition: (position, head)
            for partition, position, head in self._rows(connection, "read_to", events=_EVENTS)
        }
        done, due = 0, False
        for user, position, partition in self._users(connection):
            due = True
            if self._stopping():
                return RoundResult(done=done)
            if self._curated(connection, user):
                self._read.setdefault(partition, {})[user] = position
                done += 1
        passed = self._advance(connection, reached)
        idle_s = self._settings.curator_idle_s
        left = sum(head - position for position, head in reached.values()) > passed
        return RoundResult(
            passed=passed,
            done=done,
            wait_s=max(0.2, min(5.0, idle_s / 4)),
            resting=f"no user with new events is idle for {idle_s} s yet" if left and not due else None,
        )

    def _users(self, connection: Connection) -> Iterator[tuple[str, int, int]]:
        """Yields the users whose memory is to be read: user, last position, partition."""
        idle = self._settings.curator_idle_s
        chosen = 0
        for user, position, partition, idle_s, waiting_s, _ in self._rows(
            connection, "changed_users", events=_EVENTS
        ):
            if self._read.get(partition, {}).get(user, 0) >= position:
                continue
            if chosen < self._settings.curator_users and (idle_s >= idle or waiting_s >= idle * _LONGEST):
                chosen += 1
                yield user, position, partition

    def _curated(self, connection: Connection, user: str) -> bool:
        """Returns False when the projections are behind."""
        try:
            while curate(connection, user, asker=self._asker).more and not self._stopping():
                pass
        except BehindError:
            return False
        except Exception as error:
            if not is_the_datas_fault(error):
                raise
            logger.warning("the memory of a user is passed: %s", reason_of(error))
            self._heartbeat.failed(f"the memory of a user is passed: {reason_of(error)}")
        return True

    def _advance(self, connection: Connection, reached: dict[int, tuple[int, int]]) -> int:
        """Moves each checkpoint to before the first event of a user whose memory was not read since."""
        held: dict[int, int] = {}
        for user, position, partition, _, _, first in self._rows(connection, "changed_users", events=_EVENTS):
            if self._read.get(partition, {}).get(user, 0) < position:
                held[partition] = min(first, held.get(partition, first))
        passed = 0
        for partition, (before, head) in reached.items():
            after = min(head, held.get(partition, head + 1) - 1)
            if after > before:
                values = {"partition": partition, "position": after}
                connection.execute(statement(_PACKAGE, "pass_read"), values)
                passed += after - before
                read = self._read.get(partition, {})
                self._read[partition] = {user: at for user, at in read.items() if at > after}
        return passed

    @staticmethod
    def _rows(connection: Connection, name: str, **values: object) -> list[TupleRow]:
        return tuples_of(connection, statement(_PACKAGE, name), values)
