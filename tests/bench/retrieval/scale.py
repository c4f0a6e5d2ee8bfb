"""Measures Cardlog with up to ten million cards of ten thousand users, and feeds the capacity model.

    python tests/bench/retrieval/scale.py [--cards 10000 100000] [--folder DIR] [--results FILE] [--signs]
    python tests/bench/retrieval/scale.py --results FILE --fit 10000 100000 1000000 --plot docs/pictures/scale.png

A hundred users are folded by the real projectors. PostgreSQL then writes their cards, words, statements and vectors a
hundred times, each time with other users, other search keys and other vectors, and builds the real indexes. For each
size one line of JSON goes to FILE: seconds of the load, bytes a card, recalls of users not asked before (cold,
PostgreSQL restarted, its files dropped from the page cache) and of the same users again (warm), a day of churn, the
vacuum after it, amcheck, and how many of the exact nearest 20 the index of signs finds. ``--signs`` builds this index,
which only users with very many cards need. ``--fit`` writes the measures of the capacity model from some sizes, and
prints what they predict beside every measured size.
"""

import argparse
import importlib
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import uvloop

from deploy.embedded.postgres import TUNING, EmbeddedPostgres
from deploy.embedded.redis import EmbeddedRedis
from events.platform.database import Connection, connect
from tests.bench.retrieval.recall_speed import ask, patient, prepare, questions_of, settle, vectors_of
from tests.bench.support.copies import columns_of, multiply
from tests.bench.support.timing import cuts

COPIES = 100
USERS = 10_000
QUESTIONS = 100
TUNED = {
    "shared_buffers": "2GB",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_wal_size": "4GB",
    "autovacuum": "off",
}
NEAREST = 20

_BYTES = """
SELECT sum(pg_table_size(c.oid)) FILTER (WHERE n.nspname = 'cards' AND c.relkind = 'r'),
       sum(pg_indexes_size(c.oid)) FILTER (WHERE n.nspname = 'cards' AND c.relkind = 'r'),
       sum(pg_total_relation_size(c.oid)) FILTER (WHERE n.nspname = 'people' AND c.relkind = 'r'),
       sum(pg_table_size(c.oid)) FILTER (WHERE n.nspname = 'vectors' AND c.relkind = 'r'),
       sum(pg_relation_size(c.oid)) FILTER (WHERE n.nspname = 'vectors' AND am.amname = 'btree'),
       sum(pg_relation_size(c.oid)) FILTER (WHERE n.nspname = 'vectors' AND am.amname = 'hnsw')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_am am ON am.oid = c.relam
WHERE n.nspname IN ('cards', 'people', 'vectors') AND c.relkind IN ('r', 'i')
"""
_PICK = """
CREATE SCHEMA bench;
CREATE TABLE bench.picked AS
SELECT row_number() OVER () AS number, p.* FROM (
    SELECT user_id, card_id, random() AS part FROM cards.cards TABLESAMPLE SYSTEM ({percent})
    WHERE kind <> 'reference' ORDER BY md5(card_id::text) LIMIT {cards}) p
"""
_OF_STEP = (
    "JOIN bench.picked p USING (user_id, card_id) WHERE p.number BETWEEN %(first)s AND %(last)s AND p.part"
)
# Half of a day's cards are new, three tenths are said again or superseded, two tenths are erased.
_DAY = (
    "INSERT INTO cards.cards ({cards}) SELECT {new_cards} FROM cards.cards " + _OF_STEP + " < .5",
    "INSERT INTO vectors.card_vectors_384 ({vectors}) SELECT {new_vectors} FROM vectors.card_vectors_384 "
    + _OF_STEP + " < .5",
    """UPDATE cards.cards c SET mentions = c.mentions + 1, last_verified = now(),
       superseded_at = CASE c.kind WHEN 'state' THEN now() END FROM bench.picked p
       WHERE c.user_id = p.user_id AND c.card_id = p.card_id
         AND p.number BETWEEN %(first)s AND %(last)s AND p.part BETWEEN .5 AND .8""",
    """DELETE FROM cards.cards c USING bench.picked p
       WHERE c.user_id = p.user_id AND c.card_id = p.card_id
         AND p.number BETWEEN %(first)s AND %(last)s AND p.part > .8""",
    """DELETE FROM vectors.card_vectors_384 c USING bench.picked p
       WHERE c.user_id = p.user_id AND c.card_id = p.card_id
         AND p.number BETWEEN %(first)s AND %(last)s AND p.part > .8""",
)  # fmt: skip
_STEP = 200
_CHECK = """
SELECT CASE am.amname WHEN 'btree' THEN bt_index_check(c.oid)::text WHEN 'gin' THEN gin_index_check(c.oid)::text END
FROM pg_class c JOIN pg_am am ON am.oid = c.relam JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname IN ('cards', 'people', 'vectors') AND c.relkind = 'i' AND am.amname IN ('btree', 'gin')
"""


