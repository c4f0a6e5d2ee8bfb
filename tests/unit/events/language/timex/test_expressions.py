"""Expressions of time: their intervals, and what else they may mean."""

from datetime import UTC, datetime, timedelta
from typing import Literal
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

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


FRIDAY = datetime(2026, 5, 8, 10, 0, tzinfo=UTC)
SUNDAY = datetime(2026, 5, 10, 10, 0, tzinfo=UTC)


def of_friday(text: str, now: datetime = FRIDAY) -> Found:
    (found,) = [one for one in find(text, now) if one.kind != "duration"]
    return found


def day(moment: datetime | None) -> str | None:
    return moment.date().isoformat() if moment else None


@examples
def test_an_ambiguous_weekday_keeps_both_days(
    text: str, now: datetime, start: str, alternative: str | None
) -> None:
    found = of_friday(text, now)
    assert (day(found.start), day(found.alternative)) == (start, alternative)
    if alternative is not None:
        assert found.ambiguous
        assert found.confidence < of_friday("2026-05-05").confidence


def test_the_other_reading_keeps_the_time_of_day() -> None:
    assert of_friday("I swam last Friday at 7pm", SUNDAY).alternative == datetime(2026, 5, 1, 19, tzinfo=UTC)


@given(
    now=st.datetimes(min_value=datetime(1950, 1, 1), max_value=datetime(2090, 1, 1)),
    lead=st.sampled_from(["last", "this", "next"]),
    name=st.sampled_from(["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]),
)
def test_both_readings_are_the_same_weekday_whole_weeks_apart(now: datetime, lead: str, name: str) -> None:
    found = of_friday(f"{lead} {name}", now.replace(tzinfo=UTC))
    assert found.start is not None
    assert found.start.strftime("%A") == name
    if found.alternative is not None:
        assert found.ambiguous
        assert abs(found.alternative - found.start) == timedelta(weeks=1)


@examples
def test_a_vague_length_has_a_coarse_grain_and_says_so(text: str, grain: str) -> None:
    found = of_friday(text)
    assert (found.grain, found.vague, found.ambiguous) == (grain, True, True)
    assert found.confidence < of_friday("3 years ago").confidence


@examples
def test_an_exact_length_is_not_vague(text: str, grain: str) -> None:
    found = of_friday(text)
    assert (found.grain, found.vague) == (grain, False)


def test_a_vague_length_is_no_single_day() -> None:
    found = of_friday("a few years back")
    assert found.start is not None
    assert found.end is not None
    assert found.end - found.start >= timedelta(days=365)


@pytest.mark.parametrize("text", ["十幾年前", "二十多年前", "幾十年前"])
def test_tens_of_years_cover_ten_years(text: str) -> None:
    found = of_friday(text)
    assert found.start is not None
    assert found.end is not None
    assert found.end.year - found.start.year == 10


@pytest.mark.parametrize(
    "text", ["We lived there for two years.", "我學了兩年法文", "还有三天了", "My son is two years now"]
)
def test_a_length_that_is_over_or_left_is_only_a_length(text: str) -> None:
    assert all(found.end is not None for found in find(text, FRIDAY) if found.start is not None)
