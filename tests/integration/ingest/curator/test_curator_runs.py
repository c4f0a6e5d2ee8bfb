"""The curator relates what was said apart, adds it once, and writes nothing without news."""

import random
from typing import Any

import pytest
from starlette.testclient import TestClient

from events.platform.database import Connection
from events.store import log
from events.types.envelope import uuid7
from events.types.relations import CardsConnected
from ingest.curator.asking import undecided
from ingest.curator.connect import connect
from ingest.curator.runner import BehindError, curate, memory_of
from projectors.core.projector import CoreProjector
from tests.support.ingest.curating import BEGIN, fold, relations, tell
from tests.support.projectors.folding import count, event, fold_live

REX = ((0, "Alex has a pet."), (30, "Alex has a dog named Rex."), (200, "Rex passed away last week."))
STORIES: dict[str, tuple[tuple[tuple[int, str], ...], set[tuple[str, str, str]]]] = {
    "a pet": (REX, {("Alex has a dog named Rex", "expands", "Alex has a pet")}),
    "a pet, in Chinese": (
        ((0, "我有一隻寵物。"), (30, "我養了一隻狗叫小黑。"), (200, "小黑上個月過世了。")),
        {("養了狗，名叫小黑", "expands", "我有一隻寵物。")},
    ),
    "a van": (
        ((0, "I have a grey van."), (90, "I sold my van.")),
        {("I sold my van", "state_change", "I have a grey van")},
    ),
    "a card of two sentences is none of them": (
        ((0, "I have a grey van. I am at home."), (90, "I sold my van."), (91, "I have a grey van. See you.")),
        set(),
    ),
    "a person who ends something goes on": (((0, "I live with Tom."), (90, "Tom sold his boat.")), set()),
    "I am no name": (((0, "My sister and I have a boat."), (90, "I nearly died.")), set()),
    "what is not liked may be done": (((0, "I take trains."), (90, "I don't like trains anymore.")), set()),
    "what is denied beside the value": (
        ((0, "The boat of Tom is white."), (90, "The boat of Tom is black, not white.")),
        set(),
    ),
    "a bank": (
        ((0, "Alex works at the bank."), (90, "Alex works part-time at the bank.")),
        {("Alex works part-time at the bank", "qualifies", "Alex works at the bank")},
    ),
    "two cars": (
        ((0, "My car is blue."), (90, "My car is red.")),
        {("My car is red", "contradicts", "My car is blue")},
    ),
    "two cities are a matter of the timeline": (
        ((0, "Alex lives in Rome."), (90, "Alex lives in Milan.")),
        set(),
    ),
    "no car": (
        ((0, "Nora has a car."), (90, "Nora doesn't have a car.")),
        {("Nora doesn't have a car", "contradicts", "Nora has a car")},
    ),
    "what the user said stays": (
        ((0, "Alex has a cat."), (90, "Alex never had a cat.")),
        {("Alex never had a cat", "contradicts", "Alex has a cat")},
    ),
    "the same again": (
        ((0, "Mina has two daughters."), (90, "Mina has got two daughters.")),
        {("Mina has got two daughters", "same_as", "Mina has two daughters")},
    ),
    "two rooms": (((0, "I met Tom in Room 101."), (90, "I met Tom in Room 102.")), set()),
    "two people of one name": (
        (
            (0, "My sister Alex has a dog."),
            (1, "Alex from work has a cat."),
            (2, "Alex has no dog."),
            (3, "Alex has a dog."),
        ),
        set(),
    ),
}  # fmt: skip


ONE_FACT = (
    ("I moved to Turku.", "I moved to Graz.", "I live in Turku.", "I no longer live in Graz.",
     "From next month I live in Graz.", "I moved to Split last week."),
    ("I like opera.", "I don't like opera anymore."),
)  # fmt: skip


