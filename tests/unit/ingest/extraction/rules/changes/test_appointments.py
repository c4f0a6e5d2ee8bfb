"""What lies ahead on a named day is a plan, whoever does it. What is past, usual or doubted is none."""

from __future__ import annotations

import pytest

from tests.support.ingest.rules import events


# Said on Friday, 8 May 2026.
@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("Saturday is Rita's birthday", "2026-05-09"),
        ("Tomorrow is my mum's birthday!", "2026-05-09"),
        ("We have dinner reservations on Saturday at 7", "2026-05-09"),
        ("The twins have a recital on Thursday", "2026-05-14"),
        ("There's a housewarming on Sunday", "2026-05-10"),
        ("My sister arrives on Sunday", "2026-05-10"),
        ("My parents are visiting next weekend", "2026-05-16"),
        ("The plumber is coming tomorrow between 8 and 10", "2026-05-09"),
        ("I booked a table for Tuesday night", "2026-05-12"),
        ("I need to call the bank on Monday", "2026-05-11"),
        ("Vet tomorrow at 4", "2026-05-09"),
        ("going hiking with Jo on sunday", "2026-05-10"),
        ("禮拜六是外婆生日", "2026-05-09"),
        ("週四有家長會", "2026-05-14"),
        ("我哥禮拜天到", "2026-05-10"),
        ("這週日跟阿德吃飯", "2026-05-10"),
        ("訂了下週二晚上七點的餐廳", "2026-05-12"),
        ("爸媽下個月要來看我", "2026-06-01"),
        ("报告截止是六月三号", "2026-06-03"),
    ],
)
def test_what_lies_ahead_is_a_plan(text: str, day: str) -> None:
    [plan] = events(text)
    assert (plan.concept_key, plan.status, plan.occurred_at.date().isoformat()) == ("plan", "planned", day)


@pytest.mark.parametrize(
    "text",
    [
        "I have a class every Monday",
        "My sister arrived on Sunday",
        "My mum visits every Sunday",
        "The sun comes up at 6am",
        "The shop opens at 9",
        "I might have a date on Friday",
        "If my sister arrives on Sunday, we bake",
        "Is my sister coming on Sunday?",
        "My sister isn't coming on Sunday",
        "I got a new game on Friday",
        "昨天跟阿德吃飯",
        "上週四有家長會",
        "我每週三有課",
        "週末通常跟家人吃飯",
        "週四沒有家長會",
    ],
)
def test_what_is_past_usual_or_doubted_is_no_plan(text: str) -> None:
    assert [event for event in events(text) if event.status == "planned"] == []
