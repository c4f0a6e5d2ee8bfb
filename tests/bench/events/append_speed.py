"""Compares appends to the log with their floor: multi-row inserts of the same rows into a bare table.

The bare table has the log's columns and no key, index, trigger or digest chain; both sides send batches of
500 rows from as many writers, and are measured in turn, three rounds each. Medians and ratios are printed.
"""

import multiprocessing
import statistics
import sys
import tempfile
import time
from pathlib import Path

import psycopg
from psycopg import sql

from deploy.embedded.postgres import EmbeddedPostgres
from events.platform.database import connect, migrate
from events.store import log
from events.types.codec import describe, encode
from events.types.envelope import NewEvent, partition_of
from tests.support.events.turns import recorded, turn

BATCH = 500
SECONDS = 4.0
ROUNDS = 3
_COLUMNS = 16


def events(writer: int, number: int) -> list[NewEvent]:
    """A batch of turns of one writer's users."""
    words = "I bought a lamp and two chairs at the market in Lisbon this morning, number"
    ids = [f"{writer}-{number}-{index}" for index in range(BATCH)]
    return [
        turn(
            f"user {writer} {index % 10}",
            recorded(f"{words} {each}.", turn_id=each),
            dedupe_key=f"turn/{each}",
        )
        for index, each in enumerate(ids)
    ]


def append(connection: psycopg.Connection, batch: list[NewEvent], _number: int) -> None:
    log.append(connection, batch)


def insert(connection: psycopg.Connection, batch: list[NewEvent], number: int) -> None:
    """The floor: one INSERT of all rows, with values made up where the log would compute them."""
    values: list[object] = []
    for index, event in enumerate(batch):
        name, version = describe(event.payload)
        values += [
            partition_of(event.user_id), number * BATCH + index, event.event_id, event.user_id, event.stream,
            index, name, version, event.dedupe_key, event.occurred_at, event.occurred_at, event.actor, None, None,
            encode(event.payload).decode(), b"0" * 32,
        ]  # fmt: skip
    connection.execute(_insert_statement(len(batch)), values)


def _insert_statement(rows: int) -> sql.Composed:
    row = sql.SQL("({})").format(sql.SQL(", ").join([sql.Placeholder()] * _COLUMNS))
    return sql.SQL("INSERT INTO bare VALUES {}").format(sql.SQL(", ").join([row] * rows))


def write(url: str, side: str, writer: int, round_: int, ready: object, counts: object) -> None:
    """One writer for a few seconds. The batches are made beforehand, so only the writing is timed."""
    act = append if side == "append" else insert
    with connect(url, application="bench") as connection:
        batches = [events(writer, round_ * 10_000 + number) for number in range(60)]
        ready.wait()  # type: ignore[attr-defined]
        began = time.perf_counter()
        done = 0
        for number, batch in enumerate(batches):
            act(connection, batch, number)
            done += BATCH
            if time.perf_counter() - began > SECONDS:
                break
        counts.put(done / (time.perf_counter() - began))  # type: ignore[attr-defined]


def rate(url: str, side: str, writers: int, round_: int) -> float:
    context = multiprocessing.get_context("spawn")
    ready, counts = context.Barrier(writers), context.Queue()
    processes = [
        context.Process(target=write, args=(url, side, writer, round_, ready, counts))
        for writer in range(writers)
    ]
    for process in processes:
        process.start()
    total = sum(counts.get() for _ in processes)
    for process in processes:
        process.join()
    return float(total)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, EmbeddedPostgres(Path(folder)) as server:
        with connect(server.url, application="bench") as connection:
            migrate(connection)
            connection.execute("CREATE TABLE bare AS SELECT * FROM log.events")
        for writers in (1, 16):
            rates: dict[str, list[float]] = {"append": [], "insert": []}
            for round_ in range(ROUNDS):
                for side, measured in rates.items():
                    measured.append(rate(server.url, side, writers, writers * 100 + round_))
            ours, floor = statistics.median(rates["append"]), statistics.median(rates["insert"])
            pairs = [a / b for a, b in zip(rates["append"], rates["insert"], strict=True)]
            sys.stdout.write(
                f"{writers:>2} writers: append {ours:8.0f} events/s, bare multi-row insert {floor:8.0f} rows/s, "
                f"ratio {statistics.median(pairs):.2f} (min {min(pairs):.2f}, max {max(pairs):.2f})\n"
            )


if __name__ == "__main__":
    main()
