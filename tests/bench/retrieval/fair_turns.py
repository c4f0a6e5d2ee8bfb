"""Measures what the questions of one key cost another tenant: latencies alone, and beside many heavy questions.

    python tests/bench/retrieval/fair_turns.py [--connections 200] [--k 200] [--seconds 5] [--model hash]

The whole service with embedded servers, and one user with some history in each of two tenants. The quiet tenant asks
one question after the other: in turns alone, and while a key of the other tenant asks with ``explain`` and a large
``k``, on each of its connections again as soon as the answer is there. Compare the lines of one run only.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import sys
import time
from collections import Counter
from statistics import quantiles

import orjson
import uvloop

from tests.bench.deploy.way import question, turns
from tests.bench.retrieval.recall_load import Wire
from tests.bench.support.stack import measured_stack
from tests.support.stack import Running
from tests.support.web import WEB

HISTORY, ROUNDS = 400, 3


def key_of(running: Running, tenant: str) -> str:
    """Returns a new key of ``tenant`` to push and to read."""
    made = running.command(
        "keys", "create", "--name", tenant, "--tenant", tenant, "--scope", "push", "--scope", "read", "--json"
    )
    return str(json.loads(made.stdout)["key"])


async def quiet(running: Running, key: str, seconds: float, spent: list[float], seen: Counter[str]) -> None:
    """Asks as the quiet tenant, one question after the other. Adds the latencies in ms, and what was not well."""
    chance, wire = random.Random(5), Wire(running.read_url, key)
    until = time.perf_counter() + seconds
    while time.perf_counter() < until:
        body = orjson.dumps({"user_id": "user0", "query": question(chance)})
        began = time.perf_counter()
        status, answer = await wire.post("/v1/recall", body)
        spent.append((time.perf_counter() - began) * 1000)
        if status == 200:
            seen.update(
                name for name, each in orjson.loads(answer)["channels"].items() if each["status"] != "ok"
            )
        else:
            seen[str(status)] += 1
        await asyncio.sleep(0.05)
    wire.close()


def report(title: str, spent: list[float], seen: Counter[str]) -> float:
    """Prints the latencies, and returns their p95 in ms."""
    cuts = quantiles(spent, n=100, method="inclusive")
    sys.stdout.write(
        f"{title:<24}{len(spent):>5} questions, p50 {cuts[49]:.0f}, p95 {cuts[94]:.0f}, most {max(spent):.0f} ms; "
        f"not ok {dict(seen) or 'none'}\n"
    )
    sys.stdout.flush()
    return cuts[94]


async def heavy(running: Running, key: str, connections: int, k: int, until: asyncio.Event) -> Counter[int]:
    """Asks heavy questions on all connections until the event. Returns the statuses."""
    statuses: Counter[int] = Counter()

    async def ask(number: int) -> None:
        chance, wire = random.Random(number), Wire(running.read_url, key)
        while not until.is_set():
            body = orjson.dumps({"user_id": "user0", "query": question(chance), "k": k, "explain": True})
            try:
                status, _ = await wire.post("/v1/recall", body)
            except (OSError, asyncio.IncompleteReadError):
                status = 0
            statuses[status] += 1
            if status != 200:
                await asyncio.sleep(0.05)  # a client that is refused asks again at once, or nearly so
        wire.close()

    await asyncio.gather(*(ask(number) for number in range(connections)))
    return statuses


async def measure(running: Running, keys: dict[str, str], options: argparse.Namespace) -> None:
    await quiet(running, keys["quiet"], 5, [], Counter())
    alone: tuple[list[float], Counter[str]] = [], Counter()
    beside: tuple[list[float], Counter[str]] = [], Counter()
    statuses: Counter[int] = Counter()
    for _ in range(ROUNDS):
        await quiet(running, keys["quiet"], options.seconds, *alone)
        done = asyncio.Event()
        loud = asyncio.create_task(heavy(running, keys["loud"], options.connections, options.k, done))
        await asyncio.sleep(1)
        await quiet(running, keys["quiet"], options.seconds, *beside)
        done.set()
        statuses += await loud
    times = report(f"beside {options.connections} x k={options.k}", *beside) / report("alone", *alone)
    sys.stdout.write(
        f"p95 is {times:.1f} times that alone; the heavy key got {dict(sorted(statuses.items()))}\n"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--connections", type=int, default=200, help="of the heavy key")
    parser.add_argument("--k", type=int, default=200, help="of its questions")
    parser.add_argument("--seconds", type=float, default=5, help="of each of three rounds")
    parser.add_argument("--model", default="hash", help="embedding model; hash is without embedding")
    options = parser.parse_args()
    with measured_stack(CARDLOG_EMBED_MODEL=options.model) as running:
        keys = {tenant: key_of(running, tenant) for tenant in ("quiet", "loud")}
        for key in keys.values():
            pushed = WEB.post(
                f"{running.write_url}/v1/turns",
                json=turns(HISTORY, 1, seed=3),
                headers={"Authorization": f"Bearer {key}"},
            )
            pushed.raise_for_status()
        running.wait(within_s=300)
        uvloop.run(measure(running, keys, options))
    return 0


if __name__ == "__main__":
    sys.exit(main())
