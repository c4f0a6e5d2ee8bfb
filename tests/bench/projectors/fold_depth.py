"""Compares the cost of folding an event for a user with 100 cards and a user with 100,000, in the same tables.

Each round appends one batch of the same make for the one and for one of the others (episodes, new likings and
restated ones, facts that change, concepts) and times the live projector on it; the medians of all rounds are compared.
Takes about two minutes.
"""

from __future__ import annotations

import random
import statistics
import sys
import tempfile
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from deploy.embedded.postgres import EmbeddedPostgres
from events.platform.database import Connection, connect, migrate
from events.platform.settings import Settings
from events.store import log
from events.types.cards import CardOrigin, EventNoted, KnowledgeLearned, StateAsserted
from events.types.codec import Payload
from events.types.envelope import NewEvent, uuid7
from projectors.cards.projector import CardsProjector
from projectors.generations.generations import ensure_live
from projectors.rebuild.rebuild import Rebuild
from projectors.runner import Runner

SHALLOW, DEEP = 100, 100_000
ROUNDS = 60
BATCH = 60
_BEGUN = datetime(2025, 1, 1, tzinfo=UTC)
_WORDS = [
    f"{a}{b}" for a in ("bal", "cor", "din", "fel", "gam", "hup") for b in ("ta", "ri", "mon", "sek", "lo")
]


class Life:
    """The statements of one user, one after the other."""

    def __init__(self, user_id: str) -> None:
        self.user_id = user_id
        self._random = random.Random(7)
        self._said = 0

    def events(self, count: int) -> list[NewEvent]:
        return [self._event() for _ in range(count)]

    def _event(self) -> NewEvent:
        self._said += 1
        said_at = _BEGUN + timedelta(minutes=self._said)
        origin = CardOrigin(
            project_id="default", session_id="s", turn_ids=(f"turn-{self._said}",), said_at=said_at, source_span=None,
            provenance="user_stated",
        )  # fmt: skip
        return NewEvent(
            event_id=uuid7(), user_id=self.user_id, stream="s", payload=self._payload(origin), occurred_at=said_at,
            actor="bench",
        )  # fmt: skip

    def _payload(self, origin: CardOrigin) -> Payload:
        text = " ".join(self._random.choices(_WORDS, k=8))
        match self._said % 20:
            case 0:
                # Many facts have few statements each: the number of statements of a fact is not measured here.
                return self._state(origin, f"fact {self._said // 100}", "single_value", text)
            case 1 | 2 | 3:
                return self._state(origin, "likes", "multi_value", f"{text} {self._said // 40}")
            case 4:
                return KnowledgeLearned(
                    content=text, title=f"{text} {self._said}", definition=text, tags=(), origin=origin
                )
        return EventNoted(
            content=text, entity="user", tags=(), origin=origin, occurred_at=origin.said_at, episode=True
        )

    def _state(self, origin: CardOrigin, key: str, cardinality: str, value: str) -> StateAsserted:
        return StateAsserted(
            content=f"says {value}", entity="user", concept_key=key, value=value, tags=(), origin=origin,
            cardinality=cardinality, effective_at=origin.said_at, announced=True,  # type: ignore[arg-type]
        )  # fmt: skip


def timed(connection: Connection, runner: Runner, life: Life) -> float:
    """Seconds an event, appended and then folded."""
    log.append(connection, life.events(BATCH))
    began = time.perf_counter()
    while runner.step(connection):
        pass
    return (time.perf_counter() - began) / BATCH


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, EmbeddedPostgres(Path(folder)) as server:
        settings = replace(Settings(), database_url=server.url)
        with connect(server.url, application="bench") as connection:
            migrate(connection)
            ensure_live(connection, CardsProjector())
            deep = Life("deep user")
            # Each shallow user is timed once, so that this user stays shallow.
            shallow = [Life(f"shallow user {number}") for number in range(ROUNDS)]
            for life, depth in [(deep, DEEP), *((life, SHALLOW) for life in shallow)]:
                for begun in range(0, depth, 1000):
                    log.append(connection, life.events(min(1000, depth - begun)))
            Rebuild(settings, CardsProjector(), workers=2).run()
            runner = Runner(settings, CardsProjector(), lambda: False)
            timed(connection, runner, Life("first user"))  # connections and caches are warm now
            costs = [(timed(connection, runner, life), timed(connection, runner, deep)) for life in shallow]
        few, many = (statistics.median(cost) * 1e6 for cost in zip(*costs, strict=True))
        sys.stdout.write(
            f"{SHALLOW} cards: {few:.0f} microseconds an event, {DEEP} cards: {many:.0f}, ratio {many / few:.2f}\n"
        )


if __name__ == "__main__":
    main()
