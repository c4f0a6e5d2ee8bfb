"""Tells an instant or a range as text, on a given clock and at the grain of the words that named it.

A pure function of its arguments. Nothing here raises for any aware instant, zone name or grain.
"""

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import Literal
from zoneinfo import ZoneInfo

Form = Literal["at", "on", "in", "about", "from"]

_FINE = {"second": timedelta(minutes=1), "minute": timedelta(minutes=1), "hour": timedelta(hours=1)}
_YEARS = frozenset(("year", "decade", "century"))
_MONTHS = frozenset(("month", "quarter", "season", "half_year"))
_DAY = timedelta(days=1)
_INSTANT = timedelta(microseconds=1)
_OFFSET = re.compile(r"([+-])(\d\d):([0-5]\d)")
_FURTHEST_OFFSET = timedelta(hours=16)
_LONGEST_ZONE = 255


@dataclass(frozen=True, slots=True)
class ToldTime:
    """A time as text. The ``form`` says how it is read:

    - ``"at"``: ``start`` is a minute, such as ``2026-04-02T19:30``.
    - ``"on"``: ``start`` is a day. ``"in"``: ``start`` is a month, a year, or a decade such as ``1990s``.
    - ``"about"``: ``start`` is a day, a month or a year that is right only roughly.
    - ``"from"``: a stretch from ``start`` to ``end``. At day grain and above ``end`` is the last day, month or year. At
      finer grains it is the minute at which the stretch ends. None is an open end.
    """

    form: Form
    start: str
    end: str | None = None

    @property
    def text(self) -> str:
        """The time as one text: ``2026-05``, ``about 2020``, ``2026-04-02/2026-04-04``, ``from 2026-03``."""
        if self.form == "about":
            return f"about {self.start}"
        if self.form == "from":
            return f"from {self.start}" if self.end is None else f"{self.start}/{self.end}"
        return self.start


@lru_cache(maxsize=1024)
def zone_of(name: str | None) -> tzinfo:
    """Returns the clock called ``name``: an IANA zone or an offset such as ``+08:00``. UTC for None and other names."""
    if not name or name == "localtime" or len(name) > _LONGEST_ZONE:
        return UTC
    if (offset := _OFFSET.fullmatch(name)) is not None:
        length = timedelta(hours=int(offset[2]), minutes=int(offset[3]))
        return UTC if length >= _FURTHEST_OFFSET else timezone(-length if offset[1] == "-" else length)
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        return UTC


def on_clock(instant: datetime, zone: tzinfo) -> datetime:
    """Returns the instant on the clock of ``zone``. At the ends of the calendar it returns the instant unchanged."""
    try:
        return instant.astimezone(zone)
    except (OverflowError, ValueError):
        return instant


def told_day(instant: datetime, zone: tzinfo) -> str:
    """Returns the date of the instant on the clock of ``zone``."""
    return on_clock(instant, zone).date().isoformat()


def told_point(instant: datetime, grain: str | None, zone: tzinfo) -> ToldTime:
    """Tells one instant: the beginning of a state, or the other reading of an ambiguous time.

    An instant that does not begin a unit of its grain is told as "about".
    """
    local = _wall(instant, zone)
    if grain in _FINE or (grain is None and not _begins_day(local)):
        return ToldTime("at", _minute(local))
    if grain in _YEARS or grain in _MONTHS:
        return ToldTime("in" if _begins_unit(local, grain) else "about", _unit(local.date(), grain))
    return ToldTime("about" if grain in ("week", "weekend") else "on", local.date().isoformat())


def told_time(start: datetime, end: datetime | None, grain: str | None, zone: tzinfo) -> ToldTime:
    """Tells the time from ``start`` to ``end`` (exclusive). An ``end`` of None is open.

    A range that does not consist of whole units of its grain is told as "about" ("two years ago" is a day of grain
    year). Without a grain, whole days are told as days, and everything else to the minute.
    """
    if end is not None and end <= start:
        end = None
    if end is None:
        point = told_point(start, grain, zone)
        return point if grain is None else ToldTime("from", point.start)
    first, stop = _wall(start, zone), _wall(end, zone)
    if grain in _FINE or (grain is None and not (_begins_day(first) and _begins_day(stop))):
        if end - start <= _FINE.get(grain or "", timedelta()):
            return ToldTime("at", _minute(first))
        return _stretch(_minute(first), _minute(stop), "at")
    last = max(first, stop - _INSTANT)
    if grain in _YEARS or grain in _MONTHS:
        return _told_units(first, stop, last, grain)
    if grain == "part_of_day" and stop - first <= _DAY:
        return ToldTime("on", first.date().isoformat())
    if grain == "week" and stop - first <= _DAY:
        return ToldTime("about", first.date().isoformat())
    return _stretch(first.date().isoformat(), last.date().isoformat(), "on")


def _told_units(first: datetime, stop: datetime, last: datetime, grain: str | None) -> ToldTime:
    """Tells a range in months or years."""
    if _begins_unit(first, grain) and _begins_unit(stop, grain):
        if grain == "decade" and first.year % 10 == 0 and stop.year - first.year == 10:
            return ToldTime("in", f"{first.year:04}s")
        return _stretch(_unit(first.date(), grain), _unit(last.date(), grain), "in")
    if stop - first <= timedelta(days=366 if grain in _YEARS else 31):
        return ToldTime("about", _unit((first + (last - first) / 2).date(), grain))
    return _stretch(_unit(first.date(), grain), _unit(last.date(), grain), "about")


def _stretch(first: str, last: str, single: Form) -> ToldTime:
    return ToldTime(single, first) if first == last else ToldTime("from", first, last)


def _wall(instant: datetime, zone: tzinfo) -> datetime:
    return on_clock(instant, zone).replace(tzinfo=None)


def _begins_day(wall: datetime) -> bool:
    return wall.hour == wall.minute == wall.second == wall.microsecond == 0


def _begins_unit(wall: datetime, grain: str | None) -> bool:
    return _begins_day(wall) and wall.day == 1 and (wall.month == 1 or grain in _MONTHS)


def _unit(day: date, grain: str | None) -> str:
    return day.isoformat()[: 4 if grain in _YEARS else 7]


def _minute(wall: datetime) -> str:
    return wall.isoformat(timespec="minutes")
