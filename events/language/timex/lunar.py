"""The Chinese lunisolar calendar from 1930 to 2099, and the tabular Islamic calendar.

The table was computed from new moons and solar terms at UTC+8 by the rules of GB/T 33661-2017. Years outside the table
give None. Islamic dates follow the civil (tabular) calendar. Observed dates can differ by a day.
"""

from datetime import datetime, timedelta

from .calendar import wall
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
