"""Measures the cost of extraction with a model beside the model's own time, and its tokens and calls.

    python tests/bench/ingest/extraction_cost.py [--turns 3000]

A loopback server in a process of its own plays the model. First it answers at once: what is left is ours. Then
each answer takes a second, 32 at a time: the ideal is turns / 32 seconds. Last, with `locomo/locomo_dev.json` in
CARDLOG_EVAL_DATA, calls and prompt tokens a turn (a quarter of the characters) before and after bursts and
caching; cached tokens are also weighed at what they cost, a tenth.
"""

import argparse
import json
import multiprocessing
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from multiprocessing.queues import SimpleQueue
from pathlib import Path
from typing import Any

from deploy.embedded.postgres import EmbeddedPostgres
from events.platform.database import Connection, connect
from events.platform.settings import Settings
from events.store import log
from events.types.envelope import NewEvent
from ingest.extraction.choosing import create_extractor_worker
from ingest.extraction.workers.rules_worker import PROCESSOR
from tests.bench.support.locomo import turns_of
from tests.bench.support.stack import eval_data, new_database
from tests.support.events.turns import recorded, turn
from tests.support.ingest.messages_api import MessagesApi
from tests.support.waiting import eventually, working

_TOWNS = ("Lisbon", "Porto", "Turin", "Ghent", "Basel", "Oslo", "Riga", "Bonn")
_COUNTED = """
    SELECT sum(json_array_length(data->'turn_ids')), sum((data#>>'{usage,calls}')::int),
           sum((data#>>'{usage,input_tokens}')::int), sum((data#>>'{usage,cache_write_tokens}')::int),
           sum((data#>>'{usage,cache_read_tokens}')::int), sum((data#>>'{usage,output_tokens}')::int)
    FROM log.events WHERE type = 'TurnsExtracted'
"""


def said(user: str, session: str, number: int, text: str, said_at: datetime, **more: Any) -> NewEvent:
    payload = recorded(text, turn_id=f"{session}-{number}", said_at=said_at, session_id=session, **more)
    return turn(user, payload)


def _serve(seconds: float, found: SimpleQueue[str]) -> None:
    with MessagesApi() as api:
        api.seconds = seconds
        found.put(api.url)
        threading.Event().wait()


@contextmanager
def server(seconds: float) -> Iterator[str]:
    """The URL of a model's server. It has its own process, so that it does not share the extractor's interpreter."""
    spawn = multiprocessing.get_context("spawn")
    found: SimpleQueue[str] = spawn.SimpleQueue()
    process = spawn.Process(target=_serve, args=(seconds, found), daemon=True)
    process.start()
    try:
        yield found.get()
    finally:
        process.terminate()
        process.join()


def spent(
    postgres: EmbeddedPostgres, name: str, turns: list[NewEvent], settings: Settings
) -> tuple[float, list[int]]:
    """Seconds until all of ``turns`` are extracted in a database of their own, and what was counted."""
    url = new_database(postgres.url, name)
    with connect(url, application="bench") as connection:
        for start in range(0, len(turns), 500):
            log.append(connection, turns[start : start + 500])
        stop = threading.Event()
        worker = create_extractor_worker(replace(settings, database_url=url), stop.is_set, "bench")
        began = time.perf_counter()
        with working(worker.run, stop):
            eventually(lambda: _caught_up(connection), within=1800)
            seconds = time.perf_counter() - began
        row = connection.execute(_COUNTED).fetchone()
        assert row is not None
        assert row[0] == len(turns)
    return seconds, [int(each or 0) for each in row]


def _caught_up(connection: Connection) -> bool:
    positions = PROCESSOR.positions(connection)
    return bool(positions) and all(positions[part] == head for part, head in log.heads(connection).items())


def moves(count: int, users: int, *, sessions: int) -> list[NewEvent]:
    now = datetime(2026, 5, 8, tzinfo=UTC)
    return [
        said(
            f"user{number % users}", f"s{number // users % sessions}", number,
            f"I moved to {_TOWNS[number % len(_TOWNS)]} ({number}).", now + timedelta(seconds=number),
        )
        for number in range(count)
    ]  # fmt: skip


def overhead(postgres: EmbeddedPostgres, count: int) -> None:
    with server(0.0) as url:
        for name, limit in (("bursts", 12), ("single", 1)):
            settings = Settings(
                anthropic_base_url=url,
                session_batch_turns=limit,
                session_batch_linger_ms=0,
                session_batch_gap_s=10_000,
            )
            seconds, row = spent(postgres, f"overhead_{name}", moves(count, 50, sessions=2), settings)
            print(
                f"a model that answers at once, up to {limit} turns a call: {count / seconds:.0f} turns/s, "
                f"{row[1] / seconds:.0f} calls/s"
            )
    with server(1.0) as url:
        settings = Settings(anthropic_base_url=url, session_batch_turns=1, session_batch_linger_ms=0)
        calls = 640
        seconds, _ = spent(postgres, "seconds", moves(calls, 64, sessions=1), settings)
        ideal = calls / settings.extract_concurrency
        print(
            f"a model that takes 1 s, {settings.extract_concurrency} at once: {seconds:.1f} s for {calls} calls, "
            f"{100 * (seconds / ideal - 1):.1f} % over the ideal {ideal:.1f} s"
        )


def tokens(postgres: EmbeddedPostgres, path: Path) -> None:
    turns = []
    for conversation in json.loads(path.read_text("utf-8")):
        user = str(conversation["sample_id"])
        for number, fields in enumerate(turns_of(conversation)):
            # The data dates sessions and not turns. Half a minute between turns is a human pace.
            said_at = datetime.fromisoformat(fields["said_at"]) + timedelta(seconds=30 * number)
            turns.append(
                said(
                    user, fields["session_id"], number, fields["text"], said_at, speaker=fields.get("speaker")
                )
            )
    with server(0.0) as url:
        for name, limit in (("before", 1), ("after", Settings().session_batch_turns)):
            settings = Settings(anthropic_base_url=url, session_batch_turns=limit, session_batch_linger_ms=0)
            _, (count, calls, fresh, written, read, answered) = spent(
                postgres, f"tokens_{name}", turns, settings
            )
            everything = fresh + written + read
            weighed = fresh + 1.25 * written + 0.1 * read if limit > 1 else everything
            print(
                f"{name} bursts and caching: {count} turns, {calls / count:.2f} calls a turn, "
                f"{everything / count:.0f} prompt tokens a turn, {weighed / count:.0f} weighed by price, "
                f"{answered / count:.0f} answered"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--turns", type=int, default=3_000)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="cardlog-bench-") as folder,
        EmbeddedPostgres(Path(folder), durable=False) as postgres,
    ):
        overhead(postgres, options.turns)
        path = eval_data("locomo", "locomo_dev.json")
        if path is not None:
            tokens(postgres, path)


if __name__ == "__main__":
    main()
