"""Two statements of the user about one topic that cannot both be true are shown with both sides.

The labelled pairs in ``pairs/`` are our own: half of them contradict each other, and half do not.
"""

from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_OID, uuid5

import pytest
from hypothesis import given
from hypothesis import strategies as st

from projectors.cards.card import StoredCard
from retrieval.cards.alerts import disagreements
from retrieval.cards.claims.claim import contradict
from retrieval.cards.claims.reading import claims
from tests.support.cards import card
from tests.support.retrieval.card_rows import NOW, state
from tests.support.tables import examples_and


def said(content: str, days: float = 0, **more: Any) -> StoredCard:
    usual: dict[str, Any] = {
        "card_id": uuid5(NAMESPACE_OID, f"{content} {days} {more}"),
        "kind": "event",
        "content": content,
        "said_at": NOW + timedelta(days=days),
        "turn_ids": [f"t{content}{days}"],
    }
    return card(**usual | more)


@pytest.mark.parametrize(
    ("language", "least"),
    [("english", 120), ("chinese", 120), ("never_english", 60), ("never_chinese", 60)],
)
def test_of_labelled_pairs_nine_in_ten_are_judged_right_and_hardly_any_flag_is_wrong(
    language: str, least: int
) -> None:
    lines = Path(__file__).with_name("pairs").joinpath(f"{language}.txt").read_text("utf-8").splitlines()
    pairs = [line.split("\t") for line in lines if not line.startswith("#")]
    assert len(pairs) >= least
    assert {len(pair) for pair in pairs} == {3}
    flagged = [label for label, one, other in pairs if disagreements([said(one), said(other, 1)])]
    wanted = [label for label, _, _ in pairs if label == "yes"]
    assert flagged.count("yes") >= 0.9 * len(flagged)
    assert flagged.count("yes") >= 0.9 * len(wanted)


@examples_and(
    "My flat has SIX rooms.".replace("S", "\u017f"),
    "刚刚" * 60 + "x",
    "我" + "刚刚" * 60 + "x",
)
@pytest.mark.processor_seconds(10)
def test_a_strange_sentence_hides_no_disagreement_beside_it(sentence: str) -> None:
    assert disagreements([said(f"My locker is number 14. {sentence}"), said("My locker is number 41.", 1)])


def test_both_sides_stand_with_the_older_first() -> None:
    newer, older = said("My locker is number 41.", 3), said("My locker is number 14.")
    [found] = disagreements([newer, older, said("My desk is number 7.")])
    assert found.card_ids == [older.card_id, newer.card_id]
    assert [each.content for each in found.cards or []] == [older.content, newer.content]
    assert "2026-05-11 is newer" in found.reason


OLD = said("My locker is number 14.")


@pytest.mark.parametrize(
    "other",
    [
        said("我的置物櫃是41號。", 1),  # another language
        said("My locker is number 41.", 1, speaker="Ines"),
        said("My locker is number 41.", 1, project_id="novel"),
        said("My locker is number 41.", 1, provenance="assistant_stated"),
        said("My locker is number 41.", 1, superseded_at=NOW),
        said("My locker is number 41.", 1, retracted=True),
        said("My locker is number 41.", 1, contested=True),
        said("My locker is number 41.", 1, event_status="cancelled"),
        said("My locker is number 41.", 1, turn_ids=OLD.turn_ids),
        said("My locker has moved to number 41.", 1),  # a change is no contradiction
    ],
)
def test_what_another_says_or_nobody_holds_to_contradicts_nothing(other: StoredCard) -> None:
    assert disagreements([OLD, other]) == []
    assert disagreements([other, OLD]) == []


def test_a_turn_that_gave_a_single_value_is_left_to_that_value() -> None:
    other = said("My locker is number 41.", 1)
    value = state("41", concept_key="locker_number", turn_ids=other.turn_ids)
    assert disagreements([OLD, other], [value]) == []


def test_an_agreeing_last_word_ends_the_disagreement_with_the_one_before_only() -> None:
    again = [OLD, said("My locker is number 41.", 1), said("My locker is number 41.", 2)]
    [found] = disagreements(again)
    assert found.card_ids == [OLD.card_id, again[2].card_id]


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_text_is_read_and_nothing_contradicts_itself(one: str, other: str) -> None:
    for mine in claims(one):
        assert not contradict(mine, mine)
        for theirs in claims(other):
            assert contradict(mine, theirs) == contradict(theirs, mine)


@given(st.text(alphabet="我的是不没有0123456789一二十百万点月日.:,th myis$%", max_size=80))
def test_any_numerals_are_read(text: str) -> None:
    claims(text)
