"""A later event decides the standing of the event that it replaces."""

from dataclasses import replace
from uuid import UUID

import pytest

from events.types.cards import EventNoted
from events.types.envelope import Event
from events.types.extraction import CardsWithdrawn
from projectors.cards.card import StoredCard
from retrieval.cards.past import cards_of
from tests.support.projectors.statements import day, event, noted, said, until
from tests.support.projectors.tables import Tables, tables_of


def trip(on: float = 1) -> Event:
    return noted("We sail to Gotland", on, at=60, position=1, status="planned")


def newer(old: Event, status: str, on: float, position: int = 2, content: str = "The boat is sold") -> Event:
    return noted(content, on, at=60, position=position, status=status, replaces_event=old.event_id)


def row(tables: Tables, one: Event) -> StoredCard:
    return tables.cards["u", "event", one.event_id]


def standing(tables: Tables, one: Event) -> tuple[object, ...]:
    found = row(tables, one)
    return found.event_status, found.superseded_at, found.retracted


@pytest.mark.parametrize(
    ("status", "expected", "reason"),
    [
        ("cancelled", ("cancelled", day(5), False), "called off: The boat is sold"),
        ("corrected", ("corrected", None, True), "told wrongly before: The boat is sold"),
        ("planned", ("planned", day(5), False), "planned anew: The boat is sold"),
        ("happened", ("happened", day(5), False), "it happened: The boat is sold"),
    ],
)
@pytest.mark.parametrize("together", [True, False], ids=["in one batch", "long before"])
def test_a_newer_event_decides_what_becomes_of_an_earlier_one(
    together: bool, status: str, expected: tuple[object, ...], reason: str
) -> None:
    old = trip()
    new = newer(old, status, 5)
    tables = tables_of([old, new]) if together else tables_of([old], [noted("Rain", 2, position=2)], [new])
    assert standing(tables, old) == expected
    assert row(tables, old).stated_status == "planned"
    assert standing(tables, new) == (status, None, False)
    [edge] = tables.relations.values()
    assert (edge.from_card, edge.to_card, edge.predicate) == (new.event_id, old.event_id, "update")
    assert (edge.reason, edge.implied, edge.event_id) == (reason, True, new.event_id)


def test_each_event_of_a_chain_has_the_standing_that_its_own_successor_gives_it() -> None:
    old = trip()
    moved = newer(old, "planned", 5, 2, "We sail in August")
    off = newer(moved, "cancelled", 9, 3)
    for batches in ([[old, moved, off]], [[old], [moved], [off]], [[old, moved], [off]]):
        tables = tables_of(*batches)
        assert standing(tables, old) == ("planned", day(5), False)
        assert standing(tables, moved) == ("cancelled", day(9), False)
        assert standing(tables, off) == ("cancelled", None, False)


def withdrawal(*events: Event) -> Event:
    named = CardsWithdrawn(
        event_ids=tuple(one.event_id for one in events),
        positions=tuple(one.position for one in events),
        reason="again",
    )
    return event(named, 20, position=20)


@pytest.mark.parametrize("status", ["cancelled", "corrected", "planned", "happened"])
def test_the_withdrawal_of_a_newer_event_restores_the_earlier_card(status: str) -> None:
    old = trip()
    new = newer(old, status, 5)
    before = tables_of([old])
    for tables in (tables_of([old, new]), tables_of([old], [new])):
        tables.take([withdrawal(new)], [new])
        assert tables.cards == before.cards
        assert tables.relations == {}


def test_the_withdrawal_of_one_newer_event_leaves_the_standing_to_the_others() -> None:
    old = trip()
    off, moved = newer(old, "cancelled", 5, 2), newer(old, "planned", 9, 3)
    tables = tables_of([old], [off], [moved])
    tables.take([withdrawal(moved)], [moved])
    assert tables.rows == tables_of([old, off]).rows


def test_the_withdrawal_of_an_earlier_event_takes_its_relations() -> None:
    old = trip()
    off = newer(old, "cancelled", 5)
    tables = tables_of([old], [off])
    tables.take([withdrawal(old)], [old])
    assert tables.relations == {}
    assert list(tables.cards) == [("u", "event", off.event_id)]


def test_what_replaces_nothing_that_there_is_stands_alone() -> None:
    lives = said("Visby", 0)
    old = trip()
    itself = noted("Odd", 2, position=2)
    assert isinstance(itself.payload, EventNoted)
    itself = replace(itself, payload=replace(itself.payload, replaces_event=itself.event_id))
    later = noted("Later", 3, position=4)
    nothing = [
        newer(replace(old, event_id=UUID(int=7)), "cancelled", 5, 2),  # no such event
        newer(lives, "cancelled", 5, 2),  # a state
        itself,
        newer(later, "cancelled", 5, 3),  # an event that comes after it
        replace(newer(old, "cancelled", 5, 2), user_id="v"),  # of another user
    ]
    for odd in nothing:
        for batches in ([[lives, old, odd, later]], [[lives], [old], [odd], [later]]):
            tables = tables_of(*batches)
            assert tables.relations == {}
            assert {card.superseded_at for card in tables.cards.values()} == {None}


def test_events_that_replace_each_other_make_no_cycle() -> None:
    one, two = trip(), newer(trip(), "cancelled", 5)
    assert isinstance(one.payload, EventNoted)
    assert isinstance(two.payload, EventNoted)
    one = replace(one, payload=replace(one.payload, replaces_event=two.event_id))
    two = replace(two, payload=replace(two.payload, replaces_event=one.event_id))
    for batches in ([[one, two]], [[one], [two]]):
        tables = tables_of(*batches)
        assert standing(tables, one) == ("cancelled", day(5), False)
        assert standing(tables, two) == ("cancelled", None, False)


def test_a_past_shows_the_standing_of_then() -> None:
    old = trip()
    events = [old, newer(old, "planned", 5, 2), newer(old, "corrected", 9, 3)]
    then = {
        on: next(card for card in cards_of(until(on, events)).cards if card.card_id == old.event_id)
        for on in (4, 5, 9)
    }
    assert [(card.superseded_at, card.retracted) for card in then.values()] == [
        (None, False),
        (day(5), False),
        (None, True),
    ]
