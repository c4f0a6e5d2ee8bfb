"""Compares a sealed log with an unsealed one in one run: recording turns, and a rebuild of the card tables.

    python tests/bench/events/sealing_speed.py [--events 40000] [--rounds 5]

Both sides do the same work in turn, in one process, and the order changes from round to round. The medians of the
pairs count, because the machine is not equally fast all the time. Exit status 1 when sealing costs more than a fifth.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from psycopg import sql

from deploy.commands.security.sealing import seal_log
from deploy.embedded.postgres import EmbeddedPostgres
from events.platform.database import connect, migrate
from events.platform.key_file import new_key
from events.platform.settings import Settings
from events.sealing import sealer as sealing
from events.sealing.entries import sealed_entry
from events.sealing.key_encryption import LocalKeyEncryption
from events.sealing.sealer import Sealer
from events.store import log
from ingest.recording.recorder import event_of
from ingest.recording.turn_queue import Entry
from projectors.cards.projector import CardsProjector
from projectors.rebuild.rebuild import Rebuild
from tests.bench.events.append_speed import BATCH, events
from tests.bench.support.history import fill
from tests.support.databases import url_of

MOST = 1.20
BATCHES = 20
USERS = 200
SIDES = ("open", "sealed")


def recorded(url: str, number: int) -> float:
    """Returns the seconds that a recorder takes for some batches of entries: check them, make events, append."""
    now = datetime.now(UTC)
    milliseconds = int(now.timestamp() * 1000)
    batches = []
    for each in range(BATCHES):
        turns = [
            sealed_entry(
                {"user_id": event.user_id, "text": event.payload.text, "turn_id": event.payload.turn_id}
            )
            for event in events(number, each)
        ]
        batches.append(
            [
                Entry(
                    f"{milliseconds}-{place}", {name.encode(): value.encode() for name, value in turn.items()}
                )
                for place, turn in enumerate(turns)
            ]
        )
    with connect(url, application="bench") as connection:
        began = time.perf_counter()
        for batch in batches:
            log.append(connection, [event_of(entry, now) for entry in batch])
        return time.perf_counter() - began


def rebuilt(url: str, _number: int) -> float:
    """Returns the seconds that a rebuild of the card tables takes."""
    return Rebuild(replace(Settings(), database_url=url), CardsProjector(), workers=1).run().seconds


def compare(
    urls: dict[str, str], sealer: Sealer, rounds: int, work: Callable[[str, int], float]
) -> dict[str, list[float]]:
    """Returns the seconds of each side, one value a round. The first round only warms up."""
    found: dict[str, list[float]] = {side: [] for side in SIDES}
    for number in range(rounds + 1):
        for side in SIDES if number % 2 else reversed(SIDES):
            sealing.use(sealer if side == "sealed" else None)
            seconds = work(urls[side], number)
            if number:
                found[side].append(seconds)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--events", type=int, default=40_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    sealer = Sealer(LocalKeyEncryption([new_key()]))
    dear = 0
    with (
        tempfile.TemporaryDirectory(prefix="cardlog-bench-") as folder,
        EmbeddedPostgres(Path(folder)) as server,
    ):
        urls = {}
        for side in SIDES:
            with connect(server.url, application="bench") as connection:
                connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(side)))
            urls[side] = url_of(server.url, side)
            with connect(urls[side], application="bench") as connection:
                migrate(connection)
                if side == "open":
                    fill(connection, options.events, users=USERS)
                else:
                    with connect(urls["open"], application="bench") as source:
                        seal_log(source, connection, sealer, lambda *_: None)
                connection.execute("VACUUM ANALYZE")
        for name, count, work in (
            ("rebuild", options.events, rebuilt),
            ("record", BATCHES * BATCH, recorded),
        ):
            found = compare(urls, sealer, options.rounds, work)
            ratios = [b / a for a, b in zip(found["open"], found["sealed"], strict=True)]
            ratio = statistics.median(ratios)
            dear += ratio > MOST
            rates = {side: count / statistics.median(found[side]) for side in SIDES}
            print(
                f"{name:<8} open {rates['open']:>8,.0f} events/s, sealed {rates['sealed']:>8,.0f} events/s, time "
                f"x {ratio:.2f} (min {min(ratios):.2f}, max {max(ratios):.2f}), goal {MOST:.2f} "
                f"{'ok' if ratio <= MOST else 'MISSED'}"
            )
    return 1 if dear else 0


if __name__ == "__main__":
    sys.exit(main())
