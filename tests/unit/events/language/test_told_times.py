"""Times are told on the speaker's clock and at the grain of the words."""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.language import timex
from retrieval.cards.told_times import told_day, told_point, told_time, zone_of
from tests.support.tables import examples

TAIPEI, KATHMANDU, ST_JOHNS = (
    ZoneInfo("Asia/Taipei"),
    ZoneInfo("Asia/Kathmandu"),
    ZoneInfo("America/St_Johns"),
)
NOW = datetime(2026, 5, 8, 16, 44, 10, tzinfo=TAIPEI)  # a Friday
GRAINS = [
    "second", "minute", "hour", "part_of_day", "day", "weekend", "week", "month", "quarter", "season", "half_year",
    "year", "decade", "century", None, "fortnight",
]  # fmt: skip


@examples
def test_a_time_is_told_as_coarsely_as_it_was_said(words: str, told: str) -> None:
    [found] = timex.find(words, NOW)
    assert found.start is not None
    time = told_time(found.start.astimezone(UTC), found.through or found.end, found.grain, TAIPEI)
    assert " ".join((time.form, time.start, *((str(time.end),) if time.form == "from" else ()))) == told


def test_midnight_belongs_to_the_day_that_it_begins_on_the_speakers_clock() -> None:
    start, end = datetime(2026, 4, 1, 16, tzinfo=UTC), datetime(2026, 4, 2, 16, tzinfo=UTC)
    assert told_time(start, end, "day", TAIPEI).text == "2026-04-02"
    assert told_time(start, end, "day", UTC).text == "2026-04-01/2026-04-02"
    assert told_day(start, TAIPEI) == "2026-04-02"


@examples
def test_a_day_is_one_day_wherever_it_was(zone: str, start: str, hours: int, told: str) -> None:
    begun = datetime.fromisoformat(start)
    assert told_time(begun, begun + timedelta(hours=hours), "day", zone_of(zone)).text == told


def test_a_month_with_a_change_of_the_clocks_is_one_month() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    start, end = datetime(2026, 3, 1, tzinfo=berlin), datetime(2026, 4, 1, tzinfo=berlin)
    assert told_time(start.astimezone(UTC), end.astimezone(UTC), "month", berlin).text == "2026-03"


def test_early_years_keep_four_digits() -> None:
    ides = datetime(44, 3, 15, tzinfo=UTC)
    assert told_time(ides, ides + timedelta(days=1), "day", UTC).text == "0044-03-15"
    assert (
        told_time(datetime(44, 1, 1, tzinfo=UTC), datetime(45, 1, 1, tzinfo=UTC), "year", UTC).text == "0044"
    )
    assert (
        told_time(datetime(40, 1, 1, tzinfo=UTC), datetime(50, 1, 1, tzinfo=UTC), "decade", UTC).text
        == "0040s"
    )


def test_an_instant_that_begins_no_unit_of_its_grain_is_told_roughly() -> None:
    assert told_point(datetime(2024, 5, 8, tzinfo=UTC), "year", UTC).text == "about 2024"
    assert told_point(datetime(2024, 1, 1, tzinfo=UTC), "year", UTC).text == "2024"
    assert told_point(datetime(2024, 5, 1, tzinfo=UTC), "month", UTC).text == "2024-05"
    assert told_point(datetime(2024, 5, 8, 9, 30, tzinfo=UTC), None, UTC).text == "2024-05-08T09:30"


zones = st.timezone_keys().map(zone_of) | st.sampled_from([TAIPEI, KATHMANDU, ST_JOHNS, zone_of("-03:30")])
instants = st.datetimes(timezones=st.just(UTC))


@given(instants, zones)
def test_the_told_date_is_the_local_date(instant: datetime, zone: ZoneInfo) -> None:
    try:
        local = instant.astimezone(zone)
    except OverflowError:
        return
    assert date.fromisoformat(told_day(instant, zone)) == local.date()
    for grain, length in (
        ("day", 10),
        ("week", 10),
        ("month", 7),
        ("quarter", 7),
        ("year", 4),
        ("minute", 16),
    ):
        found = told_point(instant, grain, zone)
        assert found.start == local.replace(tzinfo=None).isoformat()[:length]


@given(instants, st.none() | instants, st.sampled_from(GRAINS), zones | st.text(max_size=8).map(zone_of))
def test_nothing_from_outside_breaks_a_telling(
    start: datetime, end: datetime | None, grain: str | None, zone: ZoneInfo
) -> None:
    found = told_time(start, end, grain, zone)
    assert found.start
    assert found.end is None or found.start < found.end


@pytest.mark.parametrize(
    "name", [None, "", "localtime", "Mars/Olympus", "+99:00", "../etc", "\0", "x" * 9000, "\ud800"]
)
def test_an_unknown_clock_is_utc(name: str | None) -> None:
    assert zone_of(name) is UTC
