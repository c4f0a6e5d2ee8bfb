"""Compares ways to find the nearest vectors of the user with most cards: processor time, share of the exact nearest.

    python tests/bench/retrieval/vector_search.py --url URL [--questions 20]

URL is a database that ``recall_speed.py --heavy`` or ``support/copies.py`` filled. The two ways that Cardlog does not
use, half precision and a partition of the user, are built from the user's vectors and dropped at the end.
"""

import argparse
import sys
from typing import Any

import psutil

from events.platform.database import connect
from projectors.embedding.embedder import HASH_MODEL
from tests.bench.retrieval.recall_speed import questions_of, vectors_of

_ALL = "vectors.card_vectors_384"
_EXACT = """
SELECT card_id FROM {table} v WHERE v.user_id = %(user)s ORDER BY (v.embedding <=> %(vector)s::{type}) + 0.0 LIMIT 20
"""
_SIGNS = """
SELECT nearest.card_id FROM (
    SELECT own.card_id FROM {table} own WHERE own.user_id = %(user)s AND own.model = %(model)s
    ORDER BY (own.signs <~> binary_quantize(%(vector)s::vector)::bit(384)) + 0.0, own.card_id LIMIT {candidates}
) nearest JOIN {table} v ON v.user_id = %(user)s AND v.card_id = nearest.card_id
ORDER BY v.embedding <=> %(vector)s::vector LIMIT 20
"""
_WALK = """
SELECT card_id FROM (
    SELECT v.card_id, v.embedding <=> %(vector)s::vector AS distance FROM {table} v
    WHERE v.user_id = %(user)s AND v.model = %(model)s
    ORDER BY v.signs <~> binary_quantize(%(vector)s::vector)::bit(384) LIMIT {candidates}
) near ORDER BY distance LIMIT 20
"""
_BUILD = """
CREATE SCHEMA trial;
CREATE TABLE trial.halves AS SELECT user_id, card_id, embedding::halfvec(384) FROM vectors.card_vectors_384 WHERE user_id = '{0}';
ALTER TABLE trial.halves ALTER embedding SET STORAGE PLAIN;
CREATE INDEX ON trial.halves (user_id, card_id);
CREATE TABLE trial.part AS SELECT * FROM vectors.card_vectors_384 WHERE user_id = '{0}';
CREATE INDEX ON trial.part (user_id, card_id);
CREATE INDEX ON trial.part USING hnsw (signs bit_hamming_ops);
ANALYZE trial.halves, trial.part;
"""  # noqa: E501
# The way, its statement, ef_search.
WAYS = {
    "exact": (_EXACT.format(table=_ALL, type="vector"), 200),
    "exact, half precision": (_EXACT.format(table="trial.halves", type="halfvec"), 200),
    **{f"own signs, {n}": (_SIGNS.format(table=_ALL, candidates=n), 200) for n in (300, 600, 1000)},
    **{
        f"index of all, {n}, ef {ef}": (_WALK.format(table=_ALL, candidates=n), ef)
        for n, ef in ((150, 200), (150, 100), (300, 200), (600, 200))
    },
    **{f"partition, {n}": (_WALK.format(table="trial.part", candidates=n), 200) for n in (150, 300, 600)},
}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--url", required=True)
    parser.add_argument("--questions", type=int, default=20)
    options = parser.parse_args()
    with connect(options.url, application="bench") as connection:
        row = connection.execute(
            "SELECT user_id, cards FROM cards.card_counts ORDER BY cards DESC LIMIT 1"
        ).fetchone()
        assert row is not None
        print(f"{row[1]:,} cards; processor ms a question, share of the exact nearest 20", flush=True)
        vectors = [
            str(each.tolist()) for each in vectors_of(questions_of(connection, row[0], options.questions))
        ]
        connection.execute("DROP SCHEMA IF EXISTS trial CASCADE; SET maintenance_work_mem = '2GB'")
        connection.execute(_BUILD.format(row[0]))
        connection.execute(
            "SET enable_seqscan = off; SET max_parallel_workers_per_gather = 0; SET jit = off;"
            "SET hnsw.iterative_scan = relaxed_order; SET plan_cache_mode = force_custom_plan"
        )
        server = psutil.Process(connection.info.backend_pid)
        exact: list[set[Any]] = []
        for way, (text, ef) in WAYS.items():
            connection.execute(f"SET hnsw.ef_search = {ef}")
            for warm in (True, False):
                began, found = sum(server.cpu_times()[:2]), []
                for vector in vectors[: 3 if warm else None]:
                    values = {"vector": vector, "user": row[0], "model": HASH_MODEL}
                    found.append({card for (card,) in connection.execute(text, values)})
            exact = exact or found
            kept = sum(len(one & other) for one, other in zip(exact, found, strict=True)) / sum(
                map(len, exact)
            )
            ms = (sum(server.cpu_times()[:2]) - began) * 1000 / len(vectors)
            print(f"  {way:<28}{ms:>8.1f}{kept:>8.3f}", flush=True)
        connection.execute("DROP SCHEMA IF EXISTS trial CASCADE")
    return 0


if __name__ == "__main__":
    sys.exit(main())
