"""Measures a recall without embedding, by the number of all cards and the number of the user's own cards.

    python tests/bench/retrieval/recall_speed.py [--cards 10000 100000] [--heavy 100000] [--copies 12]

For each size, a made-up history of ``--users``; with ``--heavy``, one more has that many cards, and with ``--copies``
so many times as many. Reported for an ordinary user and the heavy one: p50/p95/p99 of the whole recall, of its
slowest channel in the same question, and of every channel, and the processor time of the service without PostgreSQL.
Questions are pieces of the user's own cards, a fifth of them with a time. Vectors are hashes of words, turned at
random: as near to each other as texts that share words are, and as dense as a model's, at no cost.
"""

import argparse
import random
import sys
import tempfile
import time
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import uvloop
from pgvector.psycopg import register_vector

from deploy.embedded.postgres import EmbeddedPostgres
from deploy.embedded.redis import EmbeddedRedis
from events.platform.database import Connection, connect, migrate
from events.platform.settings import Settings
from ingest.extraction.workers.rules_worker import PROCESSOR
from projectors.cards.projector import CardsProjector
from projectors.embedding.embedder import HASH_MODEL, HashEmbedder
from projectors.embedding.embedders import Embedders
from projectors.generations.generations import ensure_live
from projectors.people import PeopleProjector
from projectors.rebuild.rebuild import Rebuild
from projectors.vectors.projector import VectorsProjector
from retrieval.cards.past import fold_of
from retrieval.channels.graph import GraphChannel
from retrieval.channels.semantic import SemanticChannel
from retrieval.http.wiring import open_channel_executor, open_channels
from retrieval.insights import read_insights
from retrieval.modes import ModeReader
from retrieval.people import PeopleReader
from retrieval.pool import open_pool
from retrieval.recall.ask import Ask
from retrieval.recall.card_resolution import CardResolver
from retrieval.recall.overlay import Overlay
from retrieval.recall.ranking.linear import load
from retrieval.recall.recall import Recall
from retrieval.recall.user_sizes import UserSizes
from tests.bench.support.copies import multiply
from tests.bench.support.history import fill
from tests.bench.support.stack import new_database
from tests.bench.support.timing import cuts, told

NOW = datetime(2026, 1, 1, tzinfo=UTC)
TIMES = ("last month", "in March 2025", "yesterday", "上个月", "in 2025")
EVENTS_A_CARD = 2.45


_TURN = np.linalg.qr(np.random.default_rng(3).standard_normal((384, 384)))[0].astype(np.float32)


def vectors_of(texts: list[str]) -> Any:
    """Vectors of texts, one a row. The rotation keeps all angles. Hashes alone are mostly zeros, unlike a model's."""
    return np.asarray(HashEmbedder().embed(texts), dtype=np.float32) @ _TURN


class Remembered:
    """An embedder that holds the vectors of the questions in advance."""

    name = fingerprint = HASH_MODEL

    dimension = 384

    def __init__(self, questions: list[str]) -> None:
        self._vectors = dict(zip(questions, vectors_of(questions), strict=True))

    def embed_question(self, text: str) -> Any:
        return self._vectors.get(text, next(iter(self._vectors.values())))

    def embed(self, texts: Any) -> Any:
        return vectors_of(list(texts))


def prepare(url: str, cards: int, heavy: int, users: int) -> None:
    """Writes card and vector tables of about ``cards`` cards of ordinary users and ``heavy`` of one more."""
    settings = replace(Settings(), database_url=url)
    with connect(url, application="bench") as connection:
        migrate(connection)
        for projector in (CardsProjector(), VectorsProjector(Embedders(HashEmbedder)), PeopleProjector()):
            ensure_live(connection, projector)
        fill(connection, int((cards + heavy) * EVENTS_A_CARD), users=users, heavy=heavy / (cards + heavy))
    for projector in (CardsProjector(), PeopleProjector()):
        Rebuild(settings, projector, workers=2).run()
    with connect(url, application="bench") as connection:
        add_vectors(connection)


def add_vectors(connection: Connection) -> None:
    """Writes the hashed vector of every card as the vectors projector would."""
    register_vector(connection)
    # The bench builds the index last, as a rebuild does. One vector at a time takes hours for a million.
    connection.execute("DROP INDEX vectors.card_vectors_384_signs, vectors.card_vectors_384_own")
    with connection.cursor("cards", withhold=True) as reader, connect_again(connection) as writer:
        register_vector(writer)
        reader.itersize = 5000
        reader.execute("SELECT user_id, card_id, content FROM cards.cards")
        with writer.cursor().copy(
            "COPY vectors.card_vectors_384 (user_id, card_id, model, embedding) FROM STDIN WITH (FORMAT binary)"
        ) as copy:
            copy.set_types(["text", "uuid", "text", "vector"])
            while rows := reader.fetchmany(2000):
                vectors = vectors_of([row[2] for row in rows])
                for (user_id, card_id, _), vector in zip(rows, vectors, strict=True):
                    copy.write_row((user_id, card_id, HASH_MODEL, vector))
        writer.execute("SET search_path TO vectors, public; SET maintenance_work_mem = '1GB'")
        writer.execute(VectorsProjector(Embedders(HashEmbedder)).steps("indexes")[0])
        writer.execute("VACUUM ANALYZE vectors.card_vectors_384")


