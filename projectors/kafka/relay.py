"""The relay: publishes the log to Kafka in order. Its checkpoints are in Postgres."""

import logging
import time
from collections.abc import Callable

from events.health.log_worker import LogWorker
from events.platform.database import Connection, statement
from events.platform.settings import Settings
from events.store.batches import RoundResult
from events.store.checkpoints import Claim, LogHoleError, Processor
from events.store.feed import LogFeed
from projectors.kafka.publisher import Message, Publisher
from projectors.kafka.topic import BrokerAwayError, TopicUnfitError, ensure_topic

logger = logging.getLogger(__name__)

PROCESSOR = Processor("relay")
_PACKAGE = "projectors.kafka"
_BATCH = 200  # Events of each partition.
_IDLE_SESSION_TIMEOUT_MS = 15_000
_SLOW_S = 2.0
_LONGEST_BACKOFF_S = 5.0


class Relay(LogWorker):
    """Publishes the log to Kafka until ``stopping`` is true.

    A checkpoint moves after Kafka acknowledged every event below it. A kill at any moment therefore leaves out nothing
    and repeats at most one batch. Consumers drop the repeated events by position. One relay publishes at a time, by a
    lock of its connection. The other relays wait and take over. While Kafka is away, the heartbeat says so, the relay
    keeps trying, and the log keeps every event.
    """

    def __init__(self, settings: Settings, stopping: Callable[[], bool], worker: str = "1") -> None:
        super().__init__(
            settings,
            stopping,
            PROCESSOR.name,
            worker,
            LogFeed(),
            blocked=(BrokerAwayError, TopicUnfitError),
            idle_session_timeout_ms=_IDLE_SESSION_TIMEOUT_MS,
            longest_backoff_s=_LONGEST_BACKOFF_S,
        )
        self._publisher: Publisher | None = None

    def prepare(self, connection: Connection) -> bool:
        PROCESSOR.open(connection)
        if not self._lead(connection):
            return False
        ensure_topic(self._settings)
        self._publisher = Publisher(self._settings)
        logger.info("publishing to %s at %s", self._settings.kafka_topic, self._settings.kafka_brokers)
        return True

    def release(self) -> None:
        if self._publisher is not None:
            self._publisher.close()
            self._publisher = None

    def _lead(self, connection: Connection) -> bool:
        """Waits until no other relay publishes. Returns False when told to stop meanwhile."""
        while not self._stopping():
            row = connection.execute(statement(_PACKAGE, "try_leader_lock")).fetchone()
            if row is not None and row[0]:
                return True
            self._heartbeat.running("another relay publishes; this one would take over")
            self._feed.wait()
        return False

    def handle(self, connection: Connection) -> RoundResult:
        """Publishes one batch, then moves the checkpoints past it.

        The checkpoints stay when the relay is told to stop before Kafka acknowledges the batch. Raises
        :class:`BrokerAwayError`, and :class:`LogHoleError` for a log with a hole. The checkpoints stay then, too.
        """
        assert self._publisher is not None
        claims, batch = self.news(connection)
        if not batch:
            return RoundResult()
        since = time.monotonic()

        def waiting(trouble: str | None) -> bool:
            connection.execute(
                statement(_PACKAGE, "ping")
            )  # A silent session ends at the idle-session timeout.
            if time.monotonic() - since > _SLOW_S:
                why = trouble or "nothing is acknowledged"
                self._heartbeat.waiting(f"kafka at {self._settings.kafka_brokers}: {why}")
            return not self._stopping()

        if not self._publisher.publish(batch, waiting):
            return RoundResult(more=True)
        self.move(connection, claims, batch)
        return RoundResult(passed=len(batch), more=True)

    @staticmethod
    def move(connection: Connection, claims: list[Claim], batch: list[Message]) -> None:
        """Moves the checkpoints past ``batch``, which Kafka acknowledged.

        Raises :class:`events.store.checkpoints.CheckpointMovedError` when another relay moved a checkpoint.
        """
        last = {message.partition: message.position for message in batch}
        with connection.transaction():
            PROCESSOR.advance(connection, [(claim, last[claim.partition]) for claim in claims])

    @staticmethod
    def news(connection: Connection) -> tuple[list[Claim], list[Message]]:
        """Returns the partitions with news and their next messages. Raises :class:`LogHoleError` for a hole."""
        claims = [
            Claim(partition, position, head)
            for partition, (position, head) in PROCESSOR.progress(connection).items()
            if head > position
        ]
        if not claims:
            return [], []
        rows = connection.execute(
            statement(_PACKAGE, "relay_batch"),
            {
                "partitions": [claim.partition for claim in claims],
                "positions": [claim.position for claim in claims],
                "heads": [claim.head for claim in claims],
                "limit": _BATCH,
            },
        ).fetchall()
        batch = [Message(*row) for row in rows]
        expected = {claim.partition: claim.position for claim in claims}
        for message in batch:
            expected[message.partition] += 1
            if message.position != expected[message.partition]:
                break
        else:
            if all(expected[claim.partition] > claim.position for claim in claims):
                return claims, batch
        raise LogHoleError("the log has a hole behind the relay's checkpoint; run `cardlog log verify`")
