"""Readers show events as they stood: cancelled, corrected, moved, still to come, or past without a word."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from events.types.extraction import CardsWithdrawn
from tests.support.conversing import Memory, day, recorded
from tests.support.retrieval.channels import asking

Recall = Callable[..., list[dict[str, Any]]]


@pytest.fixture
def recall(database: str) -> Iterator[Recall]:
    # The graph channel would find the later event too, with half a vote.
    with asking(database, fault_graph="down") as ask:
        yield lambda query, **more: ask(query, **more)["cards"]


def plan(memory: Memory, content: str, said: int, at: int, status: str = "planned", **more: Any) -> UUID:
    """An event of one day, that was said on another."""
    more = {"time_resolved": True, "occurred_until": day(at + 1), "turn_ids": (f"t{said}",)} | more
    return memory.event(content, day(at), said_at=day(said), status=status, **more)


def shown(cards: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(card["content"], card["event_status"]) for card in cards]


def iso(at: datetime) -> str:
    return at.isoformat()


SAIL, OFF = "We sail to Gotland with Ivo", "The sailing to Gotland is off"
FERRY, AUGUST = "We take the ferry to Gotland", "We take the ferry in August"


@pytest.mark.parametrize("folded", [True, False], ids=["folded", "in the overlay"])
@pytest.mark.parametrize("said", [OFF, "It all came to nothing"], ids=["in its words", "in other words"])
def test_a_cancelled_plan_gives_its_place_to_the_cancellation(
    memory: Memory, recall: Recall, folded: bool, said: str
) -> None:
    sail = plan(memory, SAIL, 1, 60)
    memory.fold()
    plan(memory, said, 5, 60, "cancelled", replaces_event=sail)
    if folded:
        memory.fold()
    for query in ("When do we sail to Gotland with Ivo?", "What did we do with Ivo on March 6, 2026?"):
        assert shown(recall(query)) == [(said, "cancelled")]
    before, after = iso(day(4)), iso(day(6))
    assert shown(recall("When do we sail to Gotland with Ivo?", as_of=before)) == [(SAIL, "planned")]
    assert shown(recall("When do we sail to Gotland with Ivo?", as_of=after)) == [(said, "cancelled")]
    history = recall("What is the history of sailing to Gotland with Ivo?")
    assert sorted(shown(history)) == sorted([(SAIL, "cancelled"), (said, "cancelled")])


def test_a_plan_that_moved_answers_with_its_new_time(memory: Memory, recall: Recall) -> None:
    ferry = plan(memory, FERRY, 1, 60)
    moved = plan(memory, "We take it in April", 5, 90, replaces_event=ferry)
    plan(memory, AUGUST, 9, 220, replaces_event=moved)
    memory.fold()
    assert shown(recall("When do we take the ferry to Gotland?")) == [(AUGUST, "planned")]
    at = {on: shown(recall("When do we take the ferry to Gotland?", as_of=iso(day(on)))) for on in (2, 6, 10)}
    assert at == {2: [(FERRY, "planned")], 6: [("We take it in April", "planned")], 10: [(AUGUST, "planned")]}
    assert len(recall("How often has the plan of the ferry to Gotland changed?")) == 3


def test_an_event_that_was_told_wrongly_never_was(memory: Memory, recall: Recall) -> None:
    wrong = memory.event("Ivo won the regatta in Turku", day(3), said_at=day(4))
    believed = recorded(memory)
    memory.event(
        "Ivo won the regatta in Tampere", day(3), said_at=day(5), status="corrected", replaces_event=wrong
    )
    memory.fold()
    right = [("Ivo won the regatta in Tampere", "corrected")]
    assert shown(recall("Where did Ivo win the regatta?")) == right
    assert shown(recall("The whole history of the regatta in Turku?")) == right
    assert shown(recall("Where did Ivo win the regatta?", known_at=believed)) == [
        ("Ivo won the regatta in Turku", "happened")
    ]


def test_a_plan_is_known_from_when_it_was_told(memory: Memory, recall: Recall) -> None:
    plan(memory, "The choir sings in Visby", 10, 17)
    plan(memory, "The choir sings in Lund", 30, 18)
    memory.event("The choir sang in Umea", day(17), said_at=day(10))
    memory.fold()
    # Day 17 is in the week after day 10.
    for query in ("Where does the choir sing?", "What is coming up next week?"):
        assert shown(recall(query, as_of=iso(day(11)))) == [("The choir sings in Visby", "planned")]
        assert recall(query, as_of=iso(day(9))) == []
    assert len(recall("Where does the choir sing?", as_of=iso(day(20)))) == 3
    assert len(recall("Where does the choir sing?")) == 3


def test_a_withdrawn_cancellation_restores_the_plan(memory: Memory, recall: Recall) -> None:
    sail = plan(memory, SAIL, 1, 60)
    memory.fold()
    tables = "SELECT c::text FROM cards.cards c WHERE card_id = %s"
    [before] = memory.connection.execute(tables, [sail]).fetchall()
    off = plan(memory, OFF, 5, 60, "cancelled", replaces_event=sail)
    memory.fold()
    [(position,)] = memory.connection.execute(
        "SELECT position FROM log.events WHERE event_id = %s", [off]
    ).fetchall()
    memory.say(CardsWithdrawn(event_ids=(off,), positions=(position,), reason="read again"))
    for _ in ("in the overlay", "folded"):
        assert shown(recall("When do we sail to Gotland?")) == [(SAIL, "planned")]
        memory.fold()
    assert memory.connection.execute(tables, [sail]).fetchall() == [before]
    assert memory.get(f"cards/{sail}/relations")["relations"] == []


def test_the_cards_api_tells_all_of_an_event(memory: Memory) -> None:
    sail = plan(memory, SAIL, 1, 60)
    planned = recorded(memory)
    off = plan(memory, OFF, 5, 60, "cancelled", replaces_event=sail)
    wrong = memory.event("Ivo has two boats", day(2))
    right = memory.event("Ivo has one boat", day(2), said_at=day(3), status="corrected", replaces_event=wrong)
    memory.fold()

    def statuses(**query: Any) -> dict[str, str]:
        return {card["content"]: card["status"] for card in memory.cards(status="*", **query)}

    assert statuses() == {
        SAIL: "superseded", OFF: "current", "Ivo has two boats": "retracted", "Ivo has one boat": "current",
    }  # fmt: skip
    assert memory.contents() == ["Ivo has one boat", OFF]
    assert statuses(as_of=iso(day(4)))[SAIL] == "current"
    assert statuses(as_of=iso(day(4)))[OFF] == "future"
    assert statuses(as_of=iso(day(0)))[SAIL] == "future"
    assert memory.get(f"cards/{sail}", as_of=iso(day(4)))["event_status"] == "planned"
    assert memory.get(f"cards/{sail}")["event_status"] == "cancelled"
    assert memory.get(f"cards/{sail}/latest")["chain"] == [str(sail), str(off)]
    assert memory.get(f"cards/{sail}/latest", as_of=iso(day(4)))["chain"] == [str(sail)]
    [edge] = memory.get(f"cards/{sail}/relations")["relations"]
    assert (edge["predicate"], edge["reason"], edge["direction"]) == ("update", f"called off: {OFF}", "in")
    for one in (sail, off):
        told = memory.get(f"cards/{one}/history")
        assert {card["card_id"] for card in told["cards"]} == {str(sail), str(off)}
        assert len(told["relations"]) == 1
    assert {card["card_id"] for card in memory.get(f"cards/{wrong}/history")["cards"]} == {
        str(wrong),
        str(right),
    }
    # As it was known when only the plan was recorded.
    [card] = memory.cards(status="*", known_at=planned)
    assert (card["event_status"], card["status"], card["superseded_at"]) == ("planned", "current", None)
    assert memory.get(f"cards/{sail}/relations", known_at=planned)["relations"] == []
    now = recorded(memory)
    assert memory.cards(status="*", known_at=now) == memory.cards(status="*")


def test_a_plan_whose_time_has_passed_says_so(memory: Memory, recall: Recall) -> None:
    plan(memory, "The choir sings in Visby", 10, 17)
    memory.event("The choir wants to sing in Lund some day", day(10), said_at=day(10), status="planned")
    memory.event("The choir sang in Umea", day(9), said_at=day(10))
    memory.knowledge("choir", "people who sing", day(11))
    memory.fold()

    def passed(at: datetime) -> list[Any]:
        cards = recall("Where does the choir sing?", as_of=iso(at))
        return [
            card["time_passed"]
            for card in sorted(cards, key=lambda card: card["card_id"])
            if "time_passed" in card
        ]

    assert passed(day(17) + timedelta(hours=12)) == [False, False, False]
    assert passed(day(18) + timedelta(hours=1)) == [True, False, False]
    listed = {card["content"]: card.get("time_passed") for card in memory.cards()}
    assert list(listed.values()) == [None, False, False, True]
    tour = plan(memory, "The choir tours in Oulu", 10, 17)
    plan(memory, "The choir tours later", 12, 20, replaces_event=tour)
    memory.fold()
    assert [memory.get(f"cards/{tour}", as_of=iso(day(at)))["time_passed"] for at in (11, 19)] == [
        False,
        False,
    ]
