"""Clock changes, the lunar table, holidays, and the JSON form."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from events.language.timex import find
from events.language.timex.holidays import RULES, solar
from tests.support.tables import examples

NEW_YORK = ZoneInfo("America/New_York")


def instant(text: str, now: datetime) -> datetime:
    (found,) = find(text, now)
    assert found.start is not None
    return found.start


def test_hours_are_real_time_across_a_clock_change() -> None:
    before = datetime(2026, 3, 8, 1, 30, tzinfo=NEW_YORK)  # the clocks skip 02:00 to 03:00
    later = instant("in 2 hours", before)
    assert later.astimezone(UTC) - before.astimezone(UTC) == timedelta(hours=2)
    assert later.hour == 4


def test_hours_back_through_the_repeated_hour_keep_their_offset() -> None:
    after = datetime(2026, 11, 1, 3, 0, tzinfo=NEW_YORK)  # 01:00 to 02:00 came twice
    earlier = instant("2 hours ago", after)
    assert after.astimezone(UTC) - earlier.astimezone(UTC) == timedelta(hours=2)
    assert (earlier.hour, earlier.utcoffset()) == (1, timedelta(hours=-5))


def test_days_are_calendar_days_across_a_clock_change() -> None:
    found = find("yesterday", datetime(2026, 3, 9, 12, 0, tzinfo=NEW_YORK))[0]
    assert found.start is not None
    assert found.end is not None
    assert (found.start.hour, found.end.hour) == (0, 0)
    assert found.end.astimezone(UTC) - found.start.astimezone(UTC) == timedelta(hours=23)


def test_a_time_the_clocks_skipped_moves_on_by_the_skip() -> None:
    skipped = instant("2026-03-08 at 2:30 am", datetime(2026, 5, 8, tzinfo=NEW_YORK))
    assert (skipped.hour, skipped.minute, skipped.utcoffset()) == (3, 30, timedelta(hours=-4))


def test_moments_are_in_the_zone_of_the_reference() -> None:
    now = datetime(2026, 5, 8, 23, 30, tzinfo=ZoneInfo("Asia/Taipei"))
    assert instant("today", now).isoformat() == "2026-05-08T00:00:00+08:00"
    assert instant("today", now.astimezone(NEW_YORK)).isoformat() == "2026-05-08T00:00:00-04:00"


def test_a_naive_reference_is_refused() -> None:
    with pytest.raises(ValueError, match="aware"):
        find("today", datetime(2026, 5, 8))


@examples
def test_lunar_dates(year: int, month: int, dom: int, leap: bool, expected: str) -> None:
    start = solar(year, month, dom, leap=leap)
    assert start is not None
    assert start.date().isoformat() == expected


def test_lunar_months_follow_on_without_a_gap() -> None:
    """Every day from 1930 to 2099 is one lunar date. Each lunar year ends where the next one begins."""
    for year in range(1930, 2099):
        months = [(month, leap) for month in range(1, 13) for leap in (False, True)]
        starts = [start for month, leap in months if (start := solar(year, month, 1, leap=leap))]
        following = solar(year + 1, 1, 1)
        assert following is not None
        gaps = [(later - start).days for start, later in zip(starts, [*starts[1:], following], strict=True)]
        assert set(gaps) <= {29, 30}, year


def test_no_such_lunar_day() -> None:
    assert solar(2026, 1, 31) is None
    assert solar(2026, 4, 1, leap=True) is None
    assert solar(1929, 1, 1) is None
    assert solar(2100, 1, 1) is None


@examples
def test_holidays(key: str, year: int, expected: str) -> None:
    span = RULES[key](year)
    assert span is not None
    assert span.start is not None
    assert span.start.date().isoformat() == expected


def test_every_holiday_is_silent_outside_the_calendar() -> None:
    for key, rule in RULES.items():
        for year in (-5, 0, 99999):
            assert rule(year) is None, (key, year)


def test_json_has_null_for_an_open_side() -> None:
    (found,) = find("since 2021", datetime(2026, 5, 8, tzinfo=UTC))
    assert found.as_json() == {
        "text": "since 2021",
        "start": "2021-01-01T00:00:00+00:00",
        "end": None,
        "grain": "year",
        "kind": "range",
        "confidence": found.confidence,
    }
    assert 0 < found.confidence <= 1
