"""Profiles a turn and a recall: processor time of each stage and of each function, commits, WAL, round trips, memory.

    make profile                    # 600 made-up turns, one table, and flame graphs in build/profile
    python tests/bench/deploy/turn_profile.py [--copies 7] [--made-up 2500] [--functions 12] [--flames FOLDER] [--sizes]

Stages run one after the other, each alone, so that the servers' time is theirs. Processor time hardly depends on what
else the machine does; times by the clock do. The turns are LoCoMo's where CARDLOG_EVAL_DATA has them, ``copies``
times under other users' names, else made up. ``--sizes`` also prints the bytes of tables, and the costs of longer
texts: deploy/commands/capacity/plan.py reckons with these numbers. ``--functions`` profiles Python, which makes the
stages slower, so compare only functions then. ``--flames`` writes sampled stacks of each stage, at little cost.
"""

from __future__ import annotations

import argparse
import cProfile
import io
import os
import pstats
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, fields, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

import httpx2
import psutil
import psycopg
from redis import Redis
from starlette.testclient import TestClient

from deploy.embedded.postgres import EmbeddedPostgres
from deploy.embedded.redis import EmbeddedRedis
from events.language.terms import analyse
from events.platform.database import Connection, connect, migrate
from events.platform.settings import Settings
from ingest.extraction.choosing import create_extractor_worker
from ingest.extraction.extractor_port import SessionBatch
from ingest.extraction.rules.extractor import RulesExtractor
from ingest.recording.intake import Intake
from ingest.recording.recorder import Recorder
from projectors.embedding.embedder import (
    DEFAULT_MODEL,
    HASH_MODEL,
    EmbedderUnavailableError,
    open_embedder,
)
from projectors.registry import projectors
from projectors.runner import Runner
from retrieval.http.read_api import create_app
from tests.bench.deploy.way import behind, pending, turns, until_visible, xadd
from tests.bench.ingest.rules_speed import recorded
from tests.bench.support.flames import sampled
from tests.bench.support.recall_data import locomo
from tests.bench.support.stack import eval_data, measured_stack
from tests.bench.support.wire import counted
from tests.support.stack import Running

MIB = 1024 * 1024
_WARMING, _ASKED = 20, 60
"""Recalls before a measurement, and in it."""


@dataclass
class Spent:
    """Seconds of one stage: by the clock, of our processor, of the servers'; bytes of write-ahead log, and commits."""

    clock: float = 0.0
    ours: float = 0.0
    postgres: float = 0.0
    redis: float = 0.0
    wal: int = 0
    commits: int = 0

    def row(self, name: str, count: int, unit: str) -> str:
        parts = (self.ours, self.postgres, self.redis, self.ours + self.postgres + self.redis)
        micro = "".join(f"{seconds / count * 1e6:10.0f}" for seconds in parts)
        rest = f"{self.wal / count:10.0f}{self.commits / count:9.3f}{count / self.clock:10.0f}"
        return f"{name:<14}{micro}{rest}  ({unit})"

    def __add__(self, other: Spent) -> Spent:
        return Spent(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))