def connect_again(connection: Connection) -> Connection:
    return connect(connection.info.dsn + f" password={connection.info.password}", application="bench")


def questions_of(connection: Connection, user: str, count: int) -> list[str]:
    """Pieces of the user's own cards, five words or twelve characters, a fifth with a time."""
    rows = connection.execute(
        "SELECT content FROM cards.cards WHERE user_id = %s ORDER BY md5(card_id::text) LIMIT %s",
        [user, count],
    ).fetchall()
    chance, questions = random.Random(7), []
    for (content,) in rows:
        words = content.split()
        piece = " ".join(words[:5]) if len(words) > 4 else content[:12]
        questions.append(f"{piece} {chance.choice(TIMES)}" if chance.random() < 0.2 else piece)
    return questions


async def ask(
    settings: Settings, asked: list[tuple[str, str]], *, warmed: int = 30
) -> dict[str, list[float]]:
    """Milliseconds of each recall of a user's question, of its slowest channel, and of each channel.

    The first ``warmed`` recalls are made twice, and count once.
    """
    pool = open_pool(settings, "bench")
    await pool.open(wait=True)
    embedder = Remembered([question for _, question in asked])
    channels = [SemanticChannel(Embedders(lambda: embedder)), *open_channels(settings)[1:]]
    recall = Recall(
        UserSizes(pool),
        open_channel_executor(settings, pool),
        channels,
        GraphChannel(),
        CardResolver(pool, fold_of(settings)),
        Overlay(settings, pool),
        ModeReader(pool, {}),
        load(""),
        PeopleReader(pool),
        partial(read_insights, pool),
    )
    recall.warm()
    found: dict[str, list[float]] = {}
    try:
        for warm in (True, False):
            cpu = time.process_time()
            for user, question in asked[: warmed if warm else None]:
                began = time.perf_counter()
                answer = await recall.answer(Ask(user_id=user, query=question, now=NOW))
                ms = (time.perf_counter() - began) * 1000
                if warm:
                    continue
                found.setdefault("recall", []).append(ms)
                found.setdefault("slowest", []).append(max(each.ms for each in answer.channels.values()))
                for name, each in answer.channels.items():
                    found.setdefault(name, []).append(each.ms)
                    if each.status != "ok":
                        found.setdefault(f"{name} {each.status}", []).append(each.ms)
        found["processor time"] = [(time.process_time() - cpu) * 1000 / len(asked)]
    finally:
        await pool.close()
    return found


def report(title: str, found: dict[str, list[float]]) -> None:
    print(f"{title}, {len(found['recall'])} questions")
    for name, times in found.items():
        told(name, times)
    p95 = [cuts(found[name])[1] for name in ("recall", "slowest")]
    print(f"  p95 over its slowest channel: {p95[0] / p95[1]:.2f} (goal 1.5)", flush=True)


def patient(url: str, redis_url: str) -> Settings:
    """Settings of a read service that waits for every channel."""
    deadlines = {f"{name}_deadline_ms": 5000 for name in ("semantic", "tags", "fuzzy", "time", "graph")}
    return replace(
        Settings(),
        database_url=url,
        redis_url=redis_url,
        quarantine_over_ms=100_000,
        **deadlines,  # type: ignore[arg-type]
    )


def settle(connection: Connection) -> None:
    """Marks every turn as read: the made-up log holds their extraction, and the overlay need not read them."""
    PROCESSOR.open(connection)
    claims = PROCESSOR.claim(connection)
    PROCESSOR.advance(connection, [(claim, claim.head) for claim in claims])


def run(url: str, redis_url: str, questions: int, heavy: int) -> None:
    settings = patient(url, redis_url)
    with connect(url, application="bench") as connection:
        settle(connection)
        rows = connection.execute(
            "SELECT user_id, cards FROM cards.card_counts ORDER BY cards DESC"
        ).fetchall()
        who = [(rows[len(rows) // 2], "an ordinary user")] + ([(rows[0], "the heavy user")] if heavy else [])
        asked = [(user, name, questions_of(connection, user[0], questions)) for user, name in who]
    for user, name, texts in asked:
        report(
            f"{name}, {user[1]:,} of {sum(row[1] for row in rows):,} cards",
            uvloop.run(ask(settings, [(user[0], text) for text in texts])),
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--cards", type=int, nargs="+", default=[10_000])
    parser.add_argument("--users", type=int, default=1000)
    parser.add_argument("--heavy", type=int, default=0)
    parser.add_argument("--copies", type=int, default=1, help="write the heavy user's cards so many times")
    parser.add_argument("--questions", type=int, default=200)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory(prefix="cardlog-bench-") as folder,
        EmbeddedPostgres(Path(folder) / "postgres") as server,
        EmbeddedRedis(Path(folder) / "redis") as queue,
    ):
        for cards in options.cards:
            url = new_database(server.url, f"cards_{cards}")
            prepare(url, cards, options.heavy, min(options.users, max(1, cards // 10)))
            if options.copies > 1:
                multiply(url, options.copies, user="user-00000")
            run(url, queue.url, options.questions, options.heavy)
    return 0


if __name__ == "__main__":
    sys.exit(main())
