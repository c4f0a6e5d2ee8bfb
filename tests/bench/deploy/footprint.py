"""Measures what a turn costs at each stage: processor time of Cardlog and the servers, memory and disk.

    python tests/bench/deploy/footprint.py [--copies 7] [--made-up]

Stages run one after the other, each alone, so that the servers' time is theirs. Processor time hardly depends on what
else the machine does; times by the clock do. The turns are LoCoMo's where CARDLOG_EVAL_DATA has them, ``copies``
times under other users' names, else made up. deploy/commands/capacity/plan.py reckons with these numbers. It
takes three minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx2
import psutil
import psycopg
from redis import Redis

from deploy.embedded.postgres import EmbeddedPostgres
from deploy.embedded.redis import EmbeddedRedis
from events.platform.database import Connection, connect, migrate
from events.platform.settings import Settings
from ingest.extraction.workers.extractor_factory import create_extractor_worker
from ingest.recording.intake import open_intake
from ingest.recording.recorder import Recorder
from projectors.registry import projectors
from projectors.runner import Runner
from tests.bench.deploy.way import behind, turns, until_visible
from tests.bench.support.recall_data import locomo
from tests.bench.support.stack import eval_data, measured_stack
from tests.support.stack import Running

MIB = 1024 * 1024


@dataclass
class Spent:
    """Seconds of one stage: by the clock, of our processor, of the servers'; and bytes of write-ahead log."""

    clock: float = 0.0
    ours: float = 0.0
    postgres: float = 0.0
    redis: float = 0.0
    wal: int = 0

    def row(self, name: str, count: int, unit: str) -> str:
        micro = [f"{seconds / count * 1e6:8.0f}" for seconds in (self.ours, self.postgres, self.redis)]
        return (
            f"{name:<12} microseconds a {unit}: ours {micro[0]}  postgres {micro[1]}  redis {micro[2]}   "
            f"{count / self.clock:8.0f} {unit}s/s by the clock, {self.wal / count:6.0f} bytes of WAL a {unit}"
        )


def processor_time(pid: int) -> float:
    """Seconds that a process and all its children have used, with the children that ended."""
    process = psutil.Process(pid)
    found = process.cpu_times()
    total = found.user + found.system + found.children_user + found.children_system
    for child in process.children(recursive=True):
        try:
            found = child.cpu_times()
        except psutil.Error:
            continue
        total += found.user + found.system + found.children_user + found.children_system
    return float(total)


@contextmanager
def measured(postgres: int, redis: int, connection: Connection) -> Iterator[Spent]:
    spent = Spent()
    wal = _one(connection, "SELECT pg_current_wal_lsn()::text")
    began = time.perf_counter(), time.process_time(), processor_time(postgres), processor_time(redis)
    yield spent
    spent.clock = time.perf_counter() - began[0]
    spent.ours = time.process_time() - began[1]
    spent.postgres = processor_time(postgres) - began[2]
    spent.redis = processor_time(redis) - began[3]
    spent.wal = int(_one(connection, "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), %s::pg_lsn)", wal))


def _one(connection: Connection, query: str, *values: Any) -> Any:
    row = connection.execute(query, values).fetchone()
    assert row is not None
    return row[0]


def until(done: Callable[[], bool]) -> Callable[[], bool]:
    """Returns a check that stops a worker once ``done``. It looks ten times a second, and not at every batch."""
    finished = threading.Event()

    def look() -> None:
        while not done():
            time.sleep(0.1)
        finished.set()

    threading.Thread(target=look, daemon=True).start()
    return finished.is_set


def size(connection: Connection, schema: str, like: str = "%") -> int:
    """Bytes of the tables of a schema with their indexes."""
    return int(
        _one(
            connection,
            "SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) "
            "FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace "
            "WHERE nspname = %s AND relkind = 'r' AND relname LIKE %s",
            schema,
            like,
        )
    )


