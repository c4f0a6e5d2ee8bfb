"""Expressions of time in English and Chinese, and texts that only look as if they named a time.

``intervals.txt`` and ``no_times.txt`` beside this file hold the examples, one a line.
"""

from __future__ import annotations

from datetime import datetime

import pytest

from events.language.timex import find
from tests.support.events.moments import NOW, TAIPEI, only, shown
from tests.support.tables import rows, texts


@pytest.mark.parametrize(("text", "start", "end"), rows(__file__, "intervals.txt"))
def test_an_expression_is_its_interval(text: str, start: str, end: str) -> None:
    found = [one for one in find(text, NOW) if one.kind != "duration"][-1]
    assert (shown(found.start) or "", shown(found.end) or "") == (start, end)


@pytest.mark.parametrize("text", texts(__file__, "no_times.txt"))
def test_what_only_looks_like_a_time_names_none(text: str) -> None:
    assert [found.text for found in find(text, NOW) if found.start or found.end] == []


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("I saw her Friday", "2026-05-01"),
        ("I'll see her Tuesday", "2026-05-12"),
        ("I saw her in June", "2025-06-01"),
        ("I'm going to Tokyo in June", "2026-06-01"),
        ("We met on May 20", "2025-05-20"),
        ("The deadline is May 20", "2026-05-20"),
        ("I met him on the 20th", "2026-04-20"),
        ("The exam is on the 20th", "2026-05-20"),
        ("Sat 9 May", "2026-05-09"),
        ("He told me he'll visit on Tuesday", "2026-05-12"),
        ("She wrote that she will move in June", "2026-06-01"),
        ("He said he was going to visit on Tuesday", "2026-05-05"),
        ("I'll tell you what happened on Tuesday", "2026-05-05"),
        ("The tour is planned for June", "2026-06-01"),
        ("I have June 15 off", "2026-06-15"),
        ("June 15 works for me", "2026-06-15"),
        ("We're in Vienna June 15", "2026-06-15"),
        ("Her train arrives on June 15", "2026-06-15"),
        ("The electrician comes Tuesday", "2026-05-12"),
        ("We fly on June 15", "2026-06-15"),
        ("我週三見了小明", "2026-05-06"),
        ("我週三會見小明", "2026-05-13"),
        ("六月我去了東京", "2025-06-01"),
        ("六月我打算去東京", "2026-06-01"),
        ("15號要交報告", "2026-05-15"),
    ],
)
def test_tense_says_which_one(text: str, start: str) -> None:
    found = only(text)
    assert shown(found.start) == start


def test_a_bare_day_is_ambiguous_and_less_sure_than_a_full_date() -> None:
    bare, full = only("Tuesday"), only("2026-05-05")
    assert bare.ambiguous
    assert not full.ambiguous
    assert bare.confidence < full.confidence


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("Where was I on Tuesday?", "2026-05-05"),
        ("Can you tell me about Tuesday?", "2026-05-05"),
        ("What will happen on Tuesday?", "2026-05-12"),
        ("What do I have scheduled for June?", "2026-06-01"),
    ],
)
def test_a_question_looks_back_unless_it_asks_ahead(text: str, start: str) -> None:
    assert shown(only(text, "question").start) == start


def test_a_range_runs_through_the_unit_it_names_last() -> None:
    assert shown(only("from May 1st to May 5th").through) == "2026-05-06"
    assert shown(only("from 2018 to 2021").through) == "2022-01-01"
    assert only("the last five days").through == NOW
    assert only("yesterday").through is None


@pytest.mark.parametrize(
    ("text", "kind", "grain"),
    [
        ("yesterday", "instant", "day"),
        ("last week", "range", "week"),
        ("tomorrow at 5pm", "instant", "hour"),
        ("this afternoon", "range", "part_of_day"),
        ("last summer", "range", "season"),
        ("two months ago", "instant", "month"),
        ("last weekend", "range", "weekend"),
        ("H1 2025", "range", "half_year"),
    ],
)
def test_kind_and_grain(text: str, kind: str, grain: str) -> None:
    found = only(text)
    assert (found.kind, found.grain) == (kind, grain)


