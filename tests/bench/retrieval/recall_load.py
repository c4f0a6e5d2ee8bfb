"""Measures recalls while turns come in: errors, latencies and channel statuses, at a steady rate of both.

    python tests/bench/retrieval/recall_load.py [--recalls 50] [--turns 50] [--seconds 60] [--model hash]

The whole service with embedded servers, and the embedder it finds, or ``hash``, which costs next to nothing; 100
users with some history. Recalls are asked over HTTP as they fall due, whether or not those before are answered, so a
service that cannot follow shows it in the latencies. The floor of the same run is the same recalls before a turn comes
in. Beside both, once a second, the age of the oldest event that is not in the cards, and the memory of all processes.
Exit status 1 when any recall failed.
"""

import argparse
import asyncio
import random
import sys
import time
from collections import Counter

import orjson
import psutil
import psycopg
import uvloop

from tests.bench.deploy.way import question, turns, until_visible, xadd
from tests.bench.support.stack import measured_stack
from tests.bench.support.timing import cuts, told
from tests.support.stack import Running

USERS, HISTORY = 100, 5_000


class Tally:
    """The results of the recalls of one period."""

    def __init__(self) -> None:
        self.ms: list[float] = []
        self.statuses: Counter[str] = Counter()
        self.errors: Counter[str] = Counter()

    def report(self, title: str) -> None:
        told(title, self.ms)
        bad = {name: count for name, count in self.statuses.items() if not name.endswith(" ok")}
        errors = f"{sum(self.errors.values())} {dict(self.errors) or ''}"
        print(f"errors {errors}, channels not ok {bad or 'none'}", flush=True)


class Wire:
    """HTTP kept alive, in as few steps as it takes: a client library takes as long as a fifth of the answer."""

    def __init__(self, url: str, key: str) -> None:
        self._key = key
        self._host, _, port = url.removeprefix("http://").partition(":")
        self._port = int(port)
        self._free: list[tuple[asyncio.StreamReader, asyncio.StreamWriter]] = []

    async def post(self, path: str, body: bytes) -> tuple[int, bytes]:
        """Status and body of the answer."""
        while self._free and self._free[-1][0].at_eof():
            self._free.pop()[1].close()
        if self._free:
            reader, writer = self._free.pop()
        else:
            reader, writer = await asyncio.open_connection(self._host, self._port)
        head = f"POST {path} HTTP/1.1\r\nHost: {self._host}\r\nContent-Type: application/json\r\n"
        head += f"Authorization: Bearer {self._key}\r\n"
        writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        lines = (await reader.readuntil(b"\r\n\r\n")).decode().lower().split("\r\n")
        fields = dict(line.split(": ", 1) for line in lines[1:] if line)
        answer = await reader.readexactly(int(fields["content-length"]))
        self._free.append((reader, writer))
        return int(lines[0].split()[1]), answer

    def close(self) -> None:
        for _, writer in self._free:
            writer.close()


async def ask(wire: Wire, user: str, text: str, tally: Tally) -> None:
    began = time.perf_counter()
    try:
        status, answer = await wire.post("/v1/recall", orjson.dumps({"user_id": user, "query": text}))
    except (OSError, asyncio.IncompleteReadError):
        tally.errors["connection ended"] += 1
        return
    if status != 200:
        tally.errors[str(status)] += 1
        return
    tally.ms.append((time.perf_counter() - began) * 1000)
    for name, channel in orjson.loads(answer)["channels"].items():
        tally.statuses[f"{name} {channel['status']}"] += 1


async def recall_steadily(running: Running, rate: int, seconds: float, tally: Tally) -> None:
    chance, wire = random.Random(5), Wire(running.read_url, running.key)
    async with asyncio.TaskGroup() as group:
        began = time.perf_counter()
        for number in range(int(rate * seconds)):
            await asyncio.sleep(max(0.0, began + number / rate - time.perf_counter()))
            user = f"user{chance.randrange(USERS)}"
            group.create_task(ask(wire, user, question(chance), tally))
    wire.close()


async def push_steadily(running: Running, rate: int, seconds: float) -> int:
    coming = turns(int(rate * seconds), USERS, seed=11)
    began = time.perf_counter()
    for number, turn in enumerate(coming):
        await asyncio.sleep(max(0.0, began + number / rate - time.perf_counter()))
        await asyncio.to_thread(running.redis.xadd, "turns", turn | {"turn_id": f"live-{number}"})  # type: ignore[arg-type]
    return len(coming)


LAG = """
    SELECT coalesce(max(extract(epoch FROM clock_timestamp() - e.recorded_at)), 0)::float8
    FROM log.checkpoints c
    JOIN log.generations g ON g.projection = c.processor AND g.generation = c.generation AND g.status = 'live'
    JOIN log.events e ON e.partition = c.partition AND e.position = c.position + 1
    WHERE c.processor = 'cards'
"""


async def watch(running: Running, seconds: float) -> None:
    """Print how far the cards are behind, in seconds, and the memory of all processes at three moments, in MB."""
    lags: list[float] = []
    memory: list[int] = []
    until = time.perf_counter() + seconds
    async with await psycopg.AsyncConnection.connect(
        running.admin_database_url, autocommit=True
    ) as connection:
        while time.perf_counter() < until:
            found = await (await connection.execute(LAG)).fetchone()
            assert found is not None
            lags.append(found[0])
            if len(lags) % 10 == 1:  # to look at all pages takes a large part of a second
                memory.append(await asyncio.to_thread(_resident, running.process.pid))
            await asyncio.sleep(1)
    p50, p95, _ = cuts(lags)
    print(
        f"cards behind: p50 {p50:.3f}, p95 {p95:.3f}, most {max(lags):.3f} s; memory {memory[len(memory) // 10]} MB "
        f"after a tenth, {memory[len(memory) // 2]} halfway, {memory[-1]} at the end"
    )


def _resident(pid: int) -> int:
    """Returns the memory of ``pid`` and its descendants in MB. Shared memory counts once."""
    total = 0
    parent = psutil.Process(pid)
    for process in (parent, *parent.children(recursive=True)):
        try:
            total += process.memory_full_info().pss
        except psutil.Error:
            continue
    return total // 2**20


async def measure(running: Running, recalls: int, rate: int, seconds: float) -> int:
    quiet, beside = Tally(), Tally()
    await recall_steadily(running, recalls, 5, Tally())
    await recall_steadily(running, recalls, min(20.0, seconds), quiet)
    quiet.report(f"{recalls} recalls/s alone")
    _, pushed, _ = await asyncio.gather(
        recall_steadily(running, recalls, seconds, beside),
        push_steadily(running, rate, seconds),
        watch(running, seconds),
    )
    beside.report(f"beside {rate} turns/s")
    await asyncio.to_thread(until_visible, running, HISTORY + pushed, "cards")
    return sum(quiet.errors.values()) + sum(beside.errors.values())


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--recalls", type=int, default=50, help="recalls a second")
    parser.add_argument("--turns", type=int, default=50, help="turns a second")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--model", help="embedding model; hash is without embedding")
    options = parser.parse_args()
    environment = {"CARDLOG_EMBED_MODEL": options.model} if options.model else {}
    with measured_stack(**environment) as running:
        xadd(running.redis, turns(HISTORY, USERS, seed=3))
        until_visible(running, HISTORY, "vectors")
        with psycopg.connect(running.admin_database_url, autocommit=True) as connection:
            connection.execute("ANALYZE")  # as PostgreSQL does by itself within a minute
        return 1 if uvloop.run(measure(running, options.recalls, options.turns, options.seconds)) else 0


if __name__ == "__main__":
    sys.exit(main())
