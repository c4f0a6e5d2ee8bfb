"""The relay: publishes the log to Kafka in order and in batches. Its checkpoints are in Postgres."""

import logging
import time
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import Any

from events.health.log_worker import LogWorker
from events.platform.database import Connection, statement
from events.platform.settings import Settings
from events.store.batches import RoundResult
from events.store.checkpoints import Claim, LogHoleError, Processor
from events.store.feed import LogFeed
from projectors.kafka.broker import BrokerAwayError, TopicUnfitError, client_options, ensure_topic

logger = logging.getLogger(__name__)

_LONGEST_LINE = 900_000  # Bytes. Brokers take a million bytes by default.
_TOO_LARGE = 10  # Kafka's error code MESSAGE_TOO_LARGE.
_LOOK_EVERY_S = 0.5
_TIMEOUT_MS = 60_000


@dataclass(frozen=True, slots=True)
class Message:
    """An event to publish: its event line, and the headers that a consumer reads first."""

    partition: int
    position: int
    event_id: str
    user_id: str
    type: str
    schema_version: int
    line: str


class Publisher:
    """Publishes with an idempotent producer. The order in each partition is the order of the log."""

    def __init__(self, settings: Settings) -> None:
        from confluent_kafka import Producer  # noqa: PLC0415 - an extra: not everywhere

        self._topic = settings.kafka_topic
        self._brokers = settings.kafka_brokers
        self._client_error: str | None = None
        journal = logging.getLogger(f"{__name__}.client")
        journal.setLevel(logging.CRITICAL)
        self._producer = Producer(
            {
                **client_options(settings),
                "enable.idempotence": True,
                "acks": "all",
                "linger.ms": 5,
                "message.timeout.ms": _TIMEOUT_MS,
                "delivery.report.only.error": True,
                "error_cb": self._keep_error,
            },
            logger=journal,
        )
        self._failed: str | None = None

    def close(self) -> None:
        """Drops every message that Kafka did not acknowledge. The next publisher publishes those again."""
        self._producer.purge()
        self._producer.flush(0)

    def publish(self, batch: Sequence[Message], waiting: Callable[[str | None], bool]) -> bool:
        """Publishes ``batch`` and returns True when Kafka acknowledged every message.

        Calls ``waiting`` twice a second meanwhile, with the last error of the client or None. When ``waiting`` returns
        False, the method gives up and returns False. A message that is too large for the broker is published again
        without its line, together with the batch. Raises :class:`BrokerAwayError` when Kafka refuses a message for
        another reason.
        """
        without: set[tuple[int, int]] = set()
        while (acknowledged := self._publish(batch, without, waiting)) and self._too_large:
            if self._too_large <= without:
                raise BrokerAwayError(
                    f"kafka at {self._brokers} takes no message, not even an empty one: raise message.max.bytes"
                )
            logger.warning(
                "%d messages are too large for kafka and are published without their lines: readers look in the log",
                len(self._too_large - without),
            )
            without |= self._too_large
        return acknowledged

    def _publish(
        self, batch: Sequence[Message], without: Set[tuple[int, int]], waiting: Callable[[str | None], bool]
    ) -> bool:
        self._failed = self._client_error = None
        self._too_large: set[tuple[int, int]] = set()
        produce, topic = self._producer.produce, self._topic
        for message in batch:
            line = message.line.encode()
            place = (message.partition, message.position)
            produce(
                topic,
                # A message without its line still announces the event. Readers then read the event from the log.
                line if len(line) <= _LONGEST_LINE and place not in without else b"",
                message.user_id.encode(),
                message.partition,
                on_delivery=partial(self._deliver, place),
                headers=[
                    ("position", str(message.position).encode()),
                    ("event_id", message.event_id.encode()),
                    ("type", message.type.encode()),
                    ("version", str(message.schema_version).encode()),
                ],
            )
        while self._producer.flush(_LOOK_EVERY_S):
            if not waiting(self._client_error):
                return False
        if self._failed is not None:
            raise BrokerAwayError(f"kafka at {self._brokers} did not take a message: {self._failed}")
        return True

    def _deliver(self, place: tuple[int, int], error: Any, _message: object) -> None:
        if error is None:
            return
        if error.code() == _TOO_LARGE:
            self._too_large.add(place)
        elif self._failed is None:
            self._failed = str(error)

    def _keep_error(self, error: object) -> None:
        self._client_error = str(error)


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
