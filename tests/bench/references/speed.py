"""Measures references over HTTP against floors of the same run, on a stack that ``cardlog up`` starts.

Floors: one INSERT of a row of the same size in a transaction of its own (the disk and the round trip), and the write
service's ``/healthz`` (HTTP). PATCH at 50/s, after 1 and after CARDLOG_BENCH_VERSIONS versions (10,000), the present
value, and ops of 16 clients on 100 references, one a request and 20 a request.
"""

import os
import statistics
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import httpx2
import psycopg

from tests.bench.support.stack import measured_stack
from tests.support.stack import Running

VERSIONS = int(os.environ.get("CARDLOG_BENCH_VERSIONS", "10000"))
RATE, SECONDS = 50, 10
CLIENTS, OBJECTS, BATCH = 16, 100, 20
LISTED = "todo_list"


def spread(work: Callable[[int], object], number: int = RATE * SECONDS) -> list[float]:
    """Runs ``work`` at 50/s from eight threads. Returns the times in ms, in order. A late start counts as waiting."""
    began = time.perf_counter()

    def one(index: int) -> float:
        due = began + index / RATE
        time.sleep(max(0.0, due - time.perf_counter()))
        work(index)
        return (time.perf_counter() - due) * 1000

    with ThreadPoolExecutor(8) as many:
        return sorted(many.map(one, range(number)))


def told(name: str, times: list[float], floor: float | None = None) -> float:
    """Prints p50 and p95, with the ratio of p50 to a floor. Returns p50."""
    p50, p95 = statistics.median(times), times[int(len(times) * 0.95)]
    ratio = "" if floor is None else f", {p50 / floor:.2f} x the bare INSERT at p50"
    print(f"{name}: p50 {p50:.1f} ms, p95 {p95:.1f} ms{ratio}", flush=True)
    return p50


class Client:
    """One keep-alive client of both services."""

    def __init__(self, running: Running) -> None:
        self._http = httpx2.Client(timeout=60, headers=running.headers)
        self._write, self._read = running.write_url, running.read_url

    def create(self, kind: str, key: str) -> None:
        body = {"user_id": "ada", "key": key}
        assert self._http.post(f"{self._write}/v1/references/{kind}", json=body).status_code == 201

    def patch(self, kind: str, key: str, **op: object) -> None:
        answer = self._http.patch(f"{self._write}/v1/references/{kind}/{key}", json={"user_id": "ada", **op})
        assert answer.status_code == 200, answer.text

    def get(self, kind: str, key: str) -> None:
        answer = self._http.get(f"{self._read}/v1/references/{kind}/{key}", params={"user_id": "ada"})
        assert answer.status_code == 200, answer.text

    def health(self) -> None:
        self._http.get(f"{self._write}/healthz")


def bare_insert(running: Running) -> float:
    with psycopg.connect(running.admin_database_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE public.bare (n bigint PRIMARY KEY, data text)")
        value = "v" * 1000
        numbers = count()
        began = time.perf_counter()
        while time.perf_counter() - began < 3:
            connection.execute("INSERT INTO public.bare VALUES (%s, %s)", [next(numbers), value])
        rate = next(numbers) / (time.perf_counter() - began)
        print(f"bare INSERT, one writer in a closed loop: {rate:.0f}/s")
        return told(
            "bare INSERT at 50/s",
            spread_with(
                lambda index: connection.execute(
                    "INSERT INTO public.bare VALUES (%s, %s)", [10**9 + index, value]
                )
            ),
        )


def spread_with(work: Callable[[int], object]) -> list[float]:
    return spread(work, RATE * 4)


def main() -> None:
    with measured_stack() as running:
        client = Client(running)
        floor = bare_insert(running)
        told("GET /healthz at 50/s", spread_with(lambda _: client.health()), floor)
        client.create(LISTED, "young")
        client.create("variable", "short")
        client.create("variable", "long")
        told(
            "PATCH of a variable at 50/s",
            spread(lambda n: client.patch("variable", "short", op="set", path=f"/{n % 64}", value=n)),
            floor,
        )
        client.patch(LISTED, "young", op="add", text="one", item_id="1")
        told("present value at 50/s", spread(lambda _: client.get("variable", "short")), floor)

        def grow(part: int) -> None:
            mine = Client(running)
            for number in range(VERSIONS // CLIENTS):
                mine.patch("variable", "long", op="set", path=f"/{part}", value=number)

        began = time.perf_counter()
        with ThreadPoolExecutor(CLIENTS) as many:
            list(many.map(grow, range(CLIENTS)))
        spent = time.perf_counter() - began
        print(f"{VERSIONS} ops of {CLIENTS} clients on one reference: {VERSIONS / spent:.0f}/s")
        # Both values have the same size, so only the history differs.
        client.create("variable", "same")
        client.patch("variable", "same", op="set", value={str(part): 1 for part in range(CLIENTS)})
        # The two take turns, so the load of the machine is the same for both.
        times: dict[str, list[float]] = {"same": [], "long": []}

        def one_of_two(n: int) -> None:
            key, path = ("same", "long")[n % 2], f"/{n // 2 % 32}"
            began = time.perf_counter()
            client.patch("variable", key, op="set", path=path, value=-n - 1)
            times[key].append((time.perf_counter() - began) * 1000)

        spread(one_of_two)
        few = told("PATCH after few versions, without waiting", sorted(times["same"]), floor)
        many_ = told(f"PATCH after {VERSIONS} versions, without waiting", sorted(times["long"]), floor)
        print(f"ratio of p50, {VERSIONS} versions to few: {many_ / few:.2f}")
        told("present value after many versions", spread(lambda _: client.get("variable", "long")), floor)

        for number in range(OBJECTS):
            client.create("variable", f"object {number}")
        until = time.perf_counter() + SECONDS

        def apply(part: int) -> int:
            mine, done = Client(running), 0
            while time.perf_counter() < until:
                key = f"object {(part * 7 + done) % OBJECTS}"
                mine.patch("variable", key, op="set", path=f"/{part}", value=done)
                done += 1
            return done

        with ThreadPoolExecutor(CLIENTS) as many:
            total = sum(many.map(apply, range(CLIENTS)))
        print(f"ops of {CLIENTS} clients on {OBJECTS} references, one a request: {total / SECONDS:.0f}/s")
        until_batched = time.perf_counter() + SECONDS

        def apply_many(part: int) -> int:
            mine, done = Client(running), 0
            while time.perf_counter() < until_batched:
                key = f"object {(part * 7 + done) % OBJECTS}"
                ops = [{"op": "set", "path": f"/{part % 4}_{n}", "value": done} for n in range(BATCH)]
                mine.patch("variable", key, op="batch", ops=ops)
                done += 1
            return done * BATCH

        with ThreadPoolExecutor(CLIENTS) as many:
            total = sum(many.map(apply_many, range(CLIENTS)))
        print(f"the same, {BATCH} ops a request: {total / SECONDS:.0f}/s")


if __name__ == "__main__":
    main()
