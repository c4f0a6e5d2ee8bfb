"""Keeps a whole Cardlog under turns and recalls, with killed workers and rebuilds, and judges whether anything grows.

    make soak                                            # two hours of 50 turns/s and 20 recalls/s
    python tests/chaos/soak.py --minutes 3     # a short run: more of it is warm-up, so it judges little

One worker is killed in each eighth of the run, and the cards are rebuilt twice, after a third and two thirds. Each
minute prints the answers of that minute, and what the processes hold. The medians of the last quarter are compared
with those of as many minutes after the warm-up of 20 minutes (a third of a shorter run). Exit status 1 when one of
them grew by more than a twentieth, or when a recall failed or a turn was lost.
"""

import argparse
import asyncio
import sys
from collections import defaultdict
from statistics import median, quantiles

import psutil
import psycopg
import uvloop

from tests.bench.deploy.way import turns, until_visible, xadd
from tests.bench.retrieval.recall_load import USERS, Tally, push_steadily, recall_steadily
from tests.bench.support.stack import measured_stack
from tests.support.stack import Running, typed

WORKERS = ("recorder", "extractor", "projector", "vectors")
HISTORY, WARM_UP, GROWTH = 500, 20, 1.05
ROOM = {"connections": 4, "files": 16, "entries": 200, "generations": 0}
"""What may come and go between two looks: restarted workers, open requests, turns on their way."""
MEMORY_ROOM = 4.0  # MB


def held(running: Running) -> dict[str, float]:
    """Returns what the stack holds: MB of memory by kind of process, connections, files, entries, generations."""
    found = defaultdict[str, float](float)
    root = psutil.Process(running.process.pid)
    for process in (root, *root.children(recursive=True)):
        try:
            words, memory = [process.name(), *process.cmdline()], process.memory_full_info()
            kind = next(
                (each for each in (*WORKERS, "write", "read") if each in words), words[0].split("-")[0]
            )
            # PostgreSQL's shared buffers fill up to their set size, so only what is not shared counts.
            used = memory.uss if "postgres" in kind else memory.pss
            found[f"{kind} MB"] += used / 2**20
            found["files"] += 0 if "postgres" in kind else process.num_fds()
        except psutil.Error:
            continue
    with psycopg.connect(running.admin_database_url) as connection:
        for name, query in (
            ("connections", "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'"),
            ("generations", "SELECT count(*) FROM log.generations"),
        ):
            row = connection.execute(query.encode()).fetchone()
            assert row is not None
            found[name] += row[0]
    redis = running.redis_operator
    found["entries"] += int(redis.xlen("turns")) + int(redis.dbsize())
    return dict(found)


async def watch(running: Running, minutes: int, tally: Tally, samples: list[dict[str, float]]) -> None:
    seen = 0
    for minute in range(1, minutes + 1):
        await asyncio.sleep(60)
        now = await asyncio.to_thread(held, running)
        samples.append(now)
        latest, seen = tally.ms[seen:], len(tally.ms)
        p95 = quantiles(latest, n=20, method="inclusive")[-1] if len(latest) > 1 else 0.0
        told = ", ".join(f"{name} {value:.0f}" for name, value in sorted(now.items()))
        print(f"{minute:4} min: {len(latest)} answers, p95 {p95:.0f} ms; {told}", flush=True)


async def disturb(running: Running, minutes: int) -> None:
    """Kills a worker in each eighth of the run but the last one, and rebuilds the cards twice."""
    for number in range(1, 8):
        await asyncio.sleep(minutes * 60 / 8)
        name = WORKERS[number % len(WORKERS)]
        await asyncio.to_thread(running.kill, name)
        print(f"     killed the {name}", flush=True)
        if number in (2, 5):
            await asyncio.to_thread(rebuild, running)


def rebuild(running: Running) -> None:
    """Rebuilds the cards, and drops the generation that was live before."""
    data = ("--data", str(running.data))
    done = typed("rebuild", "cards", *data, "--json", timeout=1800)
    assert done.returncode == 0, done.stderr[-2000:]
    with psycopg.connect(running.admin_database_url) as connection:
        [*retired] = connection.execute(
            "SELECT generation FROM log.generations WHERE projection = 'cards' AND status = 'retired'"
        ).fetchall()
    for (number,) in retired:
        dropped = typed("generations", "cards", "--drop", str(number), *data)
        assert dropped.returncode == 0, dropped.stderr
    print("     rebuilt the cards", flush=True)


def grown(samples: list[dict[str, float]]) -> int:
    """Prints what every sample has, early and late, and returns the number of those that grew."""
    warm = min(WARM_UP, len(samples) // 3)
    width = max(1, (len(samples) - warm) // 4)
    count = 0
    for name in sorted(set.intersection(*map(set, samples))):
        early = median(each[name] for each in samples[warm : warm + width])
        late = median(each[name] for each in samples[-width:])
        most = max(early * GROWTH, early + ROOM.get(name, MEMORY_ROOM))
        count += late > most
        print(f"{name:<20}{early:10.1f}{late:10.1f}  {'GREW' if late > most else 'ok'}")
    return count


async def soak(running: Running, rate: int, recalls: int, minutes: int) -> int:
    tally, samples = Tally(), list[dict[str, float]]()
    pushed, *_ = await asyncio.gather(
        push_steadily(running, rate, minutes * 60),
        recall_steadily(running, recalls, minutes * 60, tally),
        watch(running, minutes, tally, samples),
        disturb(running, minutes),
    )
    tally.report(f"{recalls} recalls/s")
    await asyncio.to_thread(until_visible, running, HISTORY + pushed, "cards")
    print(f"all {pushed} turns are in the cards")
    return grown(samples) + sum(tally.errors.values())


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--turns", type=int, default=50, help="turns a second")
    parser.add_argument("--recalls", type=int, default=20, help="recalls a second")
    parser.add_argument("--minutes", type=int, default=120)
    parser.add_argument("--model", default="hash", help="embedding model; hash is without embedding")
    options = parser.parse_args()
    with measured_stack(CARDLOG_EMBED_MODEL=options.model) as running:
        xadd(running.redis, turns(HISTORY, USERS, seed=3))
        until_visible(running, HISTORY, "vectors")
        return 1 if uvloop.run(soak(running, options.turns, options.recalls, options.minutes)) else 0


if __name__ == "__main__":
    sys.exit(main())
