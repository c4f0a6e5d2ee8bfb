"""The curator relates what was said apart, adds it once, and takes a run back."""

import random
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from starlette.testclient import TestClient

from events.http.errors import ProblemError
from events.platform.database import Connection
from events.store import log
from events.types.curation import ACTOR
from events.types.envelope import uuid7
from events.types.relations import CardsConnected
from ingest.api.curator_routes import UserRuns, undo
from ingest.curator.asking import undecided
from ingest.curator.connect import connect
from ingest.curator.runner import BehindError, curate, memory_of
from ingest.decider import Command
from projectors.core.projector import CoreProjector
from tests.support.conversing import day
from tests.support.ingest.curating import BEGIN, fold, relations, tell
from tests.support.projectors.folding import count, event, fold_live
from tests.support.tables import examples

REX = ((0, "Alex has a pet."), (30, "Alex has a dog named Rex."), (200, "Rex passed away last week."))


ONE_FACT = (
    ("I moved to Turku.", "I moved to Graz.", "I live in Turku.", "I no longer live in Graz.",
     "From next month I live in Graz.", "I moved to Split last week."),
    ("I like opera.", "I don't like opera anymore."),
)  # fmt: skip


@pytest.mark.parametrize("seed", range(2))
def test_what_a_timeline_tells_stays(connection: Connection, read: TestClient, seed: int) -> None:
    """A memory that is curated after each turn is one that nobody curated."""
    chosen = random.Random(seed)
    for chain in range(4):
        days = sorted(chosen.choices((0, 2, 40, 42, 80), k=chosen.randint(2, 5)))
        told = dict.fromkeys((day, chosen.choice(ONE_FACT[chain % 2])) for day in days)
        for each in told:
            tell(connection, each, user=f"plain {chain}")
            tell(connection, each, user=f"curated {chain}")
            curate(connection, f"curated {chain}")
            fold(connection)
        fold_live(connection, CoreProjector())
        assert relations(connection, f"curated {chain}") == set(), told
        assert chain % 2 or not undecided(memory_of(connection, f"curated {chain}"), ()), told
        assert shown(read, f"curated {chain}") == shown(read, f"plain {chain}"), told


def shown(read: TestClient, user: str) -> tuple[list[tuple[str, ...]], dict[str, Any]]:
    """Returns what the cards and the core document of a user tell."""
    found = read.get("/v1/cards", params={"user_id": user, "status": "*"}).json()["cards"]
    names = ("content", "status", "effective_at", "superseded_at")
    document = read.get(f"/v1/memory/{user}").json()["document"]
    return sorted(tuple(str(card[name]) for name in names) for card in found), document | {"_meta": None}


@examples
def test_stories(connection: Connection, story: str, told: tuple[str, ...], related: set[str]) -> None:
    tell(connection, *((int(day), words) for day, _, words in (each.partition(" ") for each in told)))
    curate(connection, "ada")
    fold(connection)
    assert set(map(" ~ ".join, relations(connection))) == related, story


def test_a_run_without_news_writes_nothing(connection: Connection) -> None:
    tell(connection, *REX)
    assert curate(connection, "ada", dry_run=True).events
    before = count(connection, "log.events")
    assert len(curate(connection, "ada").events) == 2
    assert count(connection, "log.events") == before + 2
    # Before and after the fold of what it added: the second run must not depend on the projections of the first.
    assert curate(connection, "ada").events == ()
    fold(connection)
    assert curate(connection, "ada").events == ()
    assert count(connection, "log.events") == before + 2


def test_what_was_told_in_parts_is_related_as_at_once(connection: Connection) -> None:
    for each in REX:
        tell(connection, each)
        curate(connection, "ada")
    tell(connection, *REX, user="eve")
    curate(connection, "eve")
    fold(connection)
    assert relations(connection) == relations(connection, "eve") != set()


def test_a_related_pair_stays_as_it_is(connection: Connection) -> None:
    tell(connection, *REX)
    memory = memory_of(connection, "ada")
    [found] = connect(memory)
    other = CardsConnected(
        from_card=found.evidence[0], to_card=found.evidence[1], predicate="related_to", reason="by hand"
    )
    log.append(connection, [event(other, "ada")])
    fold(connection)
    assert curate(connection, "ada").events == ()


def test_the_curator_waits_for_the_projections(connection: Connection) -> None:
    tell(connection, *REX)
    late = CardsConnected(from_card=uuid7(), to_card=uuid7(), predicate="related_to", reason="by hand")
    log.append(connection, [event(late, "ada")])
    with pytest.raises(BehindError):
        curate(connection, "ada")


def test_an_undertaking_of_three_sessions_becomes_a_thread(connection: Connection) -> None:
    words = "We talked about the kitchen renovation again."
    tell(connection, (0, words), (2, words), (9, words))
    curate(connection, "ada")
    [thread] = memory_of(connection, "ada").threads
    assert (thread.title, len(thread.cards), thread.opened_at > BEGIN) == ("kitchen renovation", 3, True)
    tell(connection, (12, "The kitchen renovation costs more than planned."))
    curate(connection, "ada")
    [thread] = memory_of(connection, "ada").threads
    assert len(thread.cards) == 4
    assert curate(connection, "ada").events == ()


TOLD = ((0, "Alex has a pet."), (30, "Alex has a dog named Rex."))


def undone(connection: Connection, run_id: UUID) -> bool:
    command = Command(owner="ada", actor="user/ada", at=day(0))
    with connection.transaction():
        return undo(UserRuns(connection, command, run_id), "wrong").changed


def test_an_undone_run_stays_undone(connection: Connection) -> None:
    tell(connection, *TOLD)
    run = curate(connection, "ada").events[0].event_id
    assert undone(connection, run)
    assert not undone(connection, run)
    fold(connection)
    assert relations(connection) == set()
    assert curate(connection, "ada").events == ()
    # The same words under other ids: the digest of the words is the tombstone.
    tell(connection, (60, "Alex has a pet."), (90, "Nora has a cat."), (120, "Nora has a grey cat."))
    curate(connection, "ada")
    fold(connection)
    assert relations(connection) == {
        ("Alex has a pet", "same_as", "Alex has a pet"),
        ("Nora has a grey cat", "expands", "Nora has a cat"),
    }


def test_a_relation_that_somebody_stated_again_stays(connection: Connection) -> None:
    tell(connection, *TOLD)
    ran, connected = curate(connection, "ada").events
    assert isinstance(connected.payload, CardsConnected)
    by_hand = event(connected.payload, "ada")
    log.append(connection, [replace(by_hand, stream=connected.stream)])
    assert undone(connection, ran.event_id)
    fold(connection)
    assert count(connection, "cards.relations WHERE predicate = 'expands'") == 1
    assert count(connection, f"cards.relations WHERE actor = '{ACTOR}'") == 0


def test_a_thread_of_an_undone_run_is_closed_and_empty(connection: Connection) -> None:
    words = "We talked about the kitchen renovation again."
    tell(connection, (0, words), (2, words), (9, words))
    assert undone(connection, curate(connection, "ada").events[0].event_id)
    fold(connection)
    [thread] = memory_of(connection, "ada").threads
    assert (thread.status, thread.cards) == ("closed", {})
    assert curate(connection, "ada").events == ()


def test_an_unknown_run_is_refused(connection: Connection) -> None:
    with pytest.raises(ProblemError) as refused:
        undone(connection, uuid7())
    assert (refused.value.status, refused.value.document["field"]) == (404, "run_id")
