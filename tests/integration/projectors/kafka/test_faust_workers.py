"""Workers on Kafka make the same cards as workers on the log, each once, under kills and outages."""

import itertools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from events.health.heartbeat import reports
from events.platform.database import Connection
from events.platform.settings import Settings
from events.store import log
from projectors.generations.generations import list_generations
from retrieval.http.read_api import create_app
from tests.support.events.turns import recorded, turn
from tests.support.ingest.messages_api import MessagesApi
from tests.support.kafka.broker import MockBroker, stalled
from tests.support.kafka.workers import Workers
from tests.support.projectors.folding import rebuild
from tests.support.waiting import PATIENT, eventually

START = datetime(2026, 5, 8, 9, tzinfo=UTC)
CITIES = ("Lisbon", "Porto", "Oslo", "Cairo")
WAYS = ("local", "faust")
KINDS = {"extractor": "extractor", "projector": "cards"}


class Cardlog:
    """A log, a broker, and workers between them; turns are recorded straight into the log."""

    def __init__(self, connection: Connection, broker: MockBroker, workers: Workers) -> None:
        self.connection = connection
        self.broker = broker
        self.workers = workers
        self._numbers = itertools.count()
        self.turns = 0

    def start(self, *, each: int = 1, local: bool = False) -> None:
        """The relay, and workers of every kind that makes cards."""
        brokers = "" if local else self.broker.address
        if not local:
            self.workers.start("relay", "relay", CARDLOG_KAFKA_BROKERS=brokers)
        for kind in KINDS:
            for number in range(each):
                name = f"{'local' if local else 'faust'}-{kind}-{number}"
                self.workers.start(name, kind, CARDLOG_KAFKA_BROKERS=brokers)

    def tell(self, count: int, *, users: int = 24) -> None:
        """Records ``count`` more turns of ``users`` users."""
        batch = []
        for number in itertools.islice(self._numbers, count):
            said_at = START + timedelta(minutes=number)
            text = f"I bought item number {number} yesterday."
            if number % 5 == 0:
                text = f"I moved to {CITIES[number // 5 % 4]} today."
            said = recorded(text, turn_id=str(number), said_at=said_at)
            batch.append(turn(f"user {number % users}", said, dedupe_key=f"turn/{number}"))
        log.append(self.connection, batch)
        log.announce(self.connection)
        self.turns += count

    def behind(self, name: str) -> int:
        row = self.connection.execute(
            """SELECT sum(h.position - c.position) FROM log.checkpoints c JOIN log.heads h USING (partition)
               LEFT JOIN log.generations g ON g.projection = c.processor AND g.generation = c.generation
               WHERE c.processor = %s AND (c.generation = 0 OR g.status = 'live')""",
            [name],
        ).fetchone()
        assert row is not None
        return int(row[0]) if row[0] is not None else -1

    def level(self, *names: str) -> bool:
        return all(self.behind(name) == 0 for name in names or ("extractor", "cards"))

    def settle(self) -> None:
        eventually(self.level)

    def episodes(self) -> list[str]:
        rows = self.connection.execute(
            "SELECT turn_ids[1] FROM cards.cards WHERE episode ORDER BY turn_ids[1]::int"
        ).fetchall()
        return [row[0] for row in rows]

    def check(self, database: str) -> None:
        """Every turn is one episode, read once, and the tables are what a rebuild of the log gives."""
        assert self.episodes() == [str(number) for number in range(self.turns)]
        read = self.connection.execute(
            """SELECT turn_id, count(*) FROM (
                   SELECT json_array_elements_text(data->'turn_ids') AS turn_id FROM log.events
                   WHERE type IN ('TurnsExtracted', 'ExtractionFailed')) extracted
               GROUP BY 1"""
        ).fetchall()
        assert dict(read) == dict.fromkeys(self.episodes(), 1)
        outcome = rebuild(database, verify=True)
        assert outcome.equal, outcome.unequal

    def working(self, *names: str) -> bool:
        """True when these processes run."""
        up = {report.worker for report in reports(self.connection) if report.alive}
        return set(names) <= up

    def done_by(self, stage: str) -> dict[str, int]:
        return {report.worker: report.done for report in reports(self.connection) if report.stage == stage}


@pytest.fixture
def cardlog(database: str, connection: Connection, tmp_path: Path) -> Iterator[Cardlog]:
    broker = MockBroker()
    broker.start()
    workers = Workers(tmp_path, CARDLOG_DATABASE_URL=database)
    yield Cardlog(connection, broker, workers)
    workers.close()
    broker.close()
    print(workers.log())  # shown with a test that failed


def test_a_broker_that_stalls_or_loses_everything_stops_nobody(cardlog: Cardlog, database: str) -> None:
    cardlog.start()
    cardlog.tell(100)
    cardlog.settle()
    with stalled(cardlog.broker):
        cardlog.tell(100)
        cardlog.settle()  # from the log
    cardlog.broker.kill()
    cardlog.tell(100)
    cardlog.settle()
    cardlog.broker.start()
    cardlog.tell(100)
    eventually(lambda: cardlog.level("relay"))
    cardlog.settle()
    cardlog.check(database)


def test_tables_are_swapped_under_workers_that_kafka_feeds(cardlog: Cardlog, database: str) -> None:
    cardlog.start()
    cardlog.tell(200)
    eventually(lambda: cardlog.behind("extractor") == 0)
    for _ in range(2):
        cardlog.tell(100)
        rebuild(database)
        cardlog.tell(100)
    cardlog.settle()
    assert len(list_generations(cardlog.connection, "cards")) == 3
    cardlog.check(database)


