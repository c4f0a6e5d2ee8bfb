"""Expressions of time in English and Chinese, and texts that only look as if they named a time.

``intervals.txt`` and ``no_times.txt`` beside this file hold the examples, one a line.
"""

from datetime import datetime
from typing import Literal
from zoneinfo import ZoneInfo

import pytest

from events.language.timex import Found, find
from tests.support.tables import examples, rows, texts

TAIPEI = ZoneInfo("Asia/Taipei")
NOW = datetime(2026, 5, 8, 16, 44, 10, tzinfo=TAIPEI)


def only(text: str, reading: Literal["statement", "question"] = "statement") -> Found:
    """Returns the one expression of ``text`` that is no mere length."""
    dated = [found for found in find(text, NOW, reading=reading) if found.kind != "duration"]
    assert len(dated) == 1, [found.text for found in dated]
    return dated[0]


def shown(moment: datetime | None) -> str | None:
    """Formats a time exactly and briefly: a date at midnight, else a date and time."""
    if moment is None:
        return None
    assert moment.tzinfo is TAIPEI
    plain = moment.replace(tzinfo=None)
    midnight = plain == plain.replace(hour=0, minute=0, second=0)
    return plain.date().isoformat() if midnight else plain.isoformat(" ")


@pytest.mark.parametrize(("text", "start", "end"), rows(__file__, "intervals.txt"))
def test_an_expression_is_its_interval(text: str, start: str, end: str) -> None:
    found = [one for one in find(text, NOW) if one.kind != "duration"][-1]
    assert (shown(found.start) or "", shown(found.end) or "") == (start, end)


@pytest.mark.parametrize("text", texts(__file__, "no_times.txt"))
def test_what_only_looks_like_a_time_names_none(text: str) -> None:
    assert [found.text for found in find(text, NOW) if found.start or found.end] == []


@examples
def test_tense_says_which_one(text: str, start: str) -> None:
    found = only(text)
    assert shown(found.start) == start


def test_a_bare_day_is_ambiguous_and_less_sure_than_a_full_date() -> None:
    bare, full = only("Tuesday"), only("2026-05-05")
    assert bare.ambiguous
    assert not full.ambiguous
    assert bare.confidence < full.confidence


@examples
def test_the_clause_of_a_date_says_its_direction(text: str, day: str) -> None:
    days = [(shown(found.start or found.end) or "").split()[0] for found in find(text, NOW)]
    assert day in days


@examples
def test_a_question_looks_back_unless_it_asks_ahead(text: str, start: str) -> None:
    assert shown(only(text, "question").start) == start


def test_a_range_runs_through_the_unit_it_names_last() -> None:
    assert shown(only("from May 1st to May 5th").through) == "2026-05-06"
    assert shown(only("from 2018 to 2021").through) == "2022-01-01"
    assert only("the last five days").through == NOW
    assert only("yesterday").through is None


@examples
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


@examples
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


@examples
def test_a_day_is_counted_from_the_date_before_it(text: str, start: str, end: str) -> None:
    found = find(text, NOW)[-1]
    assert (shown(found.start), shown(found.end)) == (start, end)


def test_the_same_day_of_another_year_exists_for_a_leap_day() -> None:
    (found,) = find("去年的今天", datetime(2028, 2, 29, 12, tzinfo=TAIPEI))
    assert shown(found.start) == "2027-02-28"


@examples
def test_a_time_beside_them_is_still_found(text: str, start: str) -> None:
    (found,) = [one for one in find(text, NOW) if one.start]
    assert found.start is not None
    assert found.start.date().isoformat() == start
    assert text[found.begin : found.stop] == found.text
