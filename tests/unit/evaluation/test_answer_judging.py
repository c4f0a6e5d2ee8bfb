"""What counts as an answer: words in one card, a date at its grain, nothing outdated before it."""

from typing import Any

from evaluation.answers.conversations import Question
from evaluation.answers.judging import answers_differ, holds, swapped, way_of
from evaluation.answers.keys import key_of
from evaluation.answers.shown_cards import ShownCard, of_document, of_prompt
from evaluation.answers.told_times import told_times
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
