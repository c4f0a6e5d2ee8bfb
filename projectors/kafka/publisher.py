"""Publishes events of the log to Kafka in batches. A batch counts when every replica acknowledged it."""

import logging
from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass
from functools import partial
from typing import Any

from events.platform.settings import Settings
from projectors.kafka.security import client_options
from projectors.kafka.topic import BrokerAwayError

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
