"""Times of many requests, in milliseconds."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from statistics import quantiles
from typing import Any

import httpx2
import psycopg

from tests.support.stack import Running

RATE, SECONDS = 50, 10
INSERT = "INSERT INTO public.bare VALUES (%s, %s)"


def timed(work: Callable[[], object]) -> float:
    """Returns the milliseconds that ``work`` takes."""
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def cuts(times: Sequence[float]) -> tuple[float, float, float]:
    """p50, p95 and p99."""
    found = quantiles(times, n=100, method="inclusive") if len(times) > 1 else [*times] * 99
    return found[49], found[94], found[98]


def told(name: str, times: Sequence[float], floor: float | None = None) -> float:
    """Prints the percentiles, with the ratio of p50 to a floor. Returns p50."""
    p50, p95, p99 = cuts(times)
    ratio = "" if floor is None else f", {p50 / floor:.2f} x the floor at p50"
    print(f"{name:<44} p50 {p50:7.1f} ms  p95 {p95:7.1f}  p99 {p99:7.1f}  n {len(times)}{ratio}", flush=True)
    return p50


def spread(work: Callable[[int], object], number: int = RATE * SECONDS) -> list[float]:
    """Runs ``work`` at 50/s from eight threads, and returns the times. A late start counts as waiting."""
    began = time.perf_counter()

    def one(index: int) -> float:
        due = began + index / RATE
        time.sleep(max(0.0, due - time.perf_counter()))
        work(index)
        return (time.perf_counter() - due) * 1000

    with ThreadPoolExecutor(8) as many:
        return list(many.map(one, range(number)))


def bare_insert(running: Running) -> float:
    """The floor of a write: one INSERT of a kilobyte in a transaction of its own, at 50/s. Returns p50."""
    with psycopg.connect(running.admin_database_url, autocommit=True) as connection:
        connection.execute("CREATE TABLE public.bare (n bigint PRIMARY KEY, data text)")
        numbers = count()
        until = time.perf_counter() + 3
        while time.perf_counter() < until:
            connection.execute(INSERT, [next(numbers), "v" * 1000])
        print(f"bare INSERT, one writer in a closed loop: {next(numbers) / 3:.0f}/s")
        times = spread(lambda index: connection.execute(INSERT, [10**9 + index, "v" * 1000]), RATE * 4)
        return told("bare INSERT at 50/s", times)


class Client:
    """One keep-alive client of both services."""

    def __init__(self, running: Running, headers: dict[str, str] | None = None) -> None:
        self._http = httpx2.Client(timeout=60, headers=headers or running.headers)
        self._running = running

    def write(self, method: str, path: str, body: dict[str, Any], status: int = 200) -> None:
        answer = self._http.request(method, f"{self._running.write_url}/v1/{path}", json=body)
        assert answer.status_code == status, answer.text

    def read(self, path: str, **query: Any) -> Any:
        answer = self._http.get(f"{self._running.read_url}/v1/{path}", params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def health(self) -> None:
        self._http.get(f"{self._running.write_url}/healthz")
