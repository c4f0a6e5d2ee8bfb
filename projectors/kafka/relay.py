"""The relay: publishes the log to Kafka, in order, and remembers in Postgres how far it is."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable

from events.health.heartbeat import Heartbeat
from events.platform.database import connect_with_retry
from events.platform.failures import is_away
from events.platform.linger import pause
from events.platform.settings import Settings
from events.platform.sql import statement
from events.store.checkpoints import CheckpointMovedError, Claim, LogHoleError, Processor
from events.store.feed import LogFeed
from events.store.log import Connection, reason_of
from projectors.kafka.publisher import Message, Publisher
from projectors.kafka.topic import BrokerAwayError, TopicUnfitError, ensure_topic

logger = logging.getLogger(__name__)

PROCESSOR = Processor("relay")
_PACKAGE = "projectors.kafka"
_BATCH = 200  # of each partition
_IDLE_SESSION_TIMEOUT_MS = 15_000
_SLOW_S = 2.0
_PATIENCE_S = 0.1
_LONGEST_PAUSE_S = 5.0


class Relay:
    """Publishes until told to stop.

    A checkpoint moves once Kafka has acknowledged what is below it, so a kill at any instant leaves nothing out and
    repeats a batch at most; consumers drop that by position. One relay publishes, by a lock of its connection; others
    stand by and take over. While Kafka is away it says so, keeps trying, and the log keeps everything.
    """

    def __init__(self, settings: Settings, stopping: Callable[[], bool], worker: str = "1") -> None:
        self._settings = settings
        self._stopping = stopping
        self._heartbeat = Heartbeat(settings.database_url, PROCESSOR.name, worker)
        self._feed = LogFeed(settings.database_url, PROCESSOR.name, stopping)
        self._delay = _PATIENCE_S

    def run(self) -> None:
        """Publish until ``stopping``. Waits out a Postgres or a Kafka that is away."""
        with self._heartbeat:
            while not self._stopping():
                connection = connect_with_retry(
                    self._settings.database_url, application="relay", stopping=self._stopping
                )
                if connection is None or not self._feed.open():
                    break
                try:
                    # Whoever is stopped in the middle would keep the lock for ever: the server ends its session.
                    connection.execute(
                        statement(_PACKAGE, "set_idle_session_timeout"), {"idle_ms": _IDLE_SESSION_TIMEOUT_MS}
                    )
                    PROCESSOR.open(connection)
                    if self._lead(connection):
                        self._publish(connection)
                except CheckpointMovedError as error:
                    logger.warning("standing by: %s", error)
                except (BrokerAwayError, TopicUnfitError) as error:
                    logger.warning("publishing stands still: %s", error)
                    self._pause_after_failure(str(error))
                except Exception as error:
                    if is_away(error):
                        logger.warning("postgres went away while publishing, trying again: %s", error)
                        self._pause_after_failure(f"postgres went away: {reason_of(error)}")
                    else:
                        logger.exception("publishing stands still, trying again")
                        self._pause_after_failure(reason_of(error))
                finally:
                    connection.close()
                    self._feed.close()
        logger.info("relay stopped")

    def _pause_after_failure(self, why: str) -> None:
        self._heartbeat.waiting(why)
        pause(self._delay, self._stopping)
        self._delay = min(self._delay * 2, _LONGEST_PAUSE_S)

    def _lead(self, connection: Connection) -> bool:
        """Wait until no other relay publishes; False when told to stop on the way."""
        while not self._stopping():
            row = connection.execute(statement(_PACKAGE, "try_leader_lock")).fetchone()
            if row is not None and row[0]:
                return True
            self._heartbeat.running("another relay publishes; this one would take over")
            self._feed.wait()
        return False

    def _publish(self, connection: Connection) -> None:
        ensure_topic(self._settings)
        with Publisher(self._settings) as publisher:
            logger.info("publishing to %s at %s", self._settings.kafka_topic, self._settings.kafka_brokers)
            while not self._stopping():
                passed = self.step(connection, publisher)
                if passed is None:
                    return
                self._delay = _PATIENCE_S
                self._heartbeat.running()
                self._heartbeat.passed(passed)
                if not passed:
                    self._feed.wait()

    def step(self, connection: Connection, publisher: Publisher) -> int | None:
        """Publish one batch, and move the checkpoints behind it; how many events that was.

        None when told to stop before Kafka acknowledged it all. Raises :class:`BrokerAwayError`, and
        :class:`LogHoleError` for a log with a hole; the checkpoints then stay.
        """
        claims, batch = self.news(connection)
        if not batch:
            return 0
        since = time.monotonic()

        def waiting(trouble: str | None) -> bool:
            connection.execute(statement(_PACKAGE, "ping"))  # or the leash ends this session
            slow = time.monotonic() - since
            if slow > _SLOW_S:
                why = trouble or "nothing is acknowledged"
                self._heartbeat.waiting(f"kafka at {self._settings.kafka_brokers}: {why}")
            return not self._stopping()

        if not publisher.publish(batch, waiting):
            return None
        self.move(connection, claims, batch)
        return len(batch)

    @staticmethod
    def move(connection: Connection, claims: list[Claim], batch: list[Message]) -> None:
        """All of ``batch`` is published: the checkpoints move behind it."""
        last = {message.partition: message.position for message in batch}
        with connection.transaction():
            PROCESSOR.advance(connection, [(claim, last[claim.partition]) for claim in claims])

    @staticmethod
    def news(connection: Connection) -> tuple[list[Claim], list[Message]]:
        """The partitions with news, and what is to be published of them. Raises :class:`LogHoleError`."""
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
        raise LogHoleError("the log does not continue where the relay stands; run `cardlog log verify`")