@pytest.mark.parametrize("seed", range(2))
def test_what_a_timeline_tells_stays(
    connection: Connection, database: str, read: TestClient, seed: int
) -> None:
    """A memory that is curated after each turn is one that nobody curated."""
    chosen = random.Random(seed)
    for chain in range(4):
        days = sorted(chosen.choices((0, 2, 40, 42, 80), k=chosen.randint(2, 5)))
        told = dict.fromkeys((day, chosen.choice(ONE_FACT[chain % 2])) for day in days)
        for each in told:
            tell(connection, database, each, user=f"plain {chain}")
            tell(connection, database, each, user=f"curated {chain}")
            curate(connection, f"curated {chain}")
            fold(database)
        fold_live(database, CoreProjector())
        assert relations(connection, f"curated {chain}") == set(), told
        assert chain % 2 or not undecided(memory_of(connection, f"curated {chain}"), ()), told
        assert shown(read, f"curated {chain}") == shown(read, f"plain {chain}"), told


def shown(read: TestClient, user: str) -> tuple[list[tuple[str, ...]], dict[str, Any]]:
    """Returns what the cards and the core document of a user tell."""
    found = read.get("/v1/cards", params={"user_id": user, "status": "*"}).json()["cards"]
    names = ("content", "status", "effective_at", "superseded_at")
    document = read.get(f"/v1/memory/{user}").json()["document"]
    return sorted(tuple(str(card[name]) for name in names) for card in found), document | {"_meta": None}


@pytest.mark.parametrize("story", STORIES)
def test_stories(connection: Connection, database: str, story: str) -> None:
    told, expected = STORIES[story]
    tell(connection, database, *told)
    curate(connection, "ada")
    fold(database)
    assert relations(connection) == expected


def test_a_run_without_news_writes_nothing(connection: Connection, database: str) -> None:
    tell(connection, database, *REX)
    assert curate(connection, "ada", dry_run=True).events
    before = count(connection, "log.events")
    assert len(curate(connection, "ada").events) == 2
    assert count(connection, "log.events") == before + 2
    # Before and after the fold of what it added: the second run must not depend on the projections of the first.
    assert curate(connection, "ada").events == ()
    fold(database)
    assert curate(connection, "ada").events == ()
    assert count(connection, "log.events") == before + 2


def test_what_was_told_in_parts_is_related_as_at_once(connection: Connection, database: str) -> None:
    for each in REX:
        tell(connection, database, each)
        curate(connection, "ada")
    tell(connection, database, *REX, user="eve")
    curate(connection, "eve")
    fold(database)
    assert relations(connection) == relations(connection, "eve") != set()


def test_a_related_pair_stays_as_it_is(connection: Connection, database: str) -> None:
    tell(connection, database, *REX)
    memory = memory_of(connection, "ada")
    [found] = connect(memory)
    other = CardsConnected(
        from_card=found.evidence[0], to_card=found.evidence[1], predicate="related_to", reason="by hand"
    )
    log.append(connection, [event(other, "ada")])
    fold(database)
    assert curate(connection, "ada").events == ()


def test_the_curator_waits_for_the_projections(connection: Connection, database: str) -> None:
    tell(connection, database, *REX)
    late = CardsConnected(from_card=uuid7(), to_card=uuid7(), predicate="related_to", reason="by hand")
    log.append(connection, [event(late, "ada")])
    with pytest.raises(BehindError):
        curate(connection, "ada")


def test_an_undertaking_of_three_sessions_becomes_a_thread(connection: Connection, database: str) -> None:
    words = "We talked about the kitchen renovation again."
    tell(connection, database, (0, words), (2, words), (9, words))
    curate(connection, "ada")
    [thread] = memory_of(connection, "ada").threads
    assert (thread.title, len(thread.cards), thread.opened_at > BEGIN) == ("kitchen renovation", 3, True)
    tell(connection, database, (12, "The kitchen renovation costs more than planned."))
    curate(connection, "ada")
    [thread] = memory_of(connection, "ada").threads
    assert len(thread.cards) == 4
    assert curate(connection, "ada").events == ()
