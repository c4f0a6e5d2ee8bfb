"""Measures the pages of people over HTTP, of one user with CARDLOG_BENCH_CARDS cards (100,000) about 300 people.

Every fifth card is a state, so a page shows about 40 of them. Floor: ``/healthz`` of the same run. Goal: p95 of a
person's page within 10 ms.
"""

import os
import random
import time
from datetime import UTC, datetime, timedelta

import httpx2

from events.platform.database import connect, see_tenant_of
from events.store import authentication, log
from events.types.cards import CardOrigin, EventNoted, StateAsserted
from events.types.envelope import NewEvent, uuid7
from tests.bench.references.speed import told as printed
from tests.bench.support.stack import measured_stack
from tests.support.stack import WITHOUT_MODEL, Running
from tests.support.waiting import eventually

CARDS = int(os.environ.get("CARDLOG_BENCH_CARDS", "100000"))
PEOPLE = 300
ASKED = 300
_BATCH = 1_000
_BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
_SYLLABLES = ("Ba", "Do", "Ki", "Lu", "Me", "No", "Ri", "Sa", "Te", "Vo")
_USER = "bench"


def _name(number: int) -> str:
    first, second, third = number % 10, number // 10 % 10, number // 100
    return (
        f"{_SYLLABLES[first]}{_SYLLABLES[second].lower()}n {_SYLLABLES[third]}{_SYLLABLES[second].lower()}r"
    )


def _card(number: int, chosen: random.Random) -> NewEvent:
    said_at = _BEGAN + timedelta(minutes=number)
    name = _name(chosen.randrange(PEOPLE))
    text = (
        f"{name} told me that order {number} came."
        if number % 3
        else f"My friend {name} called about {number}."
    )
    origin = CardOrigin(
        project_id="default", session_id=f"s{number // 20}", turn_ids=(f"t{number}",), said_at=said_at,
        source_span=None, provenance="user_stated",
    )  # fmt: skip
    told: EventNoted | StateAsserted = EventNoted(
        content=text, entity="user", tags=("order",), origin=origin, occurred_at=said_at, episode=True
    )
    if number % 5 == 0:
        told = StateAsserted(
            content=f"{name} likes dish {number}", entity=name, concept_key="likes", value=f"dish {number}",
            tags=("dish",), cardinality="multi_value", effective_at=said_at, origin=origin,
        )  # fmt: skip
    return NewEvent(
        event_id=uuid7(), user_id=_USER, stream="s", payload=told, occurred_at=said_at, actor="bench"
    )


def fill(running: Running) -> None:
    """Appends the cards straight to the log, and waits until the tables hold them."""
    authentication.use_file(running.ready("log_key_file"))
    chosen = random.Random(7)
    began = time.perf_counter()
    with connect(running.admin_database_url, application="bench") as connection:
        for first in range(0, CARDS, _BATCH):
            with connection.transaction():
                see_tenant_of(connection, _USER)
                log.append(
                    connection, [_card(each, chosen) for each in range(first, min(CARDS, first + _BATCH))]
                )
        log.announce(connection)

        def folded() -> bool:
            with connection.transaction():
                see_tenant_of(connection, _USER)
                row = connection.execute("SELECT count(DISTINCT event_id) FROM people.mentions").fetchone()
            return row is not None and row[0] >= CARDS

        eventually(folded, within=1800)
    print(f"{CARDS:,} cards appended and folded in {time.perf_counter() - began:.0f} s", flush=True)


def main() -> None:
    with measured_stack(**WITHOUT_MODEL) as running:
        fill(running)
        http = httpx2.Client(timeout=60, headers=running.headers, base_url=running.read_url)

        def get(path: str) -> float:
            began = time.perf_counter()
            answer = http.get(path, params={} if path == "/healthz" else {"user_id": _USER})
            assert answer.status_code == 200, answer.text
            return (time.perf_counter() - began) * 1000

        people = http.get("/v1/people", params={"user_id": _USER}).json()["people"]
        ids = [each["person_id"] for each in people]
        for name, path in (
            ("GET /healthz", "/healthz"),
            ("GET /v1/people", "/v1/people"),
            ("GET /v1/people/{id}", "/v1/people/{}"),
            ("GET /v1/people/{id}/timeline", "/v1/people/{}/timeline"),
        ):
            times = [get(path.format(ids[number % len(ids)])) for number in range(ASKED + 30)][30:]
            printed(name, sorted(times))


if __name__ == "__main__":
    main()
