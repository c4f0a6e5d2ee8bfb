"""Measures slices: pages and groups over a large memory, and a recall of the past against one of the present.

A made-up user gets a million cards (CARDLOG_BENCH_CARDS), written straight into the tables: what is measured is
reading. Every figure is the median of the warm runs, in milliseconds.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from deploy.embedded.postgres import EmbeddedPostgres
from events.language.terms import term_keys
from events.platform.database import connect, migrate
from events.platform.settings import Settings
from projectors.cards.projector import CardsProjector
from projectors.generations.generations import ensure_live
from retrieval.cards.past import fold_of
from retrieval.cards.reader import CardReader
from retrieval.cards.slice import Slice
from retrieval.http.wiring import open_recall
from retrieval.pool.connections import open_pool
from retrieval.recall.recall import Ask

CARDS = int(os.environ.get("CARDLOG_BENCH_CARDS", "1000000"))
RUNS = 7
USER = "many"
NOW = datetime(2026, 5, 8, 16, 44, tzinfo=UTC)
_FIRST = datetime(2024, 1, 1, tzinfo=UTC)

# Nine in ten cards are events; the words of a card are a dozen of 20,000. Ids grow with time, as the log's do.
_FILL = """
INSERT INTO cards.cards (user_id, kind, card_id, project_id, context_layer, created_at, occurred_at, effective_at,
    superseded_at, last_verified, said_at, session_id, agent_id, turn_ids, source_span, concept_key, entity, value,
    cardinality, tags, confidence, weight, provenance, content, mentions, retracted, contested, ended, episode, topics,
    importance, sentiment, position, term_keys, own_terms, pair_keys)
SELECT %(user)s, CASE WHEN state THEN 'state' ELSE 'event' END, uuidv7(interval '-3 years' + n * interval '1 minute'),
       'default', (ARRAY['personal','work','social'])[1 + n %% 3], at, CASE WHEN state THEN NULL ELSE at END,
       CASE WHEN state THEN at END, CASE WHEN state AND n %% 20 = 0 THEN at + interval '30 days' END, at, at,
       's' || n / 50, (ARRAY['research','coding','planning','chat'])[1 + n %% 4], ARRAY['turn-' || n],
       json_build_object('turn_id', 'turn-' || n, 'start', 0, 'end', 60, 'text', repeat('word ', 12)),
       CASE WHEN state THEN 'concept_' || n %% 500 ELSE 'activity' END, 'user', CASE WHEN state THEN 'value ' || n END,
       CASE WHEN state THEN 'multi_value' END, ARRAY['tag' || n %% 40], 0.9, 1.0, 'user_stated',
       repeat('word ', 11) || n, 1, false, false, false, NOT state, '{}',
       CASE WHEN state THEN NULL ELSE 1 + n %% 10 END,
       'neutral', n, keys.own, 12, '{}'
FROM (SELECT n, n %% 10 = 0 AS state, %(first)s::timestamptz + n * interval '1 minute' AS at
      FROM generate_series(1, %(cards)s) n) made
CROSS JOIN LATERAL (
    SELECT array_agg((%(keys)s::bigint[])[1 + (made.n::bigint * 7919 + i * 104729 + made.n / (i + 1)) %% 20000]) AS own
    FROM generate_series(1, 12) i) keys
"""


def fill(url: str) -> None:
    with connect(url, application="bench") as connection:
        migrate(connection)
        ensure_live(connection, CardsProjector())
        connection.execute("SET synchronous_commit TO off")
        keys = term_keys(USER, [f"word{number}" for number in range(20_000)])
        values = {"user": USER, "first": _FIRST, "cards": CARDS, "keys": keys}
        for index in ("cards_term_keys", "cards_pair_keys"):
            connection.execute(f"DROP INDEX cards.{index}".encode())
        connection.execute(_FILL, values)
        connection.execute("INSERT INTO cards.card_counts VALUES (%s, %s, %s)", [USER, CARDS, 12 * CARDS])
        connection.execute("CREATE INDEX cards_term_keys ON cards.cards USING gin (term_keys)")
        connection.execute("CREATE INDEX cards_pair_keys ON cards.cards USING gin (pair_keys)")
        connection.execute("VACUUM ANALYZE cards.cards")


async def median_ms(ask: Callable[[], Awaitable[Any]]) -> float:
    times = []
    for _ in range(RUNS + 2):
        began = time.perf_counter()
        await ask()
        times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times[2:])


async def measure(url: str) -> None:
    settings = replace(Settings(), database_url=url)
    pool = open_pool(settings, "bench")
    await pool.open()
    reader = CardReader(pool, fold_of(settings))
    current = Slice(user_id=USER, now=NOW, statuses=("current",), projects=("default",))
    month = replace(current, conditions={"created_from": NOW - timedelta(days=30), "created_to": NOW})
    for axes in (["agent_id"], ["kind"], ["time"], ["concept_key"], ["agent_id", "context_layer"], ["tags"]):
        took = await median_ms(lambda axes=axes: reader.groups(current, axes, bucket="month"))  # type: ignore[misc]
        report(f"group {CARDS:,} cards by {', '.join(axes)}", took)
    report("a page of 50", await median_ms(lambda: reader.page(current, limit=50)))
    report("a page of 50 of a month", await median_ms(lambda: reader.page(month, limit=50)))
    recall = open_recall(settings, pool)
    await asyncio.to_thread(recall.warm)
    asked = Ask(user_id=USER, query="word17 and word4711 with word9", now=NOW)
    present = await median_ms(lambda: recall.answer(asked))
    past = await median_ms(lambda: recall.answer(replace(asked, as_of=NOW - timedelta(days=200))))
    report("a recall of the present", present)
    report("a recall as of 200 days before", past)
    sys.stdout.write(f"{'as_of against the present':<48} {past / present:8.2f}\n")
    await pool.close()


def report(what: str, took: float) -> None:
    sys.stdout.write(f"{what:<48} {took:8.1f} ms\n")


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, EmbeddedPostgres(Path(folder), durable=False) as server:
        began = time.perf_counter()
        fill(server.url)
        sys.stdout.write(f"{CARDS:,} cards written in {time.perf_counter() - began:.0f} s\n")
        asyncio.run(measure(server.url))


if __name__ == "__main__":
    main()
