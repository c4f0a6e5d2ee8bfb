"""Measures references over HTTP against floors of the same run, on a stack that ``cardlog up`` starts.

Floors: one INSERT of a row of the same size in a transaction of its own (the disk and the round trip), and the write
service's ``/healthz`` (HTTP). PATCH at 50/s, after 1 and after CARDLOG_BENCH_VERSIONS versions (10,000), the present
value, and ops of 16 clients on 100 references, one a request and 20 a request.
"""

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from tests.bench.support.stack import measured_stack
from tests.bench.support.timing import RATE, SECONDS, Client, bare_insert, spread, told

VERSIONS = int(os.environ.get("CARDLOG_BENCH_VERSIONS", "10000"))
CLIENTS, OBJECTS, BATCH = 16, 100, 20
LISTED = "todo_list"


class References(Client):
    """The references of one user."""

    def create(self, kind: str, key: str) -> None:
        self.write("POST", f"references/{kind}", {"user_id": "ada", "key": key}, 201)

    def patch(self, kind: str, key: str, **op: object) -> None:
        self.write("PATCH", f"references/{kind}/{key}", {"user_id": "ada", **op})

    def get(self, kind: str, key: str) -> None:
        self.read(f"references/{kind}/{key}", user_id="ada")


def main() -> None:
    with measured_stack() as running:
        client = References(running)
        floor = bare_insert(running)
        told("GET /healthz at 50/s", spread(lambda _: client.health(), RATE * 4), floor)
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
            mine = References(running)
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
        few = told("PATCH after few versions, without waiting", times["same"], floor)
        many_ = told(f"PATCH after {VERSIONS} versions, without waiting", times["long"], floor)
        print(f"ratio of p50, {VERSIONS} versions to few: {many_ / few:.2f}")
        told("present value after many versions", spread(lambda _: client.get("variable", "long")), floor)

        for number in range(OBJECTS):
            client.create("variable", f"object {number}")

        def at_once(ops_of: Callable[[int, int], dict[str, object]]) -> float:
            """Requests a second of all clients, each in a closed loop."""
            until = time.perf_counter() + SECONDS

            def apply(part: int) -> int:
                mine, done = References(running), 0
                while time.perf_counter() < until:
                    mine.patch("variable", f"object {(part * 7 + done) % OBJECTS}", **ops_of(part, done))
                    done += 1
                return done

            with ThreadPoolExecutor(CLIENTS) as many:
                return sum(many.map(apply, range(CLIENTS))) / SECONDS

        def several(part: int, done: int) -> dict[str, object]:
            ops = [{"op": "set", "path": f"/{part % 4}_{n}", "value": done} for n in range(BATCH)]
            return {"op": "batch", "ops": ops}

        alone = at_once(lambda part, done: {"op": "set", "path": f"/{part}", "value": done})
        print(f"ops of {CLIENTS} clients on {OBJECTS} references, one a request: {alone:.0f}/s")
        print(f"the same, {BATCH} ops a request: {at_once(several) * BATCH:.0f}/s")


if __name__ == "__main__":
    main()
