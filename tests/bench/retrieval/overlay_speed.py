"""Measures the cost of reading your own writes: no pending turn, one pending turn, a backlog of many users.

Also how long the alerts take for a hundred cards. Needs nothing; about half a minute.
"""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from redis import Redis

from deploy.embedded.postgres import EmbeddedPostgres
from deploy.embedded.redis import EmbeddedRedis
from events.platform.database import connect, migrate
from events.platform.settings import Settings
from retrieval.cards.alerts import aging, contradictions, outdated
from retrieval.http.read_api import RecallIn, ask_of
from retrieval.http.wiring import open_recall
from retrieval.pool.connections import open_pool
from tests.support.retrieval.card_rows import state
from tests.support.retrieval.overlay import Memory, crowd

QUESTION = "where do I live?"
TIMES = 100


async def milliseconds(settings: Settings) -> tuple[list[float], str]:
    """Returns the duration of each recall, and the first answer's value."""
    pool = open_pool(settings, "bench")
    await pool.open(wait=True)
    recall = open_recall(settings, pool)
    await asyncio.to_thread(recall.warm)
    took: list[float] = []
    first = ""
    for number in range(TIMES + 10):
        ask = ask_of(RecallIn(user_id="ann", query=QUESTION))
        began = time.perf_counter()
        answer = await recall.answer(ask)
        if number >= 10:
            took.append((time.perf_counter() - began) * 1000)
        first = answer.cards[0].card.value or ""
    await recall.close()
    await pool.close()
    return sorted(took), first


def alerts() -> float:
    """Milliseconds for a hundred cards, the best of many runs."""
    now = datetime.now(UTC)
    cards = [state(f"town {number}", concept_key=f"c{number % 4}") for number in range(100)]

    def once() -> None:
        contradictions(cards)
        for card in cards:
            aging(card, now)
            outdated(card, now)

    return min(_timed(once) for _ in range(200))


def _timed(work: Callable[[], None]) -> float:
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def main() -> None:
    print(f"alerts for 100 cards: {alerts():.2f} ms")
    with tempfile.TemporaryDirectory(prefix="cardlog-bench-") as folder:
        home = Path(folder)
        home.chmod(0o755)
        with (
            EmbeddedPostgres(home / "postgres", durable=False) as postgres,
            EmbeddedRedis(home / "redis", durable=False) as server,
            Redis.from_url(server.url, decode_responses=True) as redis,
        ):
            settings = Settings(
                database_url=postgres.url,
                redis_url=server.url,
                embed_model_path=str(home),
                overlay_deadline_ms=1000,
            )
            with connect(postgres.url, application="bench") as connection:
                migrate(connection)
            memory = Memory(settings, redis)
            memory.push("I live in Taipei.")
            for number in range(300):
                memory.push(f"I went to market number {number} with Bob and bought {number} apples.")
            memory.settle()
            steps: list[tuple[str, Callable[[], object]]] = [
                ("nothing under way", lambda: None),
                ("one turn of one's own", lambda: memory.push("My new address is Kaohsiung.")),
                ("and 1,000 turns of others behind it", lambda: crowd(redis, 1000)),
                ("all of them recorded, none read", memory.record),
                ("all of them read, none folded", memory.extract),
            ]
            before = 0.0
            for name, step in steps:
                step()
                took, first = asyncio.run(milliseconds(settings))
                median = took[TIMES // 2]
                before = before or median
                print(
                    f"{name:<38} p50 {median:6.1f}  p95 {took[int(TIMES * 0.95)]:6.1f} ms"
                    f"  {median / before:4.2f} times  {first}"
                )


if __name__ == "__main__":
    main()
