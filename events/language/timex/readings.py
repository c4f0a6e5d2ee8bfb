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
from .scan import Scan

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


def _sorted(found: Iterator[CalendarDate]) -> list[CalendarDate]:
    """Returns the findings of both languages without overlaps."""
    kept: list[CalendarDate] = []
    for one in sorted(found, key=lambda each: (each.begin, -each.stop)):
        if not kept or kept[-1].stop <= one.begin:
            kept.append(one)
    return kept


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
