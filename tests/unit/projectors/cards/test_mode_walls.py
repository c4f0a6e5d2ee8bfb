"""What was said in one mode is untouched by what was said in another one, in any order of arrival."""

import dataclasses
import random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from events.types.cards import EventNoted, KnowledgeLearned, StateAsserted
from events.types.envelope import Event
from events.types.naming import KnowledgeMerged
from projectors.cards.card import StoredCard
from tests.support.projectors.histories import cut, history, shuffled
from tests.support.projectors.statements import in_mode, learned, merged, moved, noted, reclassified, said
from tests.support.projectors.tables import Tables, tables_of

MODES = ((None, None), ("general", None), ("journal", None), ("diary", "journal"), ("code", None))


def in_modes(seed: int, length: int) -> list[Event]:
    """A random history whose statements were said in three modes. One of the modes has two names."""
    choose = random.Random(seed)

    def placed(event: Event) -> Event:
        payload = event.payload
        if isinstance(payload, KnowledgeMerged):
            return dataclasses.replace(event, payload=dataclasses.replace(payload, mode_id="code"))
        moded = isinstance(payload, StateAsserted | EventNoted | KnowledgeLearned)
        return in_mode(event, *choose.choice(MODES)) if moded else event

    return [placed(event) for event in history(seed, length)]


def rows_of(tables: Tables) -> dict[str, Any]:
    """The rows that follow from statements: no counts, and no relations that somebody made."""
    implied = {key: row for key, row in tables.relations.items() if row.implied}
    return {
        "cards": tables.cards,
        "relations": implied,
        "arbitrations": tables.arbitrations,
        "updates": tables.updates,
    }


@given(st.integers(0, 2**32), st.integers(1, 40))
def test_a_mode_has_the_rows_that_it_would_have_alone(seed: int, length: int) -> None:
    events = in_modes(seed, length)
    choose = random.Random(seed + 1)
    together = rows_of(tables_of(*cut(shuffled(events, choose), choose)))
    alone: dict[str, dict[Any, Any]] = {table: {} for table in together}
    for mode in ("general", "journal", "code"):
        own = [event for event in events if said_in(event) in (mode, None)]
        for table, rows in rows_of(tables_of(own)).items():
            alone[table] |= rows
    assert together == alone


@given(st.integers(0, 2**32), st.integers(4, 30))
def test_given_modes_are_the_same_for_any_arrival(seed: int, length: int) -> None:
    choose = random.Random(seed)
    events = in_modes(seed, length)
    stated = [event for event in events if isinstance(event.payload, StateAsserted | KnowledgeLearned)]
    for number in range(3 if stated else 0):
        card = choose.choice(stated)
        kind = "state" if isinstance(card.payload, StateAsserted) else "knowledge"
        events.append(reclassified(card, choose.choice(("general", "journal", "code")), 1000 + number, kind))
    at_once = tables_of(events).rows
    live = tables_of(*cut(shuffled(events, choose), choose)).rows
    for table, rows in at_once.items():
        assert live[table] == rows, table


def said_in(event: Event) -> str | None:
    """The mode of a statement by its first name. None: a remark."""
    payload = event.payload
    if isinstance(payload, KnowledgeMerged):
        return payload.mode_id
    return (
        payload.origin.register
        if isinstance(payload, StateAsserted | EventNoted | KnowledgeLearned)
        else None
    )


def values(*events: Event) -> dict[str, tuple[str | None, bool]]:
    """The mode of each value, and whether it is true now."""
    cards = tables_of(list(events)).cards.values()
    return {card.value or card.content: (card.mode, is_current(card)) for card in cards}


def is_current(card: StoredCard) -> bool:
    return card.superseded_at is None and not (card.retracted or card.contested)


def test_a_card_with_another_mode_is_superseded_there_and_no_longer_here() -> None:
    rome, milan, oslo = said("Rome", 1), moved("Milan", 2), in_mode(moved("Oslo", 3), "journal")
    assert values(rome, milan, oslo)["Rome"] == (None, False)
    given_away = reclassified(rome, "journal", 9)
    assert values(rome, milan, oslo, given_away) == {
        "Rome": ("journal", False), "Milan": (None, True), "Oslo": ("journal", True),
    }  # fmt: skip
    assert values(rome, milan, given_away)["Rome"] == ("journal", True)


def test_a_word_has_a_meaning_in_each_mode() -> None:
    target = in_mode(learned("deploy target", "the cluster in Frankfurt", 1), "code")
    mood = in_mode(learned("deploy target", "what wears me out", 2), "journal")
    alias = in_mode(learned("place of work", "an office", 3, "deploy target"), "journal")
    cards = tables_of([target, mood, alias]).cards.values()
    assert {card.mode for card in cards} == {"code", "journal"}
    assert [card.definition for card in cards if card.mode == "code"] == ["the cluster in Frankfurt"]
    one = merged("place of work", "deploy target", 4)
    in_code = dataclasses.replace(one, payload=dataclasses.replace(one.payload, mode_id="code"))
    office = in_mode(learned("place of work", "an office", 3), "journal")
    assert len(tables_of([mood, office, in_code]).cards) == 2
    assert len(tables_of([mood, office, one]).cards) == 1


def test_an_event_of_one_mode_calls_off_no_plan_of_another() -> None:
    plan = in_mode(noted("dentist on Friday", 1, status="planned"), "family")
    calls_off = noted("no dentist", 2, position=2, status="cancelled", replaces_event=plan.event_id)
    assert values(plan, in_mode(calls_off, "code"))["dentist on Friday"] == ("family", True)
    assert values(plan, in_mode(calls_off, "family"))["dentist on Friday"] == ("family", False)
