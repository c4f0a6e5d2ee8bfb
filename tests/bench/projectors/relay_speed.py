"""Measures the cost and gain of Kafka: events/s through the relay, two workers against one, the added latency.

Broker, Postgres and workers share this machine. The floor of the relay is reading the same rows without publishing
them; the floor of the latency is the same worker fed by the log itself. ``--real`` takes Apache Kafka from its jars
(Java 17 and Maven), else it is librdkafka's broker, in memory, which answers a fetch only when its time is up: what it
adds to the latency says nothing.
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import threading
import time
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from deploy.embedded.postgres import EmbeddedPostgres
from events.platform.database import Connection, connect
from events.platform.settings import Settings
from events.store import log
from projectors.cards.projector import CardsProjector
from projectors.generations.generations import ensure_live
from projectors.kafka.relay import PROCESSOR, Relay
from tests.bench.deploy.way import behind
from tests.bench.support.history import fill
from tests.bench.support.stack import new_database
from tests.support.kafka.broker import Broker, MockBroker
from tests.support.kafka.real import RealBroker, why_not
from tests.support.kafka.workers import Workers
from tests.support.projectors.folding import noted
from tests.support.waiting import working

USERS = 500
RELAYED, SCALED, ADDED_MS = 20_000, 1.6, 100


def database(server: str, name: str, events: int) -> str:
    """A database with so many events in its log, and an empty generation of cards."""
    url = new_database(server, name)
    with connect(url, application="bench") as connection:
        if events:
            fill(connection, events, users=USERS)
        ensure_live(connection, CardsProjector())
    return url


def until_level(connection: Connection, processor: str) -> float:
    """Events a second from the first move of the processor to the head of the log."""
    whole = behind(connection, processor)
    while whole <= 0 or behind(connection, processor) == whole:
        time.sleep(0.02)
        whole = max(whole, behind(connection, processor))
    began, left = time.perf_counter(), behind(connection, processor)
    while behind(connection, processor):
        time.sleep(0.02)
    return left / (time.perf_counter() - began)


def reading(url: str) -> float:
    """Rows a second, as the relay reads them, and no more."""
    relay = Relay(replace(Settings(), database_url=url), lambda: False)
    with connect(url, application="bench") as connection:
        PROCESSOR.open(connection)
        began, count = time.perf_counter(), 0
        while True:
            claims, batch = relay.news(connection)
            if not batch:
                break
            count += len(batch)
            relay.move(connection, claims, batch)
        rate = count / (time.perf_counter() - began)
    forget(url)
    return rate


def forget(url: str) -> None:
    """Sets the relay back to its start."""
    with connect(url, application="bench") as connection:
        connection.execute("DELETE FROM log.checkpoints WHERE processor = 'relay'")


def relaying(url: str, broker: Broker) -> float:
    """Events a second through the relay, from the first acknowledged to the last."""
    stop = threading.Event()
    settings = replace(Settings(), database_url=url, kafka_brokers=broker.address)
    with connect(url, application="bench") as connection:
        PROCESSOR.open(connection)
        with working(Relay(settings, stop.is_set).run, stop):
            return until_level(connection, "relay")


def folding(url: str, broker: Broker, folder: Path, workers: int) -> float:
    """Events a second that the workers fold into cards, from the moment when all of them run."""
    with (
        closing(Workers(folder, CARDLOG_DATABASE_URL=url, CARDLOG_KAFKA_BROKERS=broker.address)) as running,
        connect(url, application="bench") as connection,
    ):
        for number in range(workers):
            running.start(
                f"cards-{number}", "projector", CARDLOG_BATCH_EVENTS="64", CARDLOG_KAFKA_FALLBACK_S="600"
            )
        return until_level(connection, "cards")


def latency(url: str, broker: Broker | None, folder: Path, *, count: int = 60) -> list[float]:
    """Milliseconds from the append of an event to its card, measured one after the other."""
    brokers = "" if broker is None else broker.address
    took = []
    with (
        closing(Workers(folder, CARDLOG_DATABASE_URL=url, CARDLOG_KAFKA_BROKERS=brokers)) as running,
        connect(url, application="bench") as connection,
    ):
        if broker is not None:
            running.start("relay", "relay")
        running.start("cards", "projector", CARDLOG_KAFKA_FALLBACK_S="600")
        for number in range(count + 10):
            began = time.perf_counter()
            log.append(connection, [noted(f"note {number}", f"user {number % 50}")])
            log.announce(connection)
            while behind(connection, "cards"):
                time.sleep(0.001)
            took.append((time.perf_counter() - began) * 1000)
    return took[10:]  # the first events wait for the start of the processes


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--events", type=int, default=60_000)
    parser.add_argument("--real", action="store_true", help="Apache Kafka instead of librdkafka's broker")
    options = parser.parse_args()
    if options.real and (reason := why_not()):
        sys.exit(reason)

    def broker() -> Broker:
        made: Broker = RealBroker() if options.real else MockBroker()
        made.start()
        return made

    with (
        tempfile.TemporaryDirectory(prefix="cardlog-bench-") as folder,
        EmbeddedPostgres(Path(folder) / "data") as server,
    ):
        url = database(server.url, "relayed", options.events)
        floor = reading(url)
        with closing(broker()) as kafka:
            relaying(url, kafka)  # a broker that has just started is slow
            forget(url)
            relayed = relaying(url, kafka)
            forget(url)
        with closing(broker()) as kafka:
            relaying(url, kafka)
            one = folding(url, kafka, Path(folder), 1)
        url = database(server.url, "shared", options.events)
        with closing(broker()) as kafka:
            relaying(url, kafka)
            two = folding(url, kafka, Path(folder), 2)
        alone = latency(database(server.url, "alone", 0), None, Path(folder))
        with closing(broker()) as kafka:
            fed = latency(database(server.url, "fed", 0), kafka, Path(folder))
    p50, p95 = (statistics.quantiles(fed, n=20)[at] for at in (9, 18))
    q50, q95 = (statistics.quantiles(alone, n=20)[at] for at in (9, 18))
    for name, value, goal, met in (
        ("relay, events/s", relayed, RELAYED, relayed >= RELAYED),
        ("two workers / one, fold", two / one, SCALED, two / one >= SCALED),
        ("added latency p95, ms", p95 - q95, ADDED_MS, p95 - q95 <= ADDED_MS),
    ):
        print(f"{name:<32}{value:>12,.2f}  goal {goal:>9,.2f}  {'ok' if met else 'MISSED'}")
    print(json.dumps({
        "broker": "kafka" if options.real else "librdkafka", "events": options.events, "read_per_s": round(floor),
        "relay_per_s": round(relayed), "one_worker_per_s": round(one), "two_workers_per_s": round(two),
        "log_ms": [round(q50, 1), round(q95, 1)], "kafka_ms": [round(p50, 1), round(p95, 1)],
        "load": [round(each, 1) for each in os.getloadavg()],
    }))  # fmt: skip
    return 0


if __name__ == "__main__":
    sys.exit(main())
