"""A whole Cardlog of single processes on Kafka, two of each. Each is killed in turn at a hundred turns a second."""

import os
import random
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import psycopg
import pytest
from redis import Redis

from events.platform.settings import Settings
from projectors.cards.projector import CardsProjector
from projectors.rebuild.rebuild import Rebuild
from tests.support.chaos.load import Ledger, Pusher, Turn, plan
from tests.support.chaos.verdict import judge
from tests.support.kafka.broker import Broker, MockBroker
from tests.support.kafka.real import RealBroker, why_not
from tests.support.kafka.workers import Workers
from tests.support.waiting import eventually

TURNS_PER_SECOND = 100
USERS = 40
PUSHERS = 2
# The relay is killed first and last, so every other process meets its half-done work.
PROCESSES = {
    "relay-1": "relay",
    "relay-2": "relay",
    "recorder-1": "recorder",
    "recorder-2": "recorder",
    "extractor-1": "extractor",
    "extractor-2": "extractor",
    "projector-1": "projector",
    "projector-2": "projector",
    "vectors-1": "vectors",
    "vectors-2": "vectors",
}

pytestmark = pytest.mark.timeout(1200)


def mock() -> Broker:
    return MockBroker()


def real() -> Broker:
    if reason := why_not():
        pytest.skip(reason)
    return RealBroker()


@pytest.fixture(
    params=[mock, real] if os.environ.get("CARDLOG_TEST_KAFKA") else [mock], ids=lambda make: make.__name__
)
def broker(request: pytest.FixtureRequest) -> Iterator[Broker]:
    broker: Broker = request.param()
    broker.start()
    yield broker
    broker.close()


@pytest.fixture
def workers(database: str, redis_url: str, redis: Redis, broker: Broker, tmp_path: Path) -> Iterator[Workers]:
    workers = Workers(
        tmp_path,
        CARDLOG_DATABASE_URL=database,
        CARDLOG_REDIS_URL=redis_url,
        CARDLOG_KAFKA_BROKERS=broker.address,
        CARDLOG_RECLAIM_AFTER_MS="1500",
    )
    yield workers
    workers.close()
    with psycopg.connect(database) as connection:
        print(*connection.execute("SELECT * FROM log.heartbeats").fetchall(), sep="\n")
    print(workers.log())  # both are shown with a test that failed


def test_any_killed_process_loses_and_duplicates_nothing(
    database: str, redis_url: str, broker: Broker, workers: Workers, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger = Ledger()
    turns = plan(random.Random(7), users=USERS, turns=TURNS_PER_SECOND * 300)
    for name, kind in PROCESSES.items():
        workers.start(name, kind)
    with psycopg.connect(database, autocommit=True) as connection:
        eventually(lambda: len(_alive(connection)) == len(PROCESSES), within=90)
        stop = threading.Event()
        pushers = [
            threading.Thread(target=_push, args=(redis_url, ledger, turns[number::PUSHERS], stop))
            for number in range(PUSHERS)
        ]
        for each in pushers:
            each.start()
        try:
            began = time.monotonic()
            for name, kind in PROCESSES.items():
                before = ledger.pushes
                workers.kill(name)
                # Its partner continues alone for a while. Then the killed process returns.
                eventually(partial(_has_pushed_more_than, ledger, before + 2 * TURNS_PER_SECOND))
                workers.start(name, kind)
                eventually(partial(_is_alive, connection, name), within=60)
            broker.kill()
            before = ledger.pushes
            eventually(lambda: ledger.pushes > before + 3 * TURNS_PER_SECOND)
            broker.start()
            before = ledger.pushes
            eventually(lambda: ledger.pushes > before + 5 * TURNS_PER_SECOND)
            seconds = time.monotonic() - began
        finally:
            stop.set()
            for each in pushers:
                each.join()
        with Redis.from_url(redis_url, decode_responses=True) as redis:
            behind = _behind(redis, connection)
            while behind:  # however long a busy machine takes, as long as it goes on
                eventually(partial(_is_not_behind_by, redis, connection, behind), within=60)
                behind = _behind(redis, connection)
    verdict = judge(ledger, database)
    outcome = Rebuild(Settings(database_url=database), CardsProjector(), workers=2, verify=True).run()
    with capsys.disabled():
        print(
            f"\n{len(PROCESSES)} processes and the broker killed under {ledger.pushes / seconds:.0f} turns/s\n"
            f"turns pushed {verdict.pushed}, in log {verdict.recorded}, lost {verdict.lost}, "
            f"duplicate cards {verdict.doubled}, digest equal to a local rebuild: {outcome.equal}"
        )
    assert not verdict.faults, "\n".join(verdict.faults)
    assert outcome.equal, outcome.unequal
    assert verdict.pushed > 20 * TURNS_PER_SECOND


def _push(redis_url: str, ledger: Ledger, turns: list[Turn], stop: threading.Event) -> None:
    """Pushes at an even pace until it is stopped."""
    began = time.monotonic()
    with closing(Pusher(lambda: ("", redis_url, ""), ledger)) as pusher:
        for number, turn in enumerate(turns):
            if stop.wait(max(0.0, began + number * PUSHERS / TURNS_PER_SECOND - time.monotonic())):
                return
            pusher.push(turn)


def _has_pushed_more_than(ledger: Ledger, pushes: int) -> bool:
    return ledger.pushes > pushes


def _is_alive(connection: psycopg.Connection[tuple[str, ...]], name: str) -> bool:
    return name in _alive(connection)


def _alive(connection: psycopg.Connection[tuple[str, ...]]) -> set[str]:
    rows = connection.execute(
        """SELECT worker FROM log.heartbeats
           WHERE state <> 'stopped' AND seen_at > clock_timestamp() - interval '4 seconds'"""
    ).fetchall()
    return {row[0] for row in rows}


def _is_not_behind_by(
    redis: Redis, connection: psycopg.Connection[tuple[int, ...]], behind: tuple[object, ...]
) -> bool:
    return _behind(redis, connection) != behind


def _behind(redis: Redis, connection: psycopg.Connection[tuple[int, ...]]) -> tuple[object, ...]:
    """Returns how far the stages are behind; nothing when every turn is recorded, extracted, folded and relayed."""
    [group] = redis.xinfo_groups("turns")
    [(events,)] = connection.execute(
        """SELECT sum(h.position - c.position) FROM log.checkpoints c JOIN log.heads h USING (partition)
           LEFT JOIN log.generations g ON g.projection = c.processor AND g.generation = c.generation
           WHERE c.generation = 0 OR g.status = 'live'"""
    ).fetchall()
    delivered = group["last-delivered-id"]
    if group["pending"] or events or delivered != redis.xinfo_stream("turns")["last-generated-id"]:
        return group["pending"], delivered, events
    return ()