def clock(work: Callable[[], object]) -> float:
    """Runs ``work`` and returns its seconds."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def sizes(connection: Connection) -> dict[str, float]:
    """Bytes of the card tables, their indexes, people, vectors, the indexes of vectors and the index of signs."""
    row = connection.execute(_BYTES).fetchone()
    assert row is not None
    names = ("cards", "card indexes", "people", "vectors", "vector indexes", "signs")
    return dict(zip(names, (float(value or 0) for value in row), strict=True))


def churn(connection: Connection, cards: int) -> dict[str, float]:
    """A day of ``cards`` changed cards in commits of a few, and what it leaves behind. Seconds."""
    all_cards, names = cards * 100, {}
    connection.execute(_PICK.format(cards=cards, percent=20 if all_cards < 10**6 else 5))
    for table, name in (("cards.cards", "cards"), ("vectors.card_vectors_384", "vectors")):
        columns = columns_of(connection, table)
        names[name] = ", ".join(columns)
        names[f"new_{name}"] = ", ".join(
            "md5(card_id::text)::uuid" if each == "card_id" else f"{table.split('.')[1]}.{each}"
            if each not in ("user_id",) else each
            for each in columns
        )  # fmt: skip
    steps = [text.format(**names) for text in _DAY]

    def day() -> None:
        for first in range(1, cards + 1, _STEP):
            with connection.transaction():
                for step in steps:
                    connection.execute(step, {"first": first, "last": first + _STEP - 1})

    found = {
        "changes": float(cards),
        "day": clock(day),
        **{f"after {k}": v for k, v in sizes(connection).items()},
    }
    found["vacuum cards"] = clock(lambda: connection.execute("VACUUM (INDEX_CLEANUP ON) cards.cards"))
    found["vacuum vectors"] = clock(
        lambda: connection.execute("VACUUM (INDEX_CLEANUP ON) vectors.card_vectors_384")
    )
    connection.execute("CREATE EXTENSION IF NOT EXISTS amcheck")
    found["amcheck"] = clock(lambda: connection.execute(_CHECK).fetchall())
    return found


def index_recall(connection: Connection, questions: list[str]) -> float:
    """The share of the exact nearest 20 of all vectors that the index of signs finds."""
    connection.execute("SET hnsw.ef_search = 200; SET hnsw.iterative_scan = relaxed_order; SET jit = off")
    kept = 0
    for vector in vectors_of(questions):
        value = {"vector": str(vector.tolist())}
        own = "SELECT user_id || card_id::text FROM"
        order = f"ORDER BY embedding <=> %(vector)s::vector LIMIT {NEAREST}"
        near = "ORDER BY signs <~> binary_quantize(%(vector)s::vector)::bit(384) LIMIT 150"
        exact = set(connection.execute(f"{own} vectors.card_vectors_384 {order}", value).fetchall())
        found = connection.execute(
            f"{own} (SELECT * FROM vectors.card_vectors_384 {near}) v {order}", value
        ).fetchall()
        kept += len(exact.intersection(found))
    return kept / NEAREST / len(questions)


def forget(folder: Path) -> None:
    """Drops the files of a stopped server from the page cache."""
    for path in folder.rglob("*"):
        if path.is_file():
            file = os.open(path, os.O_RDONLY)
            os.fsync(file)
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(file)


def processor_s(server: EmbeddedPostgres) -> float:
    """Processor seconds of PostgreSQL, its ended processes included. Waits for the end of all connections."""
    assert server.pid is not None
    main = psutil.Process(server.pid)
    while True:
        # A process that ends meanwhile has no command line, and its time is not yet its parent's.
        with suppress(psutil.Error, OSError):
            children = main.children()
            if not any("127.0.0.1" in " ".join(each.cmdline()) for each in children):
                return sum(main.cpu_times()[:4]) + sum(sum(each.cpu_times()[:2]) for each in children)
        time.sleep(0.1)


def two(times: list[float]) -> list[float]:
    """p50 and p95."""
    return [round(each, 1) for each in cuts(times)[:2]]


def measure(folder: Path, cards: int, signs: bool) -> dict[str, Any]:
    """All figures of one size."""
    server = EmbeddedPostgres(folder / f"postgres-{cards}", durable=False)
    with EmbeddedRedis(folder / "redis") as queue:
        server.start()
        try:
            prepare(server.url, cards // COPIES, 0, USERS // COPIES)
            found: dict[str, Any] = {"nominal": cards, "load": multiply(server.url, COPIES, signs=signs)}
            with connect(server.url, application="bench") as connection:
                settle(connection)
                found["bytes"] = sizes(connection)
                row = connection.execute(
                    "SELECT count(*), avg(octet_length(content)) FROM cards.cards"
                ).fetchone()
                assert row is not None
                found["cards"], found["text"] = row[0], float(row[1])
                users = [f"user-{number:05d}" for number in range(USERS // COPIES)]
                asked = [(user, text) for user in users for text in questions_of(connection, user, 1)]
                random.Random(5).shuffle(asked)
            server.stop()
            forget(folder)
            server.start()
            settings = patient(server.url, queue.url)
            found["cold ms"] = two(uvloop.run(ask(settings, asked, warmed=0))["recall"])
            before = processor_s(server)
            warm = uvloop.run(ask(settings, asked * 2, warmed=0))
            found["warm ms"] = two(warm["recall"])
            found["postgres ms"] = round((processor_s(server) - before) * 1000 / len(warm["recall"]), 2)
            found["service ms"] = round(warm["processor time"][0], 2)
            with connect(server.url, application="bench") as connection:
                found["churn"] = churn(connection, cards // 100)
                found["after churn ms"] = two(uvloop.run(ask(settings, asked, warmed=0))["recall"])
                if signs:
                    texts = [text for _, text in asked[:10]]
                    found["index recall"] = round(index_recall(connection, texts), 3)
            found["load average"] = round(os.getloadavg()[0], 1)
        finally:
            server.stop()
    return found


def fitted(sizes: list[dict[str, Any]], amount: Callable[[dict[str, Any]], float]) -> list[float]:
    """The amount of one card more, and of no cards, by least squares of the relative errors."""
    amounts = [amount(each) for each in sizes]
    found = np.polyfit([each["cards"] for each in sizes], amounts, 1, w=1 / np.asarray(amounts))
    return [float(value) for value in found]


def bytes_of(*names: str) -> Callable[[dict[str, Any]], float]:
    return lambda size: float(sum(size["bytes"][name] for name in names))


CARDS = bytes_of("cards", "card indexes", "people")
VECTORS = bytes_of("vectors", "vector indexes")


def fit(sizes: list[dict[str, Any]], fitted_to: list[int]) -> None:
    """Writes the measures of the capacity model from some sizes, and prints its estimate beside every size."""
    from deploy.commands.capacity import measures

    chosen = [each for each in sizes if each["nominal"] in fitted_to]
    signs = [each for each in sizes if each["load"]["signs"] > 1]
    (card, user), (vector, _) = fitted(chosen, CARDS), fitted(chosen, VECTORS)
    kept = json.loads(measures.SCALE_FILE.read_text())  # of a size whose index of signs was built
    found = {
        "source": f"tests/bench/retrieval/scale.py, {date.today().isoformat()}, 10,000 users",  # noqa: DTZ011
        "text_bytes": round(np.mean([each["text"] for each in chosen]), 1),
        "card": round(card),
        "user": round(max(user, 0) / USERS),
        "vector": round(vector),
        "sign_index": round(fitted(signs, bytes_of("signs"))[0]) if signs else kept["sign_index"],
    }
    measures.SCALE_FILE.write_text(json.dumps(found, indent=2) + "\n")
    importlib.reload(measures)
    from deploy.commands.capacity.plan import Demand, plan

    print(f"{'cards':>12}{'':<10}{'predicted':>14}{'measured':>14}")
    for size in sizes:
        turns = size["cards"] / USERS / measures.CARDS_PER_TURN
        load = plan(Demand(users=USERS, turns_per_day=turns, days=1, text_bytes=size["text"]))
        rows = [
            ("card bytes", load.cards_disk, CARDS(size)),
            ("vector bytes", load.cards * (found["vector"]), VECTORS(size)),
            ("recall µs", load.recall_postgres_us, size["postgres ms"] * 1000),
        ]
        for name, predicted, measured in rows:
            of_fit = size["nominal"] in fitted_to and name.endswith("bytes")
            note = "fitted" if of_fit else f"not fitted, {predicted / measured - 1:+.0%}"
            print(f"{size['cards']:>12,} {name:<12}{predicted:>16,.0f}{measured:>16,.0f}  {note}")


def draw(sizes: list[dict[str, Any]], path: Path) -> None:
    """One picture of all sizes."""
    import matplotlib.pyplot as plt

    counts = [each["cards"] for each in sizes]
    figure, ((recalls, space), (loads, days)) = plt.subplots(2, 2, figsize=(11, 7.5), layout="constrained")
    for name in ("cold ms", "warm ms", "after churn ms"):
        for place, style in ((0, "o-"), (1, "s--")):
            label = f"{name.removesuffix(' ms')} {'p50' if place == 0 else 'p95'}"
            recalls.plot(counts, [each[name][place] for each in sizes], style, label=label)
    recalls.plot(counts, [each["postgres ms"] for each in sizes], "x:", label="processor time of PostgreSQL")
    recalls.set_title("a recall, ms")
    for name in ("cards", "card indexes", "people", "vectors", "vector indexes"):
        space.plot(counts, [each["bytes"][name] / each["cards"] for each in sizes], "o-", label=name)
    space.set_title("bytes a card")
    for name in ("rows", "indexes", "analyze"):
        loads.plot(counts, [each["load"][name] for each in sizes], "o-", label=name)
    loads.set_title("load, s")
    for name in ("day", "vacuum cards", "vacuum vectors", "amcheck"):
        days.plot(counts, [each["churn"][name] for each in sizes], "o-", label=name)
    days.set_title("changes to 1 % of the cards, s")
    for panel in (recalls, space, loads, days):
        panel.set_xscale("log")
        panel.set_ylim(0) if panel is space else panel.set_yscale("log")
        panel.set_xlabel("cards of 10,000 users")
        panel.legend(fontsize=8)
        panel.grid(alpha=0.3)
    figure.savefig(path, dpi=80)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--cards", type=int, nargs="*", default=[])
    parser.add_argument("--folder", type=Path, help="where the servers write (default: a temporary folder)")
    parser.add_argument("--results", type=Path, help="a line of JSON for each size")
    parser.add_argument("--signs", action="store_true", help="build the index of signs too")
    parser.add_argument(
        "--fit", type=int, nargs="+", help="write the measures of the capacity model from these sizes"
    )
    parser.add_argument("--plot", type=Path, help="the picture to draw")
    options = parser.parse_args()
    if options.fit or options.plot:
        sizes = [json.loads(line) for line in options.results.read_text().splitlines()]
        if options.fit:
            fit(sizes, options.fit)
        if options.plot:
            draw(sizes, options.plot)
        return 0
    TUNING.update(TUNED)
    with tempfile.TemporaryDirectory(prefix="cardlog-bench-", dir=options.folder) as folder:
        for cards in options.cards or [10_000]:
            line = json.dumps(measure(Path(folder), cards, options.signs))
            print(line, flush=True)
            if options.results:
                with options.results.open("a") as file:
                    file.write(line + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