def test_a_length_alone_has_no_sides() -> None:
    (found,) = find("It took for 3 hours 30 minutes", NOW)
    assert (found.kind, found.start, found.end) == ("duration", None, None)


def test_several_expressions_keep_their_places() -> None:
    text = "We met last month, and again on 3 May 2026 at 9am."
    assert [text[found.begin : found.stop] for found in find(text, NOW)] == [
        "last month",
        "3 May 2026 at 9am",
    ]


@pytest.mark.parametrize("about", ["around", "about", "roughly"])
def test_roughly_a_day_of_no_stated_month_is_nothing_to_state_and_somewhere_to_look(about: str) -> None:
    assert find(f"Could you plan it {about} the 21st?", NOW) == []
    assert shown(only(f"What did we do {about} the 21st?", "question").start) == "2026-04-21"
    assert shown(only(f"We met {about} the 21st of April.").start) == "2026-04-21"
    assert shown(only("We met on the 21st.").start) == "2026-04-21"


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("We landed on April 7, 2026. The next day it snowed.", ["2026-04-07", "2026-04-08"]),
        ("We met on April 7, 2026 and talked that evening", ["2026-04-07", "2026-04-07 16:00:00"]),
        ("I was ill yesterday, but the day before I ran", ["2026-05-07", "2026-05-06"]),
        ("the 11th and 12th of April 2026", ["2026-04-11", "2026-04-12"]),
        ("on April 11th and 12th", ["2026-04-11", "2026-04-12"]),
        ("on April 11 and 12.", ["2026-04-11", "2026-04-12"]),
        ("Monday and Thursday next week", ["2026-05-11", "2026-05-14"]),
    ],
)
def test_a_day_is_counted_from_the_date_beside_it(text: str, starts: list[str]) -> None:
    assert [shown(found.start) for found in find(text, NOW)] == starts


def test_traditional_and_simplified_are_read_alike() -> None:
    traditional = find("上個禮拜三下午兩點開會，這個週末沒時間", NOW)
    simplified = find("上个礼拜三下午两点开会，这个周末没时间", NOW)
    assert [(one.start, one.end, one.begin) for one in traditional] == [
        (one.start, one.end, one.begin) for one in simplified
    ]
    assert len(traditional) == 2


def test_english_and_chinese_in_one_text() -> None:
    found = find("上週 I met her on 3 May 2026", NOW)
    assert [shown(one.start) for one in found] == ["2026-04-27", "2026-05-03"]


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("4月2日入職，次日就感冒", "2026-04-03", "2026-04-04"),
        ("上個月五號開幕，當天人很多", "2026-04-05", "2026-04-06"),
        ("去年中秋烤肉，當晚下大雨", "2025-10-06 18:00:00", "2025-10-07"),
        ("三月八号到京都，第二天早上九点去寺庙", "2026-03-09 09:00:00", "2026-03-09 10:00:00"),
        ("次日再談", "2026-05-09", "2026-05-10"),
    ],
)
def test_a_day_is_counted_from_the_date_before_it(text: str, start: str, end: str) -> None:
    found = find(text, NOW)[-1]
    assert (shown(found.start), shown(found.end)) == (start, end)


def test_the_same_day_of_another_year_exists_for_a_leap_day() -> None:
    (found,) = find("去年的今天", datetime(2028, 2, 29, 12, tzinfo=TAIPEI))
    assert shown(found.start) == "2027-02-28"


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("The notes of 2019/05/12 are on https://example.com/2020/01/01/notes.", "2019-05-12"),
        ("saved as https://example.com/notes/2020-01-01/a.txt", "2020-01-01"),
        ("備份在 www.example.com/backup-2020-01-02", "2020-01-02"),
        ("Version 2.0.1 came out on 3.4.2025.", "2025-03-04"),
        ("In June Sarah moved; June Carter stayed.", "2025-06-01"),
        ("版本2.10.5在2025年3月4日發布", "2025-03-04"),
    ],
)
def test_a_time_beside_them_is_still_found(text: str, start: str) -> None:
    (found,) = [one for one in find(text, NOW) if one.start]
    assert found.start is not None
    assert found.start.date().isoformat() == start
    assert text[found.begin : found.stop] == found.text
