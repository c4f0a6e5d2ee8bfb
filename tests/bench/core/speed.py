"""Measures core documents over HTTP against floors of the same run, on a stack that ``cardlog up`` starts.

Floors: one INSERT in a transaction of its own, and ``/healthz``. Patches at 50/s; reads of the present and of random
old versions of a document with CARDLOG_BENCH_VERSIONS patches (10,000); the fold of these patches in a rebuild.
"""

import os
import random
import time
from datetime import UTC, datetime

import httpx2

from events.core.patches import guarded
from events.core.schema import empty_document
from events.platform.database import connect
from events.store import log
from events.types.core import STREAM, CorePatched
from events.types.envelope import NewEvent, uuid7
from tests.bench.references.speed import bare_insert, spread, spread_with, told
from tests.bench.support.stack import measured_stack
from tests.support.stack import Running

VERSIONS = int(os.environ.get("CARDLOG_BENCH_VERSIONS", "10000"))
_BATCH = 500


def long_history(running: Running, user: str) -> None:
    """Appends patches of a user straight to the log, each decided on the document before it."""
    document = empty_document()
    made: list[NewEvent] = []
    with connect(running.admin_database_url, application="bench") as connection:
        for number in range(VERSIONS):
            place = ("/preferences/other", "/goals/other", "/profile/other")[number % 3]
            op = {
                "op": "add",
                "path": f"{place}/k{number % 97}",
                "value": {"n": number, "text": "a fact " * 5},
            }
            document, ops, guards = guarded(document, [op])
            patch = CorePatched(
                patch=tuple(map(dict, ops)), guards=guards, by="agent", source="bench", confidence=0.9
            )
            made.append(
                NewEvent(
                    event_id=uuid7(), user_id=user, stream=STREAM, payload=patch, occurred_at=datetime.now(UTC),
                    actor="bench",
                )
            )  # fmt: skip
            if len(made) == _BATCH:
                log.append(connection, made)
                made = []
        log.append(connection, made)
        log.announce(connection)


class Client:
    """One keep-alive client of both services."""

    def __init__(self, running: Running) -> None:
        self._http = httpx2.Client(timeout=60, headers=running.administrator)
        self._write, self._read = running.write_url, running.read_url

    def patch(self, user: str, path: str, value: object) -> None:
        body = {"actor": "agent", "patch": [{"op": "add", "path": path, "value": value}]}
        answer = self._http.post(f"{self._write}/v1/memory/{user}/events", json=body)
        assert answer.status_code == 200, answer.text

    def get(self, user: str, **query: int) -> None:
        answer = self._http.get(f"{self._read}/v1/memory/{user}", params=query)
        assert answer.status_code == 200, answer.text

    def health(self) -> None:
        self._http.get(f"{self._write}/healthz")


def main() -> None:
    chosen = random.Random(7)
    with measured_stack() as running:
        client = Client(running)
        floor = bare_insert(running)
        told("GET /healthz at 50/s", spread_with(lambda _: client.health()), floor)
        client.patch("short", "/goals/other/x", 1)
        told(
            "patch of a document at 50/s",
            spread(lambda n: client.patch("short", f"/goals/other/k{n % 64}", n)),
            floor,
        )
        told("present document at 50/s", spread(lambda _: client.get("short")), floor)
        began = time.perf_counter()
        long_history(running, "long")
        running.wait()
        print(f"{VERSIONS} patches appended and folded in {time.perf_counter() - began:.1f} s")
        told("present document after many patches", spread(lambda _: client.get("long")), floor)
        told(
            "old versions of it",
            spread(lambda _: client.get("long", version=chosen.randrange(1, VERSIONS))),
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