def said(copies: int, made_up: bool, lengthened: int = 1) -> list[dict[str, str]]:
    """Returns the turns. ``lengthened`` repeats every text that many times, which shows the cost of a byte of text."""
    path = None if made_up else eval_data("locomo", "locomo_dev.json")
    once = turns(2_500, 5) if path is None else locomo(path).turns
    return [
        turn | {"user_id": f"{turn['user_id']} {copy}", "text": " ".join([turn["text"]] * lengthened)}
        for copy in range(copies)
        for turn in once
    ]


def stages(pushed: list[dict[str, str]], *, vectors: bool) -> None:
    """Measures each stage alone, over the same turns."""
    count = len(pushed)
    with (
        tempfile.TemporaryDirectory(prefix="footprint-") as folder,
        EmbeddedPostgres(Path(folder)) as postgres,
        EmbeddedRedis(Path(folder)) as queue,
    ):
        settings = replace(Settings(), database_url=postgres.url, redis_url=queue.url)
        redis = Redis.from_url(queue.url)
        assert postgres.pid is not None
        assert queue.pid is not None
        servers = (postgres.pid, queue.pid)
        with (
            connect(postgres.url, application="bench") as connection,
            connect(postgres.url, application="bench") as looking,
        ):
            migrate(connection)
            before = redis.info("memory")["used_memory"]
            with measured(*servers, connection) as spent:
                pipe = redis.pipeline(transaction=False)
                for turn in pushed:
                    pipe.xadd("turns", turn)  # type: ignore[arg-type]
                pipe.execute()
            waiting = redis.info("memory")["used_memory"] - before
            texts = [len(turn["text"].encode()) for turn in pushed]
            print(
                f"{count} turns of {statistics.mean(texts):.0f} bytes of text; "
                f"{waiting / count:.0f} bytes each in Redis"
            )
            print(spent.row("pushing", count, "turn"))

            [coming] = open_intake(settings).queues()
            coming.open()
            backlog = coming.depth
            with measured(*servers, connection) as spent:
                Recorder(settings, "bench", until(lambda: backlog().waiting + backlog().pending == 0)).run()
            print(spent.row("recorder", count, "turn"))
            recorded = size(connection, "log", "events")

            with measured(*servers, connection) as spent:
                create_extractor_worker(settings, until(lambda: _level(looking, "extractor")), "bench").run()
            print(spent.row("extractor", count, "turn"))
            events = int(_one(connection, "SELECT count(*) FROM log.events"))
            log_size = size(connection, "log", "events")
            payload = float(_one(connection, "SELECT avg(octet_length(data::text)) FROM log.events"))
            print(
                f"log: {events / count:.2f} events a turn, {recorded / count:.0f} bytes a turn recorded, "
                f"{log_size / count:.0f} with what was extracted; "
                f"{log_size / events:.0f} bytes an event, {payload:.0f} of them payload"
            )

            for projector in projectors(settings)[: 2 if vectors else 1]:
                with measured(*servers, connection) as spent:
                    name = projector.name
                    Runner(settings, projector, until(lambda: _level(looking, name)), "bench").run()  # noqa: B023
                print(spent.row(name, count, "turn"))
                if name == "cards":
                    cards = int(_one(connection, "SELECT count(*) FROM cards.cards"))
                    tables = size(connection, "cards")
                    print(
                        f"cards: {cards / count:.2f} a turn, {tables / cards:.0f} bytes each, "
                        f"{tables / count:.0f} a turn"
                    )
                    for table in (
                        "state_cards",
                        "event_cards",
                        "knowledge_cards",
                        "words",
                        "statements",
                        "relations",
                    ):
                        print(f"    {table:<16}{size(connection, 'cards', table) / count:8.0f} bytes a turn")
                else:
                    stored = int(_one(connection, "SELECT count(*) FROM vectors.card_vectors_384"))
                    rows = size(connection, "vectors", "card_vectors_384")
                    signs = int(_one(connection, "SELECT pg_relation_size('vectors.card_vectors_384_signs')"))
                    cache = size(connection, "vector_cache")
                    print(
                        f"vectors: {stored / count:.2f} a turn; {rows / stored:.0f} bytes each, "
                        f"{signs / stored:.0f} of them the index of signs; cache {cache / count:.0f} bytes a turn"
                    )