HEADER = (
    f"{'stage':<14}{'ours us':>10}{'postgres':>10}{'redis':>10}{'together':>10}{'WAL bytes':>10}{'commits':>9}"
    f"{'a second':>10}"
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
def measured(
    postgres: int, redis: int, connection: Connection, functions: int = 0, staying: Collection[str] = ()
) -> Iterator[Spent]:
    """Measures what its body costs. With ``functions`` it prints so many functions with the most time of their own.

    It waits until the connections of the body are closed, but for applications that are ``staying``.
    """
    spent = Spent()
    commits = _commits(connection)
    wal = _one(connection, "SELECT pg_current_wal_lsn()::text")
    began = time.perf_counter(), time.process_time(), processor_time(postgres), processor_time(redis)
    profile = cProfile.Profile() if functions else None
    if profile is not None:
        profile.enable()
    yield spent
    if profile is not None:
        profile.disable()
    spent.clock = time.perf_counter() - began[0]
    spent.ours = time.process_time() - began[1]
    while _one(
        connection,
        "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'cardlog %%' "
        "AND application_name <> 'cardlog bench' AND application_name <> ALL (%s)",
        list(staying),
    ):
        time.sleep(0.05)
    spent.postgres = processor_time(postgres) - began[2]
    spent.redis = processor_time(redis) - began[3]
    spent.commits = _commits(connection) - commits
    if profile is not None:
        text = io.StringIO()
        pstats.Stats(profile, stream=text).sort_stats("tottime").print_stats(functions)
        print("\n".join(line[:150] for line in text.getvalue().splitlines()[7:]))
    spent.wal = int(_one(connection, "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), %s::pg_lsn)", wal))


def _commits(connection: Connection) -> int:
    connection.execute("SELECT pg_stat_clear_snapshot()")
    return int(
        _one(connection, "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()")
    )


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


def said(copies: int, made_up: int, lengthened: int = 1) -> list[dict[str, str]]:
    """Returns ``made_up`` turns, or those of the evaluation data when it is 0.

    ``lengthened`` repeats every text that many times, which shows the cost of a byte of text.
    """
    path = None if made_up else eval_data("locomo", "locomo_dev.json")
    once = turns(made_up or 2_500, 5) if path is None else locomo(path).turns
    return [
        turn | {"user_id": f"{turn['user_id']} {copy}", "text": " ".join([turn["text"]] * lengthened)}
        for copy in range(copies)
        for turn in once
    ]


@contextmanager
def servers() -> Iterator[tuple[Settings, Redis, tuple[int, int]]]:
    """Gives new servers: their settings, a client of the queue, and the pids of PostgreSQL and Redis."""
    with (
        tempfile.TemporaryDirectory(prefix="profile-") as folder,
        EmbeddedPostgres(Path(folder)) as postgres,
        EmbeddedRedis(Path(folder)) as queue,
    ):
        assert postgres.pid is not None
        assert queue.pid is not None
        settings = replace(
            Settings(), database_url=postgres.url, redis_url=queue.url, embed_model=_embed_model()
        )
        with connect(postgres.url, application="bench") as connection:
            migrate(connection)
        yield settings, Redis.from_url(queue.url), (postgres.pid, queue.pid)


@cache
def _embed_model() -> str:
    """Returns the embedding model of the installation, or ``hash`` and a line where it is not built."""
    try:
        open_embedder()
    except EmbedderUnavailableError as error:
        print(f"measured without embedding: {error}")
        return HASH_MODEL
    return DEFAULT_MODEL


def way(
    settings: Settings, looking: Connection, *, vectors: bool
) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yields the stages of the turns that wait in the queue, with the function that does the whole stage."""
    [coming] = Intake(settings).queues()
    coming.open()
    backlog = coming.depth
    empty = until(lambda: backlog().waiting + backlog().pending == 0)
    yield "recorder", Recorder(settings, "bench", empty).run
    done = until(lambda: _level(looking, "extractor"))
    yield "extractor", create_extractor_worker(settings, done, "bench").run
    for projector in projectors(settings):
        if vectors or projector.name != "vectors":
            done = until(
                partial(_embedded if projector.name == "vectors" else _level, looking, projector.name)
            )
            yield projector.name, Runner(settings, projector, done, "bench").run


def stages(
    pushed: list[dict[str, str]],
    *,
    vectors: bool,
    functions: int = 0,
    sizes: bool,
    flames: Path | None = None,
) -> None:
    """Measures each stage alone, over the same turns. What a process loads once is loaded before."""
    count = len(pushed)
    for text in ("I moved to Lisbon last week", "我上週搬到台北了"):
        analyse(text)
        RulesExtractor().extract(SessionBatch(tuple(recorded([{**pushed[0], "text": text}]))))
    with (
        servers() as (settings, redis, pids),
        connect(settings.database_url, application="bench") as connection,
        connect(settings.database_url, application="bench") as looking,
    ):
        before = redis.info("memory")["used_memory"]
        print(HEADER)
        with measured(*pids, connection) as total:
            xadd(redis, pushed)
        print(total.row("pushing", count, "turn"))
        waiting = (redis.info("memory")["used_memory"] - before) / count
        for name, run in way(settings, looking, vectors=vectors):
            with (
                measured(*pids, connection, functions) as spent,
                nullcontext() if flames is None else sampled(flames / f"{name}.txt"),
            ):
                run()
            print(spent.row(name, count, "turn"), flush=True)
            total += spent
        together = (total.ours + total.postgres + total.redis) / count
        print(total.row("together", count, "turn"), f"{1 / together:.0f} turns/s of one core")
        recalls(settings, pushed, pids, connection, functions, flames)
        if sizes:
            length = statistics.mean(len(turn["text"].encode()) for turn in pushed)
            print(f"{length:.0f} bytes of text a turn, {waiting:.0f} in Redis")
            print_sizes(connection, count, vectors=vectors)


def recalls(
    settings: Settings,
    pushed: list[dict[str, str]],
    pids: tuple[int, int],
    connection: Connection,
    functions: int,
    flames: Path | None,
) -> None:
    """Measures recalls of the read service in this process, and what they send over the wire to PostgreSQL."""
    asked = [
        {"user_id": turn["user_id"], "query": turn["text"]}
        for turn in pushed[:: max(1, len(pushed) // (_WARMING + _ASKED))]
    ]
    with counted(settings.database_url) as wire:
        for url in (settings.database_url, wire.url):
            app = create_app(replace(settings, database_url=url, auth="off", audit="off"))
            with TestClient(app) as client:
                for body in asked[:_WARMING]:
                    client.post("/v1/recall", json=body).raise_for_status()
                wire.clear()
                kept = _one(connection, "SELECT array_agg(application_name) FROM pg_stat_activity")
                by_wire = url == wire.url
                with (
                    measured(*pids, connection, 0 if by_wire else functions, kept) as spent,
                    nullcontext() if by_wire or flames is None else sampled(flames / "recall.txt"),
                ):
                    for body in asked[_WARMING:]:
                        client.post("/v1/recall", json=body).raise_for_status()
                count = len(asked) - _WARMING
                row = wire.row if by_wire else spent.row
                print(row("recall", count, "recall"), flush=True)


def print_sizes(connection: Connection, count: int, *, vectors: bool) -> None:
    """Prints the bytes of log, cards and vectors."""
    events = int(_one(connection, "SELECT count(*) FROM log.events"))
    payload = float(_one(connection, "SELECT avg(octet_length(data::text)) FROM log.events"))
    log_size = size(connection, "log", "events")
    print(
        f"log: {events / count:.2f} events and {log_size / count:.0f} bytes a turn; "
        f"{log_size / events:.0f} bytes an event, {payload:.0f} of them payload"
    )
    cards = int(_one(connection, "SELECT count(*) FROM cards.cards"))
    tables = size(connection, "cards")
    print(f"cards: {cards / count:.2f} a turn, {tables / cards:.0f} bytes each, {tables / count:.0f} a turn")
    for table in ("cards", "words", "statements", "relations"):
        print(f"    {table:<16}{size(connection, 'cards', table) / count:8.0f} bytes a turn")
    if vectors:
        stored = int(_one(connection, "SELECT count(*) FROM vectors.card_vectors_384"))
        rows = size(connection, "vectors", "card_vectors_384")
        signs = int(_one(connection, "SELECT pg_relation_size('vectors.card_vectors_384_signs')"))
        cache = size(connection, "vector_cache")
        print(
            f"vectors: {stored / count:.2f} a turn; {rows / stored:.0f} bytes each, "
            f"{signs / stored:.0f} of them the index of signs; cache {cache / count:.0f} bytes a turn"
        )


def _embedded(connection: Connection, processor: str) -> bool:
    """True when no card waits for its vector."""
    return _level(connection, processor) and pending(connection) == 0


def _level(connection: Connection, processor: str) -> bool:
    """True when a processor has begun and has no work left."""
    begun = _one(connection, "SELECT count(*) FROM log.checkpoints WHERE processor = %s", processor)
    return begun > 0 and behind(connection, processor) == 0


def services(made_up: int) -> None:
    """Measures the cost of requests in the services, and the memory of each process of a stack."""
    path = None if made_up else eval_data("locomo", "locomo_dev.json")
    print("starting a stack", flush=True)
    with measured_stack(CARDLOG_EMBED_MODEL=_embed_model()) as running:
        pushed = said(1, made_up)
        xadd(running.redis, pushed[: len(pushed) // 2])
        until_visible(running, len(pushed) // 2, "vectors")
        kinds = {
            name: running.workers(name)
            for name in ("recorder", "extractor", "projector", "vectors", "write", "read")
        }
        postgres = _postgres(running)
        with httpx2.Client(timeout=30, headers=running.headers) as client:
            some = pushed[len(pushed) // 2 :][:200]
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
                [(each.user_id + " 0", each.text) for each in locomo(path).questions[: _WARMING + _ASKED]]
                if path is not None
                else [(turn["user_id"], turn["text"]) for turn in some[: _WARMING + _ASKED]]
            )
            server = kinds["read"][0]
            for number, (user, query) in enumerate(asked):
                if number == _WARMING:
                    began, database, clock = _own(server), processor_time(postgres), time.perf_counter()
                client.post(f"{running.read_url}/v1/recall", json={"user_id": user, "query": query})
            each = len(asked) - _WARMING
            print(
                f"read: {(_own(server) - began) / each * 1e3:.1f} ms of ours a recall, "
                f"{(processor_time(postgres) - database) / each * 1e3:.1f} ms of postgres, "
                f"{(time.perf_counter() - clock) / each * 1e3:.1f} ms by the clock"
            )
        print_memory(running)


def print_memory(running: Running) -> None:
    """Prints the proportional memory of each process of a stack: a page of several processes is shared out."""
    root = psutil.Process(running.process.pid)
    found: dict[str, list[float]] = {}
    for process in (root, *root.children(recursive=True)):
        with suppress(psutil.Error):
            name = process.name().removesuffix("3")
            found.setdefault("postgres" if "postgres" in name else name, []).append(
                process.memory_full_info().pss / MIB
            )
    for name, each in sorted(found.items(), key=lambda item: -sum(item[1])):
        print(f"{name:<14}{len(each):3} processes{sum(each):8.0f} MiB")
    print(
        f"{'together':<14}{sum(map(len, found.values())):3} processes{sum(map(sum, found.values())):8.0f} MiB"
    )
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
    parser.add_argument(
        "--made-up", type=int, default=0, help="so many made-up turns, and no evaluation data"
    )
    parser.add_argument("--functions", type=int, default=0, help="functions to print for each stage")
    parser.add_argument("--flames", type=Path, help="folder for the sampled stacks of each stage")
    parser.add_argument("--sizes", action="store_true")
    options = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, python {sys.version.split()[0]}")
    some = said(options.copies, options.made_up)
    stages(
        some,
        vectors=not options.sizes,
        functions=options.functions,
        sizes=options.sizes,
        flames=options.flames,
    )
    if options.sizes:
        for lengthened in (1, 3):
            longer = said(1, options.made_up, lengthened=lengthened)
            stages(longer, vectors=True, sizes=True)
    services(options.made_up)


if __name__ == "__main__":
    main()
