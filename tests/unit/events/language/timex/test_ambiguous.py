"""Words with two readings or without an exact amount: the likelier reading comes first, and the other is kept."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.language.timex import Found, find
from tests.support.tables import examples

FRIDAY = datetime(2026, 5, 8, 10, 0, tzinfo=UTC)
SUNDAY = datetime(2026, 5, 10, 10, 0, tzinfo=UTC)


def only(text: str, now: datetime = FRIDAY) -> Found:
    (found,) = [one for one in find(text, now) if one.kind != "duration"]
    return found


def day(moment: datetime | None) -> str | None:
    return moment.date().isoformat() if moment else None


@examples
def test_an_ambiguous_weekday_keeps_both_days(
    text: str, now: datetime, start: str, alternative: str | None
) -> None:
    found = only(text, now)
    assert (day(found.start), day(found.alternative)) == (start, alternative)
    if alternative is not None:
        assert found.ambiguous
        assert found.confidence < only("2026-05-05").confidence


def test_the_other_reading_keeps_the_time_of_day() -> None:
    assert only("I swam last Friday at 7pm", SUNDAY).alternative == datetime(2026, 5, 1, 19, tzinfo=UTC)


@given(
    now=st.datetimes(min_value=datetime(1950, 1, 1), max_value=datetime(2090, 1, 1)),
    lead=st.sampled_from(["last", "this", "next"]),
    name=st.sampled_from(["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]),
)
def test_both_readings_are_the_same_weekday_whole_weeks_apart(now: datetime, lead: str, name: str) -> None:
    found = only(f"{lead} {name}", now.replace(tzinfo=UTC))
    assert found.start is not None
    assert found.start.strftime("%A") == name
    if found.alternative is not None:
        assert found.ambiguous
        assert abs(found.alternative - found.start) == timedelta(weeks=1)


@examples
def test_a_vague_length_has_a_coarse_grain_and_says_so(text: str, grain: str) -> None:
    found = only(text)
    assert (found.grain, found.vague, found.ambiguous) == (grain, True, True)
    assert found.confidence < only("3 years ago").confidence


@examples
def test_an_exact_length_is_not_vague(text: str, grain: str) -> None:
    found = only(text)
    assert (found.grain, found.vague) == (grain, False)


def test_a_vague_length_is_no_single_day() -> None:
    found = only("a few years back")
    assert found.start is not None
    assert found.end is not None
    assert found.end - found.start >= timedelta(days=365)


@pytest.mark.parametrize("text", ["十幾年前", "二十多年前", "幾十年前"])
def test_tens_of_years_cover_ten_years(text: str) -> None:
    found = only(text)
    assert found.start is not None
    assert found.end is not None
    assert found.end.year - found.start.year == 10


@pytest.mark.parametrize(
    "text", ["We lived there for two years.", "我學了兩年法文", "还有三天了", "My son is two years now"]
)
def test_a_length_that_is_over_or_left_is_only_a_length(text: str) -> None:
    assert all(found.end is not None for found in find(text, FRIDAY) if found.start is not None)
