"""The relay publishes the whole log to Kafka in order, under kills and outages, and reports its state."""

import signal
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from deploy.command import main
from events.health.health_status import read_health
from events.health.heartbeat import HeartbeatReport, reports
from events.platform.database import Connection
from events.platform.settings import Settings
from events.store import log
from events.types.envelope import PARTITIONS
from projectors.kafka import relay
from projectors.kafka.broker import TopicUnfitError, ensure_topic
from projectors.kafka.relay import Relay
from tests.support.kafka.broker import TOPIC, MockBroker, stalled
from tests.support.kafka.workers import Workers
from tests.support.projectors.folding import noted
from tests.support.waiting import eventually, working


@contextmanager
def relaying(settings: Settings, name: str = "relay") -> Iterator[None]:
    stop = threading.Event()
    with working(Relay(settings, stop.is_set, name).run, stop):
        yield


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


@pytest.fixture
def settings(database: str, broker: MockBroker) -> Settings:
    return replace(Settings(), database_url=database, kafka_brokers=broker.address)


def test_the_topic_holds_the_log(settings: Settings, connection: Connection) -> None:
    fill(connection, 300)
    with relaying(settings):
        eventually(published(settings, connection))
        fill(connection, 40, users=3)
        eventually(published(settings, connection))
    topic = on_topic(settings)
    for partition in range(PARTITIONS):
        events = log.read(connection, partition)
        lines = connection.execute(
            "SELECT log.line(e) FROM log.events e WHERE e.partition = %s ORDER BY e.position", [partition]
        ).fetchall()
        assert [message.value().decode() for message in topic[partition]] == [line for (line,) in lines]
        for message, event in zip(topic[partition], events, strict=True):
            assert message.key().decode() == event.user_id
            assert headers(message) == {
                "position": str(event.position),
                "event_id": str(event.event_id),
                "type": event.type,
                "version": str(event.schema_version),
            }


def test_a_killed_relay_leaves_nothing_out(
    settings: Settings, connection: Connection, tmp_path: Path
) -> None:
    workers = Workers(
        tmp_path, CARDLOG_DATABASE_URL=settings.database_url, CARDLOG_KAFKA_BROKERS=settings.kafka_brokers
    )
    try:
        for attempt in range(2):
            workers.start("relay", "relay")
            fill(connection, 3000)
            eventually(partial(relayed_more_than, connection, attempt * 3000))
            workers.kill("relay")
        workers.start("relay", "relay")
        # Everything may be published already, and this relay may not listen to signals yet.
        fill(connection, 100)
        eventually(published(settings, connection))
        assert workers.stop("relay") == 0
    finally:
        workers.close()
    heads = log.heads(connection)
    for partition, messages in on_topic(settings).items():
        positions = [int(headers(message)["position"]) for message in messages]
        assert set(positions) == set(range(1, heads[partition] + 1))
        # No position appears for the first time after a higher position.
        firsts = list(dict.fromkeys(positions))
        assert firsts == sorted(firsts)


def test_another_relay_waits_and_takes_over(
    settings: Settings, connection: Connection, tmp_path: Path
) -> None:
    workers = Workers(
        tmp_path, CARDLOG_DATABASE_URL=settings.database_url, CARDLOG_KAFKA_BROKERS=settings.kafka_brokers
    )
    try:
        workers.start("first", "relay")
        fill(connection, 100)
        eventually(published(settings, connection))
        with relaying(settings, "second"):
            eventually(
                lambda: "take over" in (((report := said_by(connection, "second")) and report.detail) or "")
            )
            fill(connection, 100)
            eventually(published(settings, connection))
            workers.kill("first")
            fill(connection, 100)
            eventually(published(settings, connection))
    finally:
        workers.close()
    assert sum(map(len, on_topic(settings).values())) == 300, "two at once would have repeated something"


def test_a_broker_that_is_away_is_waited_for(
    settings: Settings, connection: Connection, broker: MockBroker
) -> None:
    broker.kill()
    fill(connection, 50)
    with relaying(settings):
        eventually(lambda: waits(connection, "kafka", broker.address, "away"))
        assert sum(relayed(connection)) == 0
        broker.start()
        eventually(published(settings, connection))
        eventually(lambda: (report := said(connection)) is not None and report.state == "running")
    assert sum(map(len, on_topic(settings).values())) == 50


def test_a_stalled_broker_is_reported_and_does_not_keep_the_relay_from_stopping(
    settings: Settings, connection: Connection, broker: MockBroker
) -> None:
    with relaying(settings):
        fill(connection, 10)
        eventually(published(settings, connection))
        with stalled(broker):
            fill(connection, 10)
            eventually(lambda: waits(connection, "kafka", broker.address))
            assert sum(relayed(connection)) == 10
        eventually(published(settings, connection))
        broker.signal(signal.SIGSTOP)
        fill(connection, 10)
        eventually(lambda: waits(connection, "kafka", broker.address))
    broker.signal(signal.SIGCONT)
    assert sum(relayed(connection)) == 20
    with relaying(settings):
        eventually(published(settings, connection))
    heads = log.heads(connection)
    for partition, messages in on_topic(settings).items():
        assert {int(headers(each)["position"]) for each in messages} == set(range(1, heads[partition] + 1))


def test_a_topic_of_another_shape_is_refused(database: str, connection: Connection) -> None:
    broker = MockBroker(partitions=12)
    broker.start()
    settings = replace(Settings(), database_url=database, kafka_brokers=broker.address)
    try:
        with pytest.raises(TopicUnfitError, match=r"has 12 partitions, the log has 64.*CARDLOG_KAFKA_TOPIC"):
            ensure_topic(settings)
        fill(connection, 5)
        with relaying(settings):
            eventually(lambda: waits(connection, "12 partitions"))
        assert sum(relayed(connection)) == 0
    finally:
        broker.close()


def test_an_event_too_long_for_a_message_is_announced_without_its_words(
    settings: Settings, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay, "_LONGEST_LINE", 2000)
    log.append(connection, [noted("short"), noted("long " * 500), noted("short again")])
    with relaying(settings):
        eventually(published(settings, connection))
    [messages] = on_topic(settings).values()
    assert [len(message.value() or b"") > 0 for message in messages] == [True, False, True]
    assert [headers(message)["position"] for message in messages] == ["1", "2", "3"]


def test_a_relay_that_stopped_is_no_stage_any_more_and_one_that_was_killed_is(
    settings: Settings, connection: Connection
) -> None:
    def stages() -> list[str]:
        return [stage.name for stage in read_health(connection).readers]

    assert "relay" not in stages()
    with relaying(settings):
        eventually(lambda: "relay" in stages())
    eventually(lambda: "relay" not in stages())
    connection.execute(
        "UPDATE log.heartbeats SET state = 'running', seen_at = now() - interval '1 minute' WHERE stage = 'relay'"
    )
    [relay] = [stage for stage in read_health(connection).readers if stage.name == "relay"]
    assert relay.state == "stopped"


@pytest.mark.parametrize(
    ("brokers", "message"),
    [("", "CARDLOG_KAFKA_BROKERS is not set"), ("nowhere", "'nowhere': use host:port")],
)
def test_a_relay_without_brokers_names_the_setting(
    brokers: str,
    message: str,
    database: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("CARDLOG_DATABASE_URL", database)
    monkeypatch.setenv("CARDLOG_KAFKA_BROKERS", brokers)
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    try:
        assert main(["work", "relay"]) == 2
    finally:
        for number, handler in zip((signal.SIGINT, signal.SIGTERM), before, strict=True):
            signal.signal(number, handler)
    assert message in capsys.readouterr().err
