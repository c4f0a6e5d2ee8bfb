"""Holidays as functions of the year, each under one key, with their names. The table is `lists/holidays.txt`.

The Chinese lunisolar calendar from 1930 to 2099 was computed from new moons and solar terms at UTC+8 by the rules of
GB/T 33661-2017. Years outside its table give None. Islamic dates follow the civil (tabular) calendar. Observed dates
can differ by a day.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

from .calendar import Span, date, day, days, days_in_month, wall
from .tables import rows

FIRST_YEAR = 1930
_YEARS = tuple(int(row[0], 16) for row in rows("lunar_years"))


def solar(year: int, month: int, dom: int, *, leap: bool = False) -> datetime | None:
    """Returns midnight of a lunar date on the solar calendar; None for a lunar date that does not exist."""
    if not (FIRST_YEAR <= year < FIRST_YEAR + len(_YEARS) and 1 <= month <= 12 and dom >= 1):
        return None
    packed = _YEARS[year - FIRST_YEAR]
    leap_month = packed >> 13 & 15
    if leap and leap_month != month:
        return None
    place = month - 1 + (1 if leap_month and (leap or month > leap_month) else 0)
    if dom > 29 + (packed >> place & 1):
        return None
    past = packed >> 17
    for earlier in range(place):
        past += 29 + (packed >> earlier & 1)
    return wall(year, 1, 1) + timedelta(days=past + dom - 1)


def islamic(year: int, month: int, dom: int) -> datetime:
    """Returns midnight of an Islamic date on the solar calendar."""
    past = dom + -(-59 * (month - 1) // 2) + (year - 1) * 354 + (3 + 11 * year) // 30
    return wall(622, 7, 18) + timedelta(days=past - 1)


def islamic_in(solar_year: int, month: int, dom: int) -> datetime | None:
    """Returns the first occurrence of an Islamic date in a solar year; None when the year has none."""
    near = (solar_year - 622) * 33 // 32
    for year in range(near - 1, near + 3):
        found = islamic(year, month, dom)
        if found.year == solar_year:
            return found
    return None


Rule = Callable[[int], Span | None]


def _fixed(month: int, dom: int) -> Rule:
    return lambda year: date(year, month, dom)


def _nth(month: int, weekday: int, nth: int, shift: int = 0) -> Rule:
    """Returns the rule of the nth weekday of a month, `shift` days later. Monday is 0; nth -1 is the last."""

    def rule(year: int) -> Span | None:
        if not 1 <= year <= 9000:
            return None
        if nth > 0:
            first = wall(year, month, 1)
            dom = 1 + (weekday - first.weekday()) % 7 + 7 * (nth - 1)
        else:
            last = wall(year, month, days_in_month(year, month))
            dom = last.day - (last.weekday() - weekday) % 7
        found = date(year, month, dom)
        return day(found.start + timedelta(days=shift)) if found and found.start else None

    return rule


def _easter(shift: int = 0) -> Rule:
    """Returns the rule of Western Easter by the anonymous Gregorian algorithm, `shift` days later."""

    def rule(year: int) -> Span | None:
        if not 1583 <= year <= 9000:
            return None
        a, b, c = year % 19, year // 100, year % 100
        d, e = b // 4, b % 4
        g = (8 * b + 13) // 25
        h = (19 * a + b - d - g + 15) % 30
        i, k = c // 4, c % 4
        m = (32 + 2 * e + 2 * i - h - k) % 7
        n = (a + 11 * h + 22 * m) // 451
        month, before = divmod(h + m - 7 * n + 114, 31)
        return day(wall(year, month, before + 1) + timedelta(days=shift))

    return rule


def _lunar(month: int, dom: int, shift: int = 0) -> Rule:
    def rule(year: int) -> Span | None:
        start = solar(year, month, dom)
        return day(start + timedelta(days=shift)) if start else None

    return rule


def _islamic(month: int, dom: int, lasts: int = 1) -> Rule:
    def rule(year: int) -> Span | None:
        start = islamic_in(year, month, dom) if 623 <= year <= 9000 else None
        return (day(start) if lasts == 1 else days(start, lasts, "month")) if start else None

    return rule


def _term(month: int, mean: int) -> Rule:
    """Returns the rule of a solar term at UTC+8 from its mean day in 2000, in hundredths: right from 1987 to 2053."""

    def rule(year: int) -> Span | None:
        if not 1987 <= year <= 2099:
            return None
        since = year - 2000
        return date(year, month, int(mean / 100 + 0.2422 * since) - (since - (month < 3)) // 4)

    return rule


_KINDS: dict[str, Callable[..., Rule]] = {
    "date": _fixed, "weekday": _nth, "easter": _easter, "lunar": _lunar, "islamic": _islamic, "term": _term,
}  # fmt: skip
RULES: dict[str, Rule] = {}
ENGLISH: dict[str, str] = {}
"""The English names of each key, with `|` between them."""
CHINESE: dict[str, str] = {}
"""The key of each Chinese name."""
for _key, _rule, _english, _chinese in rows("holidays"):
    _kind, *_numbers = _rule.split()
    RULES[_key] = _KINDS[_kind](*map(int, _numbers))
    if _english:
        ENGLISH[_key] = _english
    CHINESE |= {name: _key for name in _chinese.split("|") if name}
