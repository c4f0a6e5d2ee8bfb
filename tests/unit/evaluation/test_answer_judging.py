"""The judging of answers and of the curator, and the questions that are asked."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluation.answers.conversations import (
    Question,
    own,
)
from evaluation.answers.judging import answers_differ, holds, swapped, way_of
from evaluation.answers.keys import key_of
from evaluation.answers.private_words import PlaceInvalidError, with_words, without_words
from evaluation.answers.shown_cards import ShownCard, of_document, of_prompt
from evaluation.answers.told_times import told_times
from evaluation.curator.command import SETS, labelled, scores
from tests.support.tables import examples


def asked(gold: str = "", text: str = "What?", **key: list[str]) -> Question:
    return Question("q", text, "single-hop", frozenset({"1"}), gold, key_of(key) if key else None)


def shown(words: str, *times: str) -> ShownCard:
    return ShownCard(words, tuple(told for text in times for told in told_times(text)))


def document(**fields: Any) -> dict[str, Any]:
    return {"kind": "event", "content": "We planted a fig tree", **fields}


@examples
def test_a_date_counts_at_its_grain(told: str, wanted: str, right: bool) -> None:
    question = asked(about=["fig"], when=[wanted])
    assert holds(question, [shown("We planted a fig tree", told)]) is right


def test_every_word_of_an_alternative_stands_in_one_card_in_any_inflection() -> None:
    question = asked(says=["brass kettle|copper pot"])
    assert holds(question, [shown("She collects copper pots")])
    assert not holds(question, [shown("a copper roof"), shown("a pot of tea")])


def test_chinese_is_found_in_both_scripts_and_small_numbers_as_digits() -> None:
    assert holds(asked(says=["臺北 護理師"]), [shown("她在台北，当护理师")]) is holds(
        asked(says=["台北 护理师"]), [shown("她在台北，當護理師")]
    )
    assert holds(asked(says=["護理師"]), [shown("她是护理师")])
    assert holds(asked(says=["4 cats"]), [shown("We have four cats")])


def test_an_outdated_value_before_the_answer_is_no_answer() -> None:
    question = asked(says=["Ghent"], outdated=["Basel"])
    old, new, both = shown("lives in Basel"), shown("lives in Ghent"), shown("moved from Basel to Ghent")
    assert holds(question, [new, old])
    assert holds(question, [both, old])
    assert not holds(question, [old, new])
    dated = asked(when=["2026-05-04"], outdated=["3rd"])
    right, wrong = shown("the wedding", "2026-05-04"), shown("the wedding is on the 3rd", "2026-05-03")
    assert holds(dated, [right, wrong])
    assert not holds(dated, [wrong, right])


def test_without_a_key_the_words_of_the_gold_answer_decide_and_those_of_the_question_do_not() -> None:
    question = asked("a harp made of walnut wood", text="Which harp does Mira play?")
    assert way_of(question) == "words"
    assert holds(question, [shown("It is made of walnut wood")])
    assert not holds(question, [shown("Mira plays the harp")])
    assert way_of(asked("Mira", text="Is it Mira?")) == "none"
    assert not holds(asked("Mira", text="Is it Mira?"), [shown("Mira")])


def test_the_control_asks_for_another_answer_about_the_same() -> None:
    ours = asked(about=["fig"], when=["2026-05-03"])
    theirs = asked(about=["pear"], when=["2026-06-01"])
    cards = [shown("We planted a fig tree", "2026-05-03"), shown("We planted a pear", "2026-06-01")]
    assert answers_differ(ours, theirs)
    assert not answers_differ(ours, asked(when=["2026-05"]))
    assert holds(ours, cards)
    assert not holds(swapped(ours, theirs), cards)


def test_a_card_shows_its_words_those_beside_it_and_the_time_that_it_tells() -> None:
    card = of_document(
        document(value="fig", beside=[{"content": "Grandpa dug the hole"}], when="2026-05", occurred_at=None)
    )
    assert holds(asked(says=["grandpa hole"]), [card])
    assert card.times == tuple(told_times("2026-05"))


def test_a_prompt_shows_its_cards_with_attributes_and_what_stands_inside() -> None:
    text = (
        "<core>2026-01-01</core>\n"
        '<memory>\n<event on="2026-05-03">We planted <turn>a fig &amp; a pear</turn></event>\n'
        '<event from="2026-05-04" to="2026-05-10" about="2020">They left</event>\n</memory>'
    )
    first, second = of_prompt(text, 2)
    assert holds(asked(says=["fig pear"]), [first])
    assert first.times == tuple(told_times("2026-05-03"))
    assert set(second.times) == set(told_times("2020 2026-05-04/2026-05-10"))


OWN = own()


def test_every_question_has_evidence_in_its_conversation_and_a_way_to_judge_it() -> None:
    seen = set()
    for each in OWN:
        turns = {turn.turn_id for session in each.sessions for turn in session}
        for question in each.questions:
            assert question.evidence
            assert question.evidence <= turns
            assert way_of(question) != "none"
            assert question.question_id not in seen
            seen.add(question.question_id)


def test_the_evidence_itself_answers_the_question_once_its_times_are_told() -> None:
    for each in OWN:
        turns = {turn.turn_id: turn for session in each.sessions for turn in session}
        for question in each.questions:
            times = tuple(
                told
                for text in (question.key.when if question.key is not None else ())
                for told in told_times(text)
            )
            order = sorted(question.evidence, key=int, reverse=True)
            earlier = sorted({str(int(turn) - 2) for turn in order if int(turn) > 2}, key=int)
            words = [turns[turn].text for turn in order]
            whole = "\n".join([*words, *(turns[turn].text for turn in earlier), question.text])
            cards = [*(ShownCard(text, times) for text in words), ShownCard(whole, times)]
            assert holds(question, cards), question


@pytest.mark.parametrize("name", SETS)
def test_relations_between_labelled_pairs(name: str) -> None:
    by_predicate, mistakes = scores(name)
    for predicate, score in by_predicate.items():
        least = 0.98 if predicate == "same_as" else 0.9
        assert (score.precision or 0) >= least, (predicate, mistakes)


def test_the_pairs_are_distinct() -> None:
    pairs = [(each.earlier, each.later) for name in SETS for each in labelled(name)]
    assert len(pairs) == len(set(pairs)) >= 250


TURNS = {
    1: "The ferry to the island leaves at noon, so we packed sandwiches and a kite.",
    2: "我們下個月要去阿里山看日出，已經訂好山上的小木屋了。",
    0: "Bring a warm coat, it is windy up there.",
}


@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=60) | st.sampled_from([*TURNS.values()]),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.sampled_from(["quote", "content", "x"]), inner, max_size=3)
        ),
        max_leaves=8,
    )
)
def test_every_answer_comes_back(answer: object) -> None:
    kept = without_words(answer, TURNS)
    assert with_words(json.loads(json.dumps(kept)), TURNS) == answer
    assert not any(words in json.dumps(kept, ensure_ascii=False) for words in TURNS.values())


@pytest.mark.parametrize(
    "place", [[1, 0, 1000], [7, 0, 1], [1, 5, 2], [1, -3, 2], [1, 0], "1:0:2", None, [[1], 0, 2]]
)
def test_a_place_outside_the_turns_is_refused(place: object) -> None:
    if isinstance(place, str):
        assert with_words({"places": [place]}, TURNS) == place
        return
    with pytest.raises(PlaceInvalidError):
        with_words({"places": [place]}, TURNS)
