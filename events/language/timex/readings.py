"""Clock times and calendar dates as they are written, without a reference: "at 7:30", 下午三点, "8 May", 2016年5月."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

from .calendar import Frame
from .chinese import dates as chinese_dates
from .chinese import times as chinese_times
from .chinese.words import ChineseScan
from .clock import Clock, Half
from .cycles import Cycle, Reading
from .english import dates as english_dates
from .english import times as english_times
from .english.words import MONTHS, EnglishScan
from .scan import Scan

# In this reference "next year" is a year that no text writes.
_NOWHERE = Frame(datetime(3, 6, 15), UTC)  # noqa: DTZ001
_LEAP = 2000
T = TypeVar("T", "ClockTime", "CalendarDate")
_LUNAR = frozenset({"农历", "阴历", "旧历", "夏历", "闰", "正月", "大年", "冬月", "腊月"})


@dataclass(frozen=True, slots=True)
class ClockTime:
    """A clock time in a text. `half` is None when the words say neither morning nor afternoon."""

    begin: int
    stop: int
    hour: int
    minute: int
    half: Half | None


@dataclass(frozen=True, slots=True)
class CalendarDate:
    """A day or a month in a text. `year` or `day` is None when the words do not say it."""

    begin: int
    stop: int
    year: int | None
    month: int
    day: int | None


def month_of(word: str) -> int | None:
    """Returns the number of a month's English name in lower case, or None for any other word."""
    return MONTHS.get(word)


def clock_times(text: str) -> list[ClockTime]:
    """Returns the clock times of a text. A bare number is one only after "at"."""
    return _sorted(
        ClockTime(begin, stop, value.hour, value.minute, value.half)
        for scan, read in ((_english(text), _english_clock), (_chinese(text), _chinese_clock))
        for begin, stop, value in _each(scan, read)
    )


def calendar_dates(text: str) -> list[CalendarDate]:
    """Returns the dates of a text in digits or with the name of their month. Relative and lunar dates are left out."""
    return _sorted(
        CalendarDate(begin, stop, *told)
        for scan, read in ((_english(text), _english_date), (_chinese(text), _chinese_date))
        for begin, stop, reading in _each(scan, read)
        if (told := _told(reading)) is not None
    )


def _english(text: str) -> Scan | None:
    return EnglishScan(text, _NOWHERE, asked=False)


def _chinese(text: str) -> Scan | None:
    return None if text.isascii() else ChineseScan(text, _NOWHERE, asked=False)


def _each(
    scan: Scan | None, read: Callable[[Any, int], tuple[Any, int] | None]
) -> Iterator[tuple[int, int, Any]]:
    i = 0
    while scan is not None and i < len(scan):
        scan.forget()
        found = read(scan, i)
        if found is not None and found[0] is not None:
            yield scan.begins[i], scan.stops[found[1] - 1], found[0]
        i = found[1] if found else i + 1


def _sorted(found: Iterator[T]) -> list[T]:
    """Returns the findings of both languages without overlaps."""
    kept: list[T] = []
    for one in sorted(found, key=lambda each: (each.begin, -each.stop)):
        if not kept or kept[-1].stop <= one.begin:
            kept.append(one)
    return kept


def _english_clock(scan: Scan, i: int) -> tuple[Clock, int] | None:
    j = scan.skip(i, "at", "@")
    found = english_times.clock(scan, j)
    if found is None or (
        found[2] and (j == i or scan.words[found[1]] in ("%", "percent") or not found[0].open)
    ):
        return None
    return found[0], found[1]


def _chinese_clock(scan: Any, i: int) -> tuple[Clock, int] | None:
    named = chinese_times.part_of_day(scan, i)
    found = chinese_times.clock(scan, named[1] if named else i)
    return (found[0], found[1]) if found is not None and not (found[2] and named is None) else None


def _english_date(scan: Scan, i: int) -> tuple[Reading, int] | None:
    return english_dates.named(scan, i) or english_dates.numeric(scan, i)


def _chinese_date(scan: Any, i: int) -> tuple[Reading | None, int] | None:
    found = chinese_dates.numeric(scan, i) or chinese_dates.dated(scan, i)
    if found is not None and any(word in _LUNAR or word[:1] == "初" for word in scan.words[i : found[1]]):
        return None, found[1]
    return found


def _told(reading: Reading) -> tuple[int | None, int, int | None] | None:
    span = reading.at(_LEAP) if isinstance(reading, Cycle) else reading
    if span is None or span.start is None or span.grain not in ("day", "month") or span.start.year < 10:
        return None
    year = None if isinstance(reading, Cycle) else span.start.year
    return year, span.start.month, span.start.day if span.grain == "day" else None
