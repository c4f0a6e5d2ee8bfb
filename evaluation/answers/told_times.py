"""Times as an answer tells them: a day, a month, a year, or a stretch."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

_TIME = r"(?<![\d-])(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[T ]\d{2}:\d{2}[0-9:.+Z-]*)?)?)?(?![\d-])"
_TOLD = re.compile(rf"{_TIME}(?:\s*/\s*{_TIME})?")


@dataclass(frozen=True, slots=True)
class ToldTime:
    """The days that a told time covers, both inclusive. A clock time covers its day."""

    first: date
    last: date

    @property
    def is_day(self) -> bool:
        """True when the time is told to the day."""
        return self.first == self.last

    def tells(self, wanted: ToldTime) -> bool:
        """True when this time answers ``wanted`` at its grain.

        A day answers only the same day. A longer time answers with any part of it that is longer than a day.
        """
        if wanted.is_day or self.is_day:
            return self == wanted
        return wanted.first <= self.first and self.last <= wanted.last


def told_times(text: str) -> list[ToldTime]:
    """Returns the times that ``text`` tells in the form of ISO 8601, in order. Impossible dates are left out."""
    found = []
    for match in _TOLD.finditer(text):
        parts = match.groups()
        begun = _days(parts[:3])
        ended = begun if parts[3] is None else _days(parts[3:])
        if begun is not None and ended is not None and begun.first <= ended.last:
            found.append(ToldTime(begun.first, ended.last))
    return found


def stretch(times: Iterable[ToldTime]) -> ToldTime | None:
    """Returns the time from the first to the last of ``times``, or None when there are none."""
    some = list(times)
    if not some:
        return None
    return ToldTime(min(each.first for each in some), max(each.last for each in some))


def _days(parts: tuple[str | None, ...]) -> ToldTime | None:
    year, month, day = (None if part is None else int(part) for part in parts)
    assert year is not None
    try:
        if month is None:
            return ToldTime(date(year, 1, 1), date(year, 12, 31))
        if day is None:
            return ToldTime(date(year, month, 1), date(year, month, monthrange(year, month)[1]))
        return ToldTime(date(year, month, day), date(year, month, day))
    except ValueError:
        return None