def _level(connection: Connection, processor: str) -> bool:
    """True when a processor has begun and has no work left."""
    begun = _one(connection, "SELECT count(*) FROM log.checkpoints WHERE processor = %s", processor)
    return begun > 0 and behind(connection, processor) == 0


def services(made_up: bool) -> None:
    """Measures the cost of requests in the services, and the memory of each process of a stack."""
    path = None if made_up else eval_data("locomo", "locomo_dev.json")
    with measured_stack() as running:
        pushed = said(1, made_up)
        assert running.redis.ping()
        ready = json.loads((running.data / "ready.json").read_text())
        assert ready["pid"] == running.process.pid
        for turn in pushed[: len(pushed) // 2]:
            running.redis.xadd("turns", turn)  # type: ignore[arg-type]
        until_visible(running, len(pushed) // 2, "vectors")
        kinds = {
            name: running.workers(name)
            for name in ("recorder", "extractor", "projector", "vectors", "write", "read")
        }
        postgres = _postgres(running)
        with httpx2.Client(timeout=30, headers=running.headers) as client:
            some = pushed[len(pushed) // 2 :][:500]
            server = kinds["write"][0]
            client.post(f"{running.write_url}/v1/turns", json=some[0])
            began, other = _own(server), time.perf_counter()
            for turn in some:
                assert client.post(f"{running.write_url}/v1/turns", json=turn).status_code == 202
            print(
                f"write: {(_own(server) - began) / len(some) * 1e6:.0f} microseconds of ours a turn pushed by itself, "
                f"{len(some) / (time.perf_counter() - other):.0f} turns/s by the clock"
            )
            until_visible(running, len(pushed) // 2 + len(some), "vectors")
            asked = (
                [(each.user_id + " 0", each.text) for each in locomo(path).questions[:220]]
                if path is not None
                else [(turn["user_id"], turn["text"]) for turn in some[:220]]
            )
            server = kinds["read"][0]
            for number, (user, query) in enumerate(asked):
                if number == 20:
                    began, database, clock = _own(server), processor_time(postgres), time.perf_counter()
                client.post(f"{running.read_url}/v1/recall", json={"user_id": user, "query": query})
            each = len(asked) - 20
            print(
                f"read: {(_own(server) - began) / each * 1e3:.1f} ms of ours a recall, "
                f"{(processor_time(postgres) - database) / each * 1e3:.1f} ms of postgres, "
                f"{(time.perf_counter() - clock) / each * 1e3:.1f} ms by the clock"
            )
        for name, (process, *_) in kinds.items():
            memory = process.memory_full_info()
            print(f"{name:<12}{memory.rss / MIB:6.0f} MiB resident, {memory.uss / MIB:6.0f} of its own")
        print("connections:", _connections(running))


def _own(process: psutil.Process) -> float:
    found = process.cpu_times()
    return float(found.user + found.system)


def _postgres(running: Running) -> int:
    """Returns the pid of the server's first process, found through its children, the backends."""
    with psycopg.connect(running.admin_database_url) as connection:
        row = connection.execute("SELECT pg_backend_pid()").fetchone()
        assert row is not None
        parent = psutil.Process(row[0]).ppid()
    return parent


def _connections(running: Running) -> dict[str, int]:
    with psycopg.connect(running.admin_database_url) as connection:
        return dict(
            connection.execute(
                "SELECT application_name, count(*) FROM pg_stat_activity WHERE application_name LIKE 'cardlog %' "
                "GROUP BY 1 ORDER BY 1"
            ).fetchall()
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--copies", type=int, default=7)
    parser.add_argument("--made-up", action="store_true", help="leave the evaluation data alone")
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, python {sys.version.split()[0]}")
    stages(said(options.copies, options.made_up), vectors=False)
    stages(said(1, options.made_up), vectors=True)
    stages(said(1, options.made_up, lengthened=3), vectors=True)
    services(options.made_up)


if __name__ == "__main__":
    main()
