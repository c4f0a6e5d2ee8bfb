"""Measures the pages of people over HTTP, of one user with CARDLOG_BENCH_CARDS cards (100,000) about 300 people.

Every fifth card is a state, so a page shows about 40 of them. Floor: ``/healthz`` of the same run. Goal: p95 of a
person's page within 10 ms.
"""

import os
import random
import time
from datetime import UTC, datetime, timedelta

from events.platform.database import connect, see_tenant_of
from events.types.cards import CardOrigin, EventNoted, StateAsserted
from events.types.envelope import NewEvent
from tests.bench.support.stack import append, event_of, measured_stack
from tests.bench.support.timing import Client, timed, told
from tests.support.stack import WITHOUT_MODEL, Running
from tests.support.waiting import eventually

CARDS = int(os.environ.get("CARDLOG_BENCH_CARDS", "100000"))
PEOPLE = 300
ASKED = 300
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
    card: EventNoted | StateAsserted = EventNoted(
        content=text, entity="user", tags=("order",), origin=origin, occurred_at=said_at, episode=True
    )
    if number % 5 == 0:
        card = StateAsserted(
            content=f"{name} likes dish {number}", entity=name, concept_key="likes", value=f"dish {number}",
            tags=("dish",), cardinality="multi_value", effective_at=said_at, origin=origin,
        )  # fmt: skip
    return event_of(_USER, card, said_at)


def fill(running: Running) -> None:
    """Appends the cards straight to the log, and waits until the tables hold them."""
    chosen = random.Random(7)
    began = time.perf_counter()
    append(running, [_card(each, chosen) for each in range(CARDS)])
    with connect(running.admin_database_url, application="bench") as connection:

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
        client = Client(running)
        people = client.read("people", user_id=_USER)["people"]
        ids = [each["person_id"] for each in people]
        told("GET /healthz", [timed(client.health) for _ in range(ASKED)])
        for path in ("people", "people/{}", "people/{}/timeline"):
            places = [path.format(ids[number % len(ids)]) for number in range(ASKED + 30)]
            times = [timed(lambda place=place: client.read(place, user_id=_USER)) for place in places]  # type: ignore[misc]
            told(f"GET /v1/{path}", times[30:])


if __name__ == "__main__":
    main()
