"""Measures core documents over HTTP against floors of the same run, on a stack that ``cardlog up`` starts.

Floors: one INSERT in a transaction of its own, and ``/healthz``. Patches at 50/s; reads of the present and of random
old versions of a document with CARDLOG_BENCH_VERSIONS patches (10,000); the fold of these patches in a rebuild.
"""

import os
import random
import time
from datetime import UTC, datetime

from events.core.patches import guarded
from events.core.schema import empty_document
from events.types.core import STREAM, CorePatched
from events.types.envelope import NewEvent
from tests.bench.support.stack import append, event_of, measured_stack
from tests.bench.support.timing import RATE, Client, bare_insert, spread, told
from tests.support.stack import Running

VERSIONS = int(os.environ.get("CARDLOG_BENCH_VERSIONS", "10000"))


def long_history(running: Running, user: str) -> None:
    """Appends patches of a user straight to the log, each decided on the document before it."""
    document = empty_document()
    made: list[NewEvent] = []
    for number in range(VERSIONS):
        place = ("/preferences/other", "/goals/other", "/profile/other")[number % 3]
        value = {"n": number, "text": "a fact " * 5}
        op = {"op": "add", "path": f"{place}/k{number % 97}", "value": value}
        document, ops, guards = guarded(document, [op])
        patch = CorePatched(
            patch=tuple(map(dict, ops)), guards=guards, by="agent", source="bench", confidence=0.9
        )
        made.append(event_of(user, patch, datetime.now(UTC), STREAM))
    append(running, made)


class Documents(Client):
    """The documents of users."""

    def patch(self, user: str, path: str, value: object) -> None:
        op = {"op": "add", "path": path, "value": value}
        self.write("POST", f"memory/{user}/events", {"actor": "agent", "patch": [op]})


def main() -> None:
    chosen = random.Random(7)
    with measured_stack() as running:
        client = Documents(running, running.administrator)
        floor = bare_insert(running)
        told("GET /healthz at 50/s", spread(lambda _: client.health(), RATE * 4), floor)
        client.patch("short", "/goals/other/x", 1)
        told(
            "patch of a document at 50/s",
            spread(lambda n: client.patch("short", f"/goals/other/k{n % 64}", n)),
            floor,
        )
        told("present document at 50/s", spread(lambda _: client.read("memory/short")), floor)
        began = time.perf_counter()
        long_history(running, "long")
        running.wait()
        print(f"{VERSIONS} patches appended and folded in {time.perf_counter() - began:.1f} s")
        told("present document after many patches", spread(lambda _: client.read("memory/long")), floor)
        told(
            "old versions of it",
            spread(lambda _: client.read("memory/long", version=chosen.randrange(1, VERSIONS))),
            floor,
        )
        told(
            "patch of it at 50/s",
            spread(lambda n: client.patch("long", f"/goals/other/k{n % 64}", -n)),
            floor,
        )
        print(running.command("rebuild", "core", "--verify", "--json"))


if __name__ == "__main__":
    main()
