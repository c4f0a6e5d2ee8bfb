"""What counts as an answer: words in one card, a date at its grain, nothing outdated before it."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from evaluation.answers.conversations import Question
from evaluation.answers.judging import answers_differ, holds, swapped, way_of
from evaluation.answers.keys import KeyInvalidError, key_of
from evaluation.answers.shown_cards import PromptUnknownError, ShownCard, of_document, of_prompt
from evaluation.answers.told_times import ToldTime, told_times


def asked(gold: str = "", text: str = "What?", **key: list[str]) -> Question:
    return Question("q", text, "single-hop", frozenset({"1"}), gold, key_of(key) if key else None)


def shown(words: str, *times: str) -> ShownCard:
    return ShownCard(words, tuple(told for text in times for told in told_times(text)))


def document(**fields: Any) -> dict[str, Any]:
    return {"kind": "event", "content": "We planted a fig tree", **fields}


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("2026-05-03", (2026, 5, 3), (2026, 5, 3)),
        ("on 2026-05-03T19:30", (2026, 5, 3), (2026, 5, 3)),
        ("2026-05-03T23:30+08:00", (2026, 5, 3), (2026, 5, 3)),
        ("2024-02", (2024, 2, 1), (2024, 2, 29)),
        ("about 2020", (2020, 1, 1), (2020, 12, 31)),
        ("2026-04-30/2026-05-02", (2026, 4, 30), (2026, 5, 2)),
        ("2026-04/2026-06", (2026, 4, 1), (2026, 6, 30)),
    ],
)
def test_a_told_time_covers_its_days(
    text: str, first: tuple[int, int, int], last: tuple[int, int, int]
) -> None:
    assert told_times(text) == [ToldTime(date(*first), date(*last))]


@pytest.mark.parametrize(
    "text", ["", "12345", "2026-13", "2026-02-30", "2026-05-02/2026-05-01", "room 20261"]
)
def test_what_is_no_date_tells_no_time(text: str) -> None:
    assert told_times(text) == []


@pytest.mark.parametrize(
    ("told", "wanted", "right"),
    [
        ("2026-05-03", "2026-05-03", True),
        ("2026-05-02", "2026-05-03", False),
        ("2026-05", "2026-05", True),
        ("2026-05-03", "2026-05", False),  # a day is no answer at the grain of a month
        ("2026-05", "2026-05-03", False),
        ("2026", "2026-05", False),
        ("2026-05-04/2026-05-10", "2026-05-03/2026-05-11", True),
        ("2026-05-04/2026-05-12", "2026-05-03/2026-05-11", False),
    ],
)
def test_a_date_counts_at_its_grain(told: str, wanted: str, right: bool) -> None:
    question = asked(about=["fig"], when=[wanted])
    assert holds(question, [shown("We planted a fig tree", told)]) is right


def test_a_date_counts_only_on_the_card_that_is_about_it() -> None:
    question = asked(about=["fig"], when=["2026-05-03"], says=["third of May"])
    assert not holds(question, [shown("We planted a fig tree", "2026-05-09"), shown("We ate", "2026-05-03")])
    assert not holds(question, [shown("We ate on the third of May")])
    assert holds(question, [shown("The fig was planted on the third of May")])


def test_every_word_of_an_alternative_stands_in_one_card_in_any_inflection() -> None:
    question = asked(says=["brass kettle|copper pot"])
    assert holds(question, [shown("She collects copper pots")])
    assert not holds(question, [shown("a copper roof"), shown("a pot of tea")])


def test_parts_of_an_answer_may_stand_in_several_cards() -> None:
    question = asked(says=["violin", "chess"])
    assert holds(question, [shown("He plays the violin"), shown("He plays chess")])
    assert not holds(question, [shown("He plays the violin")])


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


@pytest.mark.parametrize(
    "row",
    [
        {"says": ["fig"], "where": ["garden"]},
        {"says": "fig"},
        {"says": [" "]},
        {"about": ["fig"]},
        {"says": ["the of"]},
        {"when": ["soon"]},
    ],
)
def test_a_key_that_can_never_be_found_is_refused(row: dict[str, Any]) -> None:
    with pytest.raises(KeyInvalidError):
        key_of(row)


def test_a_card_shows_its_words_those_beside_it_and_the_time_that_it_tells() -> None:
    card = of_document(
        document(value="fig", beside=[{"content": "Grandpa dug the hole"}], when="2026-05", occurred_at=None)
    )
    assert holds(asked(says=["grandpa hole"]), [card])
    assert card.times == tuple(told_times("2026-05"))


def test_a_card_that_tells_no_time_shows_its_instants_on_its_own_clock_at_their_grain() -> None:
    from datetime import UTC, datetime

    midnight = datetime(2026, 5, 2, 16, 0, tzinfo=UTC)
    day = document(occurred_at=midnight, time_zone="Asia/Taipei", time_grain="day", time_resolved=True)
    assert of_document(day).times == tuple(told_times("2026-05-03"))
    assert of_document(day | {"time_zone": "-05:30"}).times == tuple(told_times("2026-05-02"))
    assert of_document(day | {"time_grain": "month"}).times == tuple(told_times("2026-05"))
    week = day | {"occurred_until": datetime(2026, 5, 9, 16, 0, tzinfo=UTC), "time_grain": "week"}
    assert of_document(week).times == tuple(told_times("2026-05-03/2026-05-09"))


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


@pytest.mark.parametrize(
    "text",
    [
        "<memory><event>one</event></memory>",
        "<memory><event>one",
        "<event>one</event><event>two</event>",
    ],
)
def test_a_prompt_of_an_unknown_form_is_refused(text: str) -> None:
    with pytest.raises(PromptUnknownError):
        of_prompt(text, 2)
