"""A thing is said, and days later it is said to have changed: both statements have one key, and the later one holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import pytest

from events.language.concepts import canonical_key
from events.types.cards import StateAsserted
from events.types.envelope import Event
from ingest.extraction.extractor_port import RecordedTurn, SessionBatch
from tests.support.ingest.revisions import (
    CHINESE_NO_REVISIONS,
    CHINESE_REVISIONS,
    ENGLISH_NO_REVISIONS,
    ENGLISH_REVISIONS,
    NO_STATES,
)
from tests.support.ingest.rules import EXTRACTOR, SAID_AT, facts, states, turn
from tests.support.projectors.statements import event
from tests.support.projectors.tables import tables_of


def said(text: str, day: int) -> Iterator[StateAsserted]:
    """The states of a turn in a session of its own, so many days after the first."""
    one = turn(text, day)
    told = replace(one.turn, said_at=SAID_AT + timedelta(days=day), session_id=f"s{day}")
    for card in EXTRACTOR.extract(SessionBatch((RecordedTurn(one.user_id, day + 1, told),))).cards:
        if isinstance(card, StateAsserted):
            yield card


def identity(state: StateAsserted) -> tuple[str, str]:
    return state.entity, canonical_key(state.concept_key)


def superseded(earlier: list[StateAsserted], later: list[StateAsserted]) -> set[str]:
    """The values of the earlier states that hold no more after the later ones."""
    told: list[Event] = [event(one, 0) for one in earlier] + [event(one, 9) for one in later]
    values = {one.value for one in earlier if one.statement != "ended"}
    return {
        str(row.value)
        for row in tables_of(told).cards.values()
        if row.superseded_at is not None and str(row.value) in values
    }


@pytest.mark.parametrize(("earlier", "later", "words"), CHINESE_REVISIONS + ENGLISH_REVISIONS)
def test_the_later_statement_supersedes_the_earlier_one(earlier: str, later: str, words: str) -> None:
    old, new = list(said(earlier, 0)), list(said(later, 9))
    keys = {identity(one) for one in old}
    assert any(identity(one) in keys and (words in one.value or words in one.content) for one in new)
    assert superseded(old, new)


@pytest.mark.parametrize(("earlier", "later"), CHINESE_NO_REVISIONS + ENGLISH_NO_REVISIONS)
def test_another_thing_a_question_or_a_doubt_supersedes_nothing(earlier: str, later: str) -> None:
    assert superseded(list(said(earlier, 0)), list(said(later, 9))) == set()


@pytest.mark.parametrize("text", NO_STATES)
def test_the_words_of_a_change_alone_state_nothing(text: str) -> None:
    assert states(text) == []


def test_a_stay_in_hospital_is_no_residence() -> None:
    assert facts("奶奶住在三軍總醫院") == {("奶奶", "hospital_stay", "三軍總醫院")}
    assert facts("My grandma is in St. Mary's hospital.") == {
        ("grandma", "hospital_stay", "St. Mary's hospital")
    }


def test_a_wedding_that_moves_is_no_home_of_the_bride() -> None:
    (found,) = states("妹妹的婚禮因為場地漏水，搬去君悅了")
    assert (found.entity, found.value) == ("user", "君悅")
    assert found.concept_key != "residence"


def test_a_child_at_a_new_school_is_no_tool() -> None:
    assert facts("We switched my daughter to Oakridge this term") == {("daughter", "school", "Oakridge")}


@pytest.mark.parametrize(
    ("earlier", "later"),
    [("我住在板橋", "這個月搬到新店了"), ("I live in Leeds", "I moved to York this month")],
)
def test_a_change_within_the_present_month_supersedes_what_was_said_earlier_in_the_month(
    earlier: str, later: str
) -> None:
    assert superseded(list(said(earlier, 0)), list(said(later, 9)))
