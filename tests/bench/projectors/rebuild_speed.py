"""Measures the rebuild of the card tables beside COPY of the same rows and live folding.

    python tests/bench/projectors/rebuild_speed.py [--events 1000000] [--users 1000] [--workers 3]

A made-up history, a tenth of it first, on an embedded server of its own in a temporary folder (about 5 GB at
a million events). COPY loads the finished tables from files, over as many connections and with the same
indexes and statistics as the rebuild. Exit status 1 when a goal is missed.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from psycopg import sql

from deploy.embedded.postgres import EmbeddedPostgres
from events.platform.database import Connection, connect
from events.platform.settings import Settings
from projectors.cards.projector import CardsProjector
from projectors.generations.generations import ensure_live, list_generations, use_schema
from projectors.rebuild.bulk_load import bulk_connection
from projectors.rebuild.rebuild import Rebuild, RebuildResult, usual_workers
from projectors.runner import Runner
from tests.bench.support.history import fill
from tests.bench.support.stack import new_database

RATE, COPIES, GROWTH, LIVE = 20_000, 3.0, 1.15, 3_000
TABLES = ("cards", "statements", "relations", "card_counts", "words")
LIVE_EVENTS = 20_000


def measure(server: str, name: str, events: int, users: int, workers: int) -> tuple[str, RebuildResult]:
    """A database with a history, and the rebuild of its cards."""
    url = new_database(server, name)
    with connect(url, application="bench") as connection:
        say(f"{name}: making a history of {events:,} events")
        fill(connection, events, users=users)
        connection.execute("CHECKPOINT")
    say(f"{name}: rebuilding")
    outcome = Rebuild(replace(Settings(), database_url=url), CardsProjector(), workers=workers).run()
    stages = ", ".join(f"{stage} {spent:.1f} s" for stage, spent in outcome.stages.items())
    say(f"{name}: {outcome.seconds:.1f} s, {outcome.events_per_s:,.0f} events/s ({stages})")
    return url, outcome


def copy_seconds(url: str, folder: Path, workers: int) -> float:
    """Seconds that COPY takes for the finished tables from files, with indexes and statistics made afterwards."""
    projector = CardsProjector()
    files: list[tuple[str, Path]] = []
    with connect(url, application="bench") as connection:
        for table in TABLES:
            files += copied_out(connection, table, folder, workers)
        with connection.transaction():
            connection.execute("CREATE SCHEMA copied")
            use_schema(connection, "copied")
            for step in projector.steps("tables"):
                connection.execute(step)
        connection.execute("CHECKPOINT")

    def load(item: tuple[str, Path]) -> None:
        table, path = item
        command = sql.SQL("COPY {} FROM STDIN").format(sql.Identifier(table))
        with (
            bulk_connection(url, "bench", "copied") as own,
            own.cursor() as cursor,
            path.open("rb") as file,
            cursor.copy(command) as copy,
        ):
            while block := file.read(1 << 20):
                copy.write(block)

    def finish(step: sql.SQL) -> None:
        with bulk_connection(url, "bench", "copied") as own:
            own.execute(step)

    began = time.perf_counter()
    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(load, files))
        list(pool.map(finish, projector.steps("indexes")))
        list(pool.map(finish, projector.steps("statistics")))
    seconds = time.perf_counter() - began
    with connect(url, application="bench") as connection:
        connection.execute("DROP SCHEMA copied CASCADE")
    return seconds


def copied_out(connection: Connection, table: str, folder: Path, parts: int) -> list[tuple[str, Path]]:
    """Writes the rows of a table into files of like size, split by the user's hash."""
    found = []
    for part in range(parts):
        path = folder / f"{table}.{part}"
        query = sql.SQL(
            "COPY (SELECT * FROM cards.{} WHERE abs(hashtext(user_id)) % {} = {} ORDER BY user_id) TO STDOUT"
        ).format(sql.Identifier(table), sql.Literal(parts), sql.Literal(part))
        with connection.cursor() as cursor, cursor.copy(query) as copy, path.open("wb") as file:
            for block in copy:
                file.write(block)
        found.append((table, path))
    return found


def live_rate(server: str, users: int) -> float:
    """Events a second through one live runner, into tables that are not empty."""
    url = new_database(server, "live")
    runner = Runner(replace(Settings(), database_url=url), CardsProjector(), lambda: False)
    with connect(url, application="bench") as connection:
        fill(connection, LIVE_EVENTS * 2, users=users)
        ensure_live(connection, CardsProjector())
        folded = 0
        while folded < LIVE_EVENTS:
            folded += runner.step(connection)
        began, start = time.perf_counter(), folded
        while passed := runner.step(connection):
            folded += passed
        return (folded - start) / (time.perf_counter() - began)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--users", type=int, default=1_000)
    parser.add_argument("--workers", type=int, default=usual_workers())
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="cardlog-bench-") as folder,
        EmbeddedPostgres(Path(folder) / "data") as server,
    ):
        live = live_rate(server.url, options.users)
        say(f"live: {live:,.0f} events/s")
        _, small = measure(server.url, "tenth", options.events // 10, options.users, options.workers)
        url, large = measure(server.url, "whole", options.events, options.users, options.workers)
        loading = copy_seconds(url, Path(folder), options.workers)
        say(f"COPY: {loading:.1f} s")
        with connect(url, application="bench") as connection:
            [size] = [s.bytes for s in list_generations(connection, "cards") if s.status == "live"]
    growth = (large.seconds / large.events) / (small.seconds / small.events)
    goals: list[tuple[str, float, Callable[[float, float], bool], float]] = [
        ("rebuild, events/s", large.events_per_s, float.__ge__, RATE),
        ("rebuild / COPY, time", large.seconds / loading, float.__le__, COPIES),
        (f"time an event, {large.events:,} / {small.events:,}", growth, float.__le__, GROWTH),
        ("live fold, events/s", live, float.__ge__, LIVE),
    ]
    for name, value, compare, goal in goals:
        print(
            f"{name:<44}{value:>12,.2f}  goal {goal:>9,.2f}  {'ok' if compare(value, float(goal)) else 'MISSED'}"
        )
    print(json.dumps({
        "events": large.events, "users": options.users, "workers": options.workers, "seconds": round(large.seconds, 2),
        "events_per_s": round(large.events_per_s), "stages": {k: round(v, 2) for k, v in large.stages.items()},
        "copy_seconds": round(loading, 2), "growth": round(growth, 3), "live_events_per_s": round(live),
        "swap_ms": round(large.swap_ms or 0, 1), "memory_mb": large.memory_bytes >> 20, "tables_mb": size >> 20,
    }))  # fmt: skip
    return 0 if all(compare(value, float(goal)) for _, value, compare, goal in goals) else 1


if __name__ == "__main__":
    sys.exit(main())
