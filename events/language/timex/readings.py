"""Calendar dates as they are written, without a reference: "8 May", 2016年5月."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from .calendar import Frame
from .chinese import dates as chinese_dates
from .chinese.words import ChineseScan
from .cycles import Cycle, Reading
from .english import dates as english_dates
from .english.words import MONTHS, EnglishScan
from .scan import Found, Scan

# In this reference "next year" is a year that no text writes.
_NOWHERE = Frame(datetime(3, 6, 15), UTC)  # noqa: DTZ001
_LEAP = 2000
_LUNAR = frozenset({"农历", "阴历", "旧历", "夏历", "闰", "正月", "大年", "冬月", "腊月"})


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


def calendar_dates(text: str) -> list[CalendarDate]:
    """Returns the dates of a text in digits or with the name of their month. Relative and lunar dates are left out."""
    found = [*_dates(EnglishScan(text, _NOWHERE, asked=False), _english_date)]
    if not text.isascii():
        found += _dates(ChineseScan(text, _NOWHERE, asked=False), _chinese_date)
    kept: list[CalendarDate] = []
    for one in sorted(found, key=lambda each: (each.begin, -each.stop)):
        if not kept or kept[-1].stop <= one.begin:
            kept.append(one)
    return kept


def _dates(
    scan: Scan, read: Callable[[Any, int], tuple[Reading | None, int] | None]
) -> Iterator[CalendarDate]:
    i = 0
    while i < len(scan):
        scan.forget()
        reading, stop = read(scan, i) or (None, i + 1)
        span = reading.at(_LEAP) if isinstance(reading, Cycle) else reading
        if span is not None and span.grain in ("day", "month") and span.begins.year >= 10:
            year = None if isinstance(reading, Cycle) else span.begins.year
            dom = span.begins.day if span.grain == "day" else None
            yield CalendarDate(scan.begins[i], scan.stops[stop - 1], year, span.begins.month, dom)
        i = stop


def _english_date(scan: Scan, i: int) -> Found | None:
    return english_dates.named(scan, i) or english_dates.numeric(scan, i)


def _chinese_date(scan: Any, i: int) -> tuple[Reading | None, int] | None:
    found = chinese_dates.numeric(scan, i) or chinese_dates.dated(scan, i)
    if found is not None and any(word in _LUNAR or word[:1] == "初" for word in scan.words[i : found[1]]):
        return None, found[1]
    return found