@contextmanager
def questions(database: str) -> Iterator[list[int]]:
    """Somebody asks all the time; the statuses of the answers."""
    settings = replace(
        Settings(),
        database_url=database,
        **PATIENT,
    )
    statuses: list[int] = []
    stop = threading.Event()
    with TestClient(create_app(settings)) as client:

        def ask() -> None:
            while not stop.is_set():
                asked = {"user_id": "user 0", "query": "where do I live?"}
                statuses.append(client.post("/v1/recall", json=asked).status_code)

        asking = threading.Thread(target=ask)
        asking.start()
        try:
            yield statuses
        finally:
            stop.set()
            asking.join()


def test_a_running_system_moves_to_kafka_and_back(cardlog: Cardlog, database: str) -> None:
    cardlog.start(local=True)
    cardlog.tell(200)
    cardlog.settle()
    with questions(database) as statuses:
        _there_and_back(cardlog)
    assert len(statuses) > 20
    assert set(statuses) == {200}
    cardlog.check(database)


def _there_and_back(cardlog: Cardlog) -> None:
    cardlog.start()  # beside the local workers: the second worker on a partition waits
    cardlog.tell(200)
    eventually(lambda: cardlog.working("relay", *(f"{way}-{kind}-0" for way in WAYS for kind in KINDS)))
    for kind in KINDS:
        assert cardlog.workers.stop(f"local-{kind}-0") == 0
        cardlog.tell(100)
    cardlog.settle()
    cardlog.start(local=True)
    eventually(lambda: cardlog.working(*(f"local-{kind}-0" for kind in KINDS)))
    for kind in KINDS:
        cardlog.tell(100)
        assert cardlog.workers.stop(f"faust-{kind}-0") == 0
    assert cardlog.workers.stop("relay") == 0
    cardlog.tell(100)
    cardlog.settle()


def test_kafka_gets_the_committed_offsets(cardlog: Cardlog) -> None:
    """A restarted worker begins where its group stopped, and does not read the whole topic."""
    from confluent_kafka import Consumer, TopicPartition

    cardlog.start()
    cardlog.tell(300)
    cardlog.settle()
    eventually(lambda: cardlog.level("relay"))
    consumer = Consumer({"bootstrap.servers": cardlog.broker.address, "group.id": "cardlog.events.cards"})
    partitions = [
        TopicPartition("cardlog.events", partition)
        for partition, head in log.heads(cardlog.connection).items()
        if head
    ]

    def committed() -> bool:
        found = consumer.committed(partitions, timeout=10)
        ends = [consumer.get_watermark_offsets(each, timeout=10)[1] for each in partitions]
        return [each.offset for each in found] == ends

    try:
        eventually(committed)
    finally:
        consumer.close()


def test_a_worker_says_that_it_does_not_hear_from_kafka(cardlog: Cardlog) -> None:
    cardlog.broker.kill()
    cardlog.workers.start("faust-projector-0", "projector", CARDLOG_KAFKA_BROKERS=cardlog.broker.address)

    def told() -> bool:
        details = [report.detail or "" for report in reports(cardlog.connection) if report.stage == "cards"]
        return any("is away" in each and "the log is read every 2 s instead" in each for each in details)

    eventually(told)
    cardlog.broker.start()
    eventually(lambda: not told())


def test_a_worker_whose_consumer_ended_restarts_by_itself(cardlog: Cardlog) -> None:
    name = "faust-projector-0"
    cardlog.start()
    # Faust cannot start while the broker goes away, and cannot start again in the same process.
    eventually(lambda: "listens to" in cardlog.workers.log(name))
    cardlog.broker.kill()
    eventually(lambda: "starts again" in cardlog.workers.log(name))
    cardlog.tell(40)
    cardlog.settle()
    cardlog.broker.start()
    eventually(lambda: cardlog.workers.log(name).count("listens to") > 1)
    assert cardlog.workers.alive(name)
    cardlog.tell(40)
    cardlog.settle()
    assert len(cardlog.episodes()) == cardlog.turns


def test_a_model_reads_what_kafka_brings_and_each_turn_counts_once(cardlog: Cardlog) -> None:
    with MessagesApi() as api:
        model = {"ANTHROPIC_BASE_URL": api.url, "ANTHROPIC_API_KEY": "key-of-the-test"}
        brokers = cardlog.broker.address
        cardlog.workers.start("relay", "relay", CARDLOG_KAFKA_BROKERS=brokers)
        cardlog.workers.start("projector", "projector", CARDLOG_KAFKA_BROKERS=brokers)
        for name in ("model-1", "model-2"):
            cardlog.workers.start(name, "extractor", CARDLOG_KAFKA_BROKERS=brokers, **model)
        cardlog.tell(48)
        eventually(lambda: api.requests)
        cardlog.workers.kill("model-1")
        cardlog.tell(48)
        cardlog.settle()
        rows = cardlog.connection.execute(
            "SELECT data->'turn_ids', data->>'model' FROM log.events WHERE type = 'TurnsExtracted'"
        ).fetchall()
    read = [turn for turns, _ in rows for turn in turns]
    assert sorted(map(int, read)) == list(range(cardlog.turns))
    assert all(model for _, model in rows)
