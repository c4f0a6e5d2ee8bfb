"""The Chinese lunisolar calendar from 1930 to 2099, and the tabular Islamic calendar.

The table was computed from new moons and solar terms at UTC+8 by the rules of GB/T 33661-2017. Years outside the table
give None. Islamic dates follow the civil (tabular) calendar. Observed dates can differ by a day.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from .calendar import wall

FIRST_YEAR = 1930
# Each year packs: the days from 1 January to the lunar new year (from bit 17), the number of the leap month or 0 (bits
# 13-16), and one bit for each month in order, set when the month has 30 days (bits 0-12).
# fmt: off
_YEARS = (
    0x3ACD26, 0x5E052B, 0x480A57, 0x32B2B6, 0x580B5A, 0x4406D4, 0x2E6EC9, 0x520749, 0x3CF693, 0x620A93,
    0x4C052B, 0x34CA5B, 0x5A0AAD, 0x46056A, 0x309B55, 0x560BA4, 0x400B49, 0x2A5A93, 0x500A95, 0x38F52D,
    0x5E0536, 0x480AAD, 0x34B5AA, 0x5805B2, 0x420DA5, 0x2E7D4A, 0x540D4A, 0x3D0A95, 0x600A97, 0x4C0556,
    0x36CAB5, 0x5A0AD5, 0x4606D2, 0x308EA5, 0x560EA5, 0x40064A, 0x286C97, 0x4E0A9B, 0x3AF55A, 0x5E056A,
    0x480B69, 0x34B752, 0x5A0B52, 0x420B25, 0x2C964B, 0x520A4B, 0x3D14AB, 0x6002AD, 0x4A056D, 0x36CB69,
    0x5C0DA9, 0x460D92, 0x309D25, 0x560D25, 0x415A4D, 0x640A56, 0x4E02B6, 0x38C5B5, 0x5E06D5, 0x480EA9,
    0x34BE92, 0x5A0E92, 0x440D26, 0x2C6A56, 0x500A57, 0x3D14D6, 0x62035A, 0x4A06D5, 0x36B6C9, 0x5C0749,
    0x460693, 0x2E952B, 0x54052B, 0x3E0A5B, 0x2A555A, 0x4E056A, 0x38FB55, 0x600BA4, 0x4A0B49, 0x32BA93,
    0x580A95, 0x42052D, 0x2C8AAD, 0x500AB5, 0x3D35AA, 0x6205D2, 0x4C0DA5, 0x36DD4A, 0x5C0D4A, 0x460C95,
    0x30952E, 0x540556, 0x3E0AB5, 0x2A55B2, 0x5006D2, 0x38CEA5, 0x5E0725, 0x48064B, 0x32AC97, 0x560CAB,
    0x42055A, 0x2C6AD6, 0x520B69, 0x3D7752, 0x620B52, 0x4C0B25, 0x36DA4B, 0x5A0A4B, 0x4404AB, 0x2EA55B,
    0x5405AD, 0x3E0B6A, 0x2A5B52, 0x500D92, 0x3AFD25, 0x5E0D25, 0x480A55, 0x32B4AD, 0x5804B6, 0x4005B5,
    0x2C6DAA, 0x520EC9, 0x3F1E92, 0x620E92, 0x4C0D26, 0x36CA56, 0x5A0A57, 0x440556, 0x2E86D5, 0x540755,
    0x400749, 0x286E93, 0x4E0693, 0x38F52B, 0x5E052B, 0x460A5B, 0x32B55A, 0x58056A, 0x420B65, 0x2C974A,
    0x520B4A, 0x3D1A95, 0x620A95, 0x4A052D, 0x34CAAD, 0x5A0AB5, 0x4605AA, 0x2E8BA5, 0x540DA5, 0x400D4A,
    0x2A7C95, 0x4E0C96, 0x38F94E, 0x5E0556, 0x480AB5, 0x32B5B2, 0x5806D2, 0x420EA5, 0x2E8E4A, 0x50068B,
    0x3B0C97, 0x6004AB, 0x4A055B, 0x34CAD6, 0x5A0B6A, 0x460752, 0x309725, 0x540B45, 0x3E0A8B, 0x28549B,
)
# fmt: on


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
