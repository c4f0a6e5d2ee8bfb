"""A recall follows relations, reports conflicts and shows the past as it was."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from events.platform.settings import Settings
from events.store import log
from events.types.cards import EventNoted, StateAsserted
from events.types.envelope import NewEvent, uuid7
from events.types.relations import CardsConnected
from retrieval.cards.past import fold_of
from retrieval.query.question import understand
from retrieval.query.scope import scope_of
from retrieval.recall.card_resolution import CardResolver
from retrieval.recall.fusion import Evidence
from tests.support.conversing import Memory, day, recorded
from tests.support.projectors.folding import ORIGIN, event
from tests.support.retrieval.channels import Recall, asking, pooled


@pytest.fixture
def recall(database: str) -> Iterator[Recall]:
    with asking(database) as ask:
        yield ask


def values(answer: dict[str, Any]) -> list[str]:
    return [card["value"] for card in answer["cards"] if card["kind"] == "state"]


def connect(memory: Memory, newer: UUID, older: UUID, predicate: Any, reason: str = "so") -> None:
    memory.say(CardsConnected(from_card=newer, to_card=older, predicate=predicate, reason=reason))
    memory.fold()


def test_a_recall_answers_as_it_would_have_then(memory: Memory, recall: Recall) -> None:
    memory.state("residence", "Taipei", day(0), content="Lives in Taipei")
    first = recorded(memory)
    memory.state("residence", "Kaohsiung", day(10), content="Lives in Kaohsiung", announced=True)
    second = recorded(memory)
    memory.state("residence", "Tainan", day(5), content="Lives in Tainan", announced=True)
    memory.state("residence", "Taipei", day(-30), content="Lives in Taipei")
    memory.fold()
    where = "Where do I live?"
    assert values(recall(where)) == ["Kaohsiung"]
    assert values(recall(where, known_at=first)) == ["Taipei"]
    [then] = recall(where, known_at=first)["cards"]
    assert then["superseded_at"] is None  # nobody knew yet
    assert values(recall(where, as_of=day(7).isoformat())) == ["Tainan"]
    assert values(recall(where, as_of=day(7).isoformat(), known_at=second)) == ["Taipei"]
    assert values(recall(where, known_at="2020-01-01T00:00:00Z")) == []


def test_a_fact_that_is_contested_since_answers_as_it_would_have_then(memory: Memory, recall: Recall) -> None:
    memory.state("residence", "Milan", day(90), content="Lives in Milan")
    first = recorded(memory)
    memory.state("residence", "Rome", day(0), content="Lives in Rome")
    memory.fold()
    assert values(recall("Where do I live?")) == ["Rome"]
    assert values(recall("Where do I live?", known_at=first)) == ["Milan"]


def test_a_conflict_is_shown_with_both_sides(memory: Memory, recall: Recall) -> None:
    rome = memory.state("residence", "Rome", day(0), content="Lives in Rome")
    before = recorded(memory)
    milan = memory.state("residence", "Milan", day(90), content="Lives in Milan")
    memory.fold()
    for question in ("Where do I live?", "Do I live in Milan?"):
        answer = recall(question)
        assert values(answer) == ["Rome"]
        [alert] = answer["contradictions"]
        assert alert["card_ids"] == [str(rome), str(milan)]
        assert [card["value"] for card in alert["cards"]] == ["Rome", "Milan"]
        assert alert["arbitration_id"] == str(milan)
        assert alert["reason"]
    assert values(recall("Where have I ever lived?")) == [
        "Rome"
    ]  # a contested statement is not in the history either
    assert recall("Where do I live?", as_of=day(30).isoformat())["contradictions"] == []
    assert recall("Where do I live?", known_at=before)["contradictions"] == []
    memory.post(f"arbitrations/{milan}/verdict", verdict="accept_new")
    memory.fold()
    answer = recall("Where do I live?")
    assert (values(answer), answer["contradictions"]) == (["Milan"], [])


def test_the_relations_of_every_found_card_count(database: str, memory: Memory) -> None:
    dog, hound = (
        memory.state("pet", name, day(n), content=f"Has a pet, a {name}", cardinality="multi_value")
        for n, name in enumerate(("dog", "hound"))
    )
    connect(memory, hound, dog, "same_as", "the same animal")
    best = [*(UUID(int=number) for number in range(400)), dog, hound]
    evidence = dict.fromkeys(best, Evidence(votes=1.0)) | {hound: Evidence(votes=2.0)}

    question = understand("Do I have a pet?", day(9))
    scope = scope_of(question, user_id="alex", projects=None)
    found = pooled(
        database,
        lambda pool: CardResolver(pool, fold_of(Settings())).resolve(question, scope, best, evidence),
        pool_size=2,
    )
    assert found.cards.keys() == {hound}


def test_cards_that_say_the_same_give_way_together(memory: Memory, recall: Recall) -> None:
    dog, hound, cat = (
        memory.state("pet", name, day(n), content=f"Has a pet, a {name}", cardinality="multi_value")
        for n, name in enumerate(("dog", "hound", "cat"))
    )
    connect(memory, hound, dog, "same_as", "the same animal")
    for older in (dog, hound):
        connect(memory, cat, older, "update", "another pet took its place")
    assert values(recall("Do I have a pet?")) == ["cat"]


def test_a_chain_answers_with_its_end(memory: Memory, recall: Recall) -> None:
    dog = memory.state("pet", "Rex", day(0), content="Has a dog named Rex", cardinality="multi_value")
    died = memory.event("The vet could do nothing more", day(30))
    memory.fold()
    assert values(recall("Do I have a dog?")) == ["Rex"]
    connect(memory, died, dog, "state_change", "Rex died")
    answer = recall("Do I have a dog?")["cards"]
    assert [card["content"] for card in answer] == ["The vet could do nothing more"]
    assert values(recall("Do I have a dog?", as_of=(day(30) - timedelta(hours=1)).isoformat())) == ["Rex"]
    history = {card["content"] for card in recall("What is the history of my dog?")["cards"]}
    assert history == {"Has a dog named Rex", "The vet could do nothing more"}
    assert recall("Do I have a dog?", kinds=["state"])["cards"] == []


CHANGES = 300
"""Changes of one value. They are more cards than the relations of a recall are read of."""


def weighed(number: int, before: UUID | None) -> list[NewEvent]:
    """A turn and its fact, which the next fact supersedes."""
    at, cause = day(20 * (number - CHANGES)), uuid7()
    origin = replace(ORIGIN, session_id=f"s{number}", turn_ids=(f"t{number}",), said_at=at)
    turn = EventNoted(
        content=f"My boat weighs {number} kg",
        entity="user",
        tags=(),
        occurred_at=at,
        origin=origin,
        episode=True,
    )
    fact = StateAsserted(
        content=f"The weight of the boat is {number} kg", entity="boat", concept_key="weight", value=f"{number} kg",
        tags=(), cardinality="single_value", effective_at=at, announced=True, origin=origin,
    )  # fmt: skip
    return [replace(event(payload), causation_id=cause) for payload in (turn, fact)]


def moved(number: int, before: UUID | None) -> list[NewEvent]:
    """A plan that moves the plan before it."""
    at = day(number - CHANGES)
    origin = replace(ORIGIN, session_id=f"s{number}", turn_ids=(f"t{number}",), said_at=at)
    more: dict[str, Any] = {"replaces": "the race", "replaces_event": before} if before else {}
    content = f"The boat race is at pier {number}"
    plan = EventNoted(
        content=content, entity="user", tags=(), occurred_at=at, origin=origin, status="planned", **more
    )
    return [event(plan)]


def connected(number: int, before: UUID | None) -> list[NewEvent]:
    """A fact that somebody connected with the fact before it."""
    at = day(number - CHANGES)
    origin = replace(ORIGIN, session_id=f"s{number}", turn_ids=(f"t{number}",), said_at=at)
    fact = event(
        StateAsserted(
            content=f"The boat lies at pier {number}",
            entity="user",
            concept_key="berth",
            value=f"pier {number}",
            tags=(),
            cardinality="multi_value",
            effective_at=at,
            origin=origin,
        )
    )
    if before is None:
        return [fact]
    edge = CardsConnected(from_card=fact.event_id, to_card=before, predicate="update", reason="it moved")
    return [event(edge), fact]


@pytest.mark.parametrize("change", [weighed, moved, connected])
def test_of_a_value_with_hundreds_of_changes_the_present_one_answers(
    memory: Memory, recall: Recall, change: Callable[[int, UUID | None], list[NewEvent]]
) -> None:
    said: list[NewEvent] = []
    for number in range(CHANGES):
        said += change(number, said[-1].event_id if said else None)
    log.append(memory.connection, said)
    memory.fold()
    for question in (
        "Where is the boat and what is its weight?",
        "Does my boat at pier 7 have a weight of 7 kg?",
    ):
        answer = recall(question, k=20)["cards"]
        facts = [card["content"] for card in answer if not card["content"].startswith("My boat weighs")]
        assert len(facts) == 1, facts
        assert f" {CHANGES - 1}" in facts[0]


def test_a_layer_is_preferred_or_the_only_one(memory: Memory, recall: Recall) -> None:
    for turn, layer in enumerate(("personal", "work")):
        memory.event(f"Planned the {layer} dinner", day(1), context_layer=layer, turn_ids=(f"t{turn}",))
    memory.event("Planned some dinner", day(1))
    memory.fold()
    for layer in ("personal", "work"):
        preferred = [card["context_layer"] for card in recall("dinner plan", context_layer=layer)["cards"]]
        assert (preferred[0], len(preferred)) == (layer, 3)
        only = [card["context_layer"] for card in recall("dinner plan", only_layers=[layer])["cards"]]
        assert only == [layer]


def test_a_wall_holds_for_what_a_chain_leads_to(memory: Memory, recall: Recall) -> None:
    dog = memory.state("pet", "Rex", day(0), content="Has a dog named Rex", cardinality="multi_value")
    died = memory.event("The vet could do nothing more", day(30), project_id="clinic")
    memory.fold()
    connect(memory, died, dog, "state_change", "Rex died")
    assert "vet" not in str(recall("Do I have a dog?")["cards"])
    assert "vet" in str(recall("Do I have a dog?", project_id=["default", "clinic"])["cards"])
