"""Runs relays and reads the messages that they published."""

import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from confluent_kafka import Consumer, TopicPartition

from events.health.heartbeat import HeartbeatReport, reports
from events.platform.database import Connection
from events.platform.settings import Settings
from events.store import log
from events.types.envelope import PARTITIONS
from projectors.kafka.relay import Relay
from tests.support.kafka.broker import TOPIC
from tests.support.projectors.folding import noted


@contextmanager
def relaying(settings: Settings, name: str = "relay") -> Iterator[None]:
    stop = threading.Event()
    thread = threading.Thread(target=Relay(settings, stop.is_set, name).run)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(20)
        assert not thread.is_alive()


def fill(connection: Connection, count: int, *, users: int = 20) -> None:
    log.append(connection, [noted(f"note {number}", f"user {number % users}") for number in range(count)])
    log.announce(connection)


def published(settings: Settings, connection: Connection) -> Callable[[], bool]:
    """Returns a check that is true when the relay is at the end of the log."""

    def there() -> bool:
        rows = connection.execute("SELECT position FROM log.checkpoints WHERE processor = 'relay'").fetchall()
        return bool(rows) and sum(row[0] for row in rows) == sum(log.heads(connection).values())

    return there


def on_topic(settings: Settings) -> dict[int, list[Any]]:
    """Every message, by partition, in the order of its offsets."""
    consumer = Consumer({"bootstrap.servers": settings.kafka_brokers, "group.id": "test"})
    found: dict[int, list[Any]] = defaultdict(list)
    try:
        ends = {
            partition: consumer.get_watermark_offsets(TopicPartition(TOPIC, partition), timeout=10)[1]
            for partition in range(PARTITIONS)
        }
        consumer.assign([TopicPartition(TOPIC, partition, 0) for partition in range(PARTITIONS)])
        while sum(map(len, found.values())) < sum(ends.values()):
            message = consumer.poll(10)
            assert message is not None
            assert message.error() is None
            partition = message.partition()
            assert partition is not None
            found[partition].append(message)
    finally:
        consumer.close()
    return found


def headers(message: Any) -> dict[str, str]:
    return {name: value.decode() for name, value in message.headers()}


def said(connection: Connection) -> HeartbeatReport | None:
    """Returns the latest heartbeat of the relay."""
    found = [report for report in reports(connection) if report.stage == "relay"]
    return min(found, key=lambda report: report.seen_s, default=None)


def waits(connection: Connection, *words: str) -> bool:
    report = said(connection)
    return report is not None and report.state == "waiting" and all(w in (report.detail or "") for w in words)


def relayed_more_than(connection: Connection, events: int) -> bool:
    return sum(relayed(connection)) > events


def relayed(connection: Connection) -> list[int]:
    rows = connection.execute("SELECT position FROM log.checkpoints WHERE processor = 'relay'").fetchall()
    return [row[0] for row in rows]


def said_by(connection: Connection, worker: str) -> HeartbeatReport | None:
    found = [report for report in reports(connection) if (report.stage, report.worker) == ("relay", worker)]
    return found[0] if found else None
