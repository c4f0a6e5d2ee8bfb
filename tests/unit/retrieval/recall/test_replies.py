"""A correction and an answer stand above the turn that they reply to, and what follows the first place is in sight."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.support.cards import NOW
from tests.unit.retrieval.recall.test_places import episode, order


def said(number: int, text: str, *, after_s: int = 0, **fields: Any) -> Any:
    said_at = NOW - timedelta(days=3) + timedelta(seconds=after_s)
    return episode(number, text, said_at=said_at, session_id="s", **fields)


def told(number: int, text: str, after_s: int) -> Any:
    return said(number, text, after_s=after_s, provenance="assistant_stated")


OTHERS = [
    episode(number, text, session_id="t")
    for number, text in enumerate(("a pie", "a lake", "a bus", "a kite"), 10)
]


@pytest.mark.parametrize(
    ("first", "then"),
    [
        ("The recital is on the 3rd", "no wait, it's the 5th"),
        ("The recital starts at 6", "i just checked, 6 wait no its 7:15"),
        ("The recital is with Ines", "sorry, I meant Rosa"),
        ("發表會在三號", "等等，是五號才對"),
        ("發表會六點開始", "對了，不是六點，是七點十五"),
        ("發表會在三號", "場地訂不到，改到五號"),
    ],
)
def test_a_correction_stands_above_what_it_corrects(first: str, then: str) -> None:
    question = "When is the recital? 發表會是什麼時候？"
    assert order(question, said(1, first), *OTHERS, said(2, then, after_s=60))[:2] == [2, 1]


@pytest.mark.parametrize(
    "then", ["wait for me there", "Sorry to bother you", "I bought blue shoes", "我等等去買鞋"]
)
def test_another_turn_stands_above_nothing(then: str) -> None:
    assert (
        order(
            "When is the recital?", said(1, "The recital is on the 3rd"), *OTHERS, said(2, then, after_s=60)
        )[0]
        == 1
    )


def test_a_correction_of_another_turn_or_session_or_day_stands_above_nothing() -> None:
    question, first = "When is the recital?", said(1, "The recital is on the 3rd")
    between = said(3, "The fair opens at 9", after_s=30)
    fix = said(2, "no wait, 10", after_s=60)
    assert order(question, first, *OTHERS, between, fix)[0] == 1
    assert order(question, first, *OTHERS, said(2, "no wait, 10", after_s=86400))[0] == 1
    assert (
        order(question, first, *OTHERS, episode(2, "no wait, 10", session_id="u", said_at=fix.said_at))[0]
        == 1
    )


def test_a_question_about_before_keeps_the_order() -> None:
    first, then = said(1, "The recital is on the 3rd"), said(2, "no wait, it's the 5th", after_s=60)
    assert order("When was the recital originally?", first, then)[0] == 1


def test_the_answer_to_a_request_stands_above_it_when_the_answer_is_asked_for() -> None:
    request, answer = said(1, "Recommend me a podcast for the bus"), told(2, "Try Night Trains.", 5)
    later = told(3, "Have fun!", 90)
    assert order("Which podcast did u recommend?", request, *OTHERS, answer, later)[0] == 2
    assert order("Which podcast do I like?", request, *OTHERS, answer, later)[0] == 1


def test_the_brief_turn_after_the_first_place_stands_fifth() -> None:
    first, then = said(1, "I handed in my notice today"), said(2, "my knees were shaking", after_s=60)
    answer = told(30, "That takes courage.", 30)
    six = [*OTHERS, episode(20, "a hat", session_id="t"), episode(21, "a mat", session_id="t")]
    asked = "How did I feel when I handed in my notice?"
    assert order(asked, first, *six, answer, then)[:6] == [1, 10, 11, 12, 2, 13]
    question = said(2, "what should I do next?", after_s=60)
    assert order(asked, first, *six, answer, question)[4] == 13
    # A line of notes stands by itself.
    assert order(asked, first, *six, then)[4] == 13
