"""Alerts: contradictions, and cards that are old enough to ask about."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import NAMESPACE_OID, uuid5

import pytest

from projectors.cards.card import StoredCard
from retrieval.cards.alerts import aging, contradictions, outdated
from tests.support.cards import card

NOW = datetime(2026, 5, 8, tzinfo=UTC)


def state(value: str, **more: Any) -> StoredCard:
    """A single-valued residence of the user, verified at :data:`NOW`. ``more`` changes fields."""
    usual: dict[str, Any] = {
        "card_id": uuid5(NAMESPACE_OID, f"{value} {more}"),
        "concept_key": "residence",
        "value": value,
        "cardinality": "single_value",
        "last_verified": NOW,
    }
    return card(**usual | more)


def test_two_current_values_of_one_concept_contradict_each_other() -> None:
    cards = [state("Taipei"), state("Kaohsiung"), state("Acme", concept_key="employer")]
    [found] = contradictions(cards)
    assert found.concept_key == "residence"
    assert found.card_ids == [cards[0].card_id, cards[1].card_id]
    assert "Taipei" in found.reason
    assert "Kaohsiung" in found.reason


@pytest.mark.parametrize(
    "other",
    [
        state("taipei "),  # the same in other letters
        state("臺北"),  # the same in the other language
        state("信義區"),  # perhaps the same in the other script
        state("Kaohsiung", superseded_at=NOW),
        state("Kaohsiung", entity="Mei"),
        state("Kaohsiung", project_id="novel"),  # a project is a world of its own
        state("Kaohsiung", concept_key="hometown"),
        state("Kaohsiung", cardinality="multi_value"),
    ],
)
def test_what_can_both_be_true_is_no_contradiction(other: StoredCard) -> None:
    assert contradictions([state("Taipei"), other]) == []


def test_two_people_of_one_name_contradict_nobody() -> None:
    sister = state("Taipei", entity="小林", content="我姊姊小林住在台北")
    other = state("Kaohsiung", entity="小林", content="公司的小林住在高雄")
    assert contradictions([sister, other]) == []
    assert len(contradictions([sister, state("Tainan", entity="小林", content="我姊姊小林住在台南")])) == 1


@pytest.mark.parametrize(("days", "flagged"), [(180, False), (181, True)])
def test_a_replaceable_fact_is_aging_after_180_days(days: int, flagged: bool) -> None:
    verified = NOW - timedelta(days=days)
    assert aging(state("Taipei", last_verified=verified), NOW) is flagged
    assert not aging(state("Taipei", last_verified=verified, cardinality="multi_value"), NOW)
    assert not aging(state("Taipei", last_verified=verified, superseded_at=NOW), NOW)


@pytest.mark.parametrize(("days", "flagged"), [(90, False), (91, True)])
def test_knowledge_is_outdated_after_90_days(days: int, flagged: bool) -> None:
    verified = NOW - timedelta(days=days)
    assert outdated(state("JWT", kind="knowledge", cardinality=None, last_verified=verified), NOW) is flagged
    assert not outdated(state("Taipei", last_verified=verified), NOW)


@pytest.mark.processor_seconds(10)
def test_thousands_of_cards_are_checked_in_a_time_that_grows_with_their_number() -> None:
    cards = [
        state(f"town {n}", concept_key=("residence", "employer", "school", "phone_model")[n % 4])
        for n in range(20_000)
    ]
    assert len(contradictions(cards)) == 4
    assert not any(aging(each, NOW) or outdated(each, NOW) for each in cards)
