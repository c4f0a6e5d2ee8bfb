"""Holidays as functions of the year, each under one key. Each language maps its own names to the keys."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import lru_cache
from math import radians, sin

from .calendar import Span, date, day, days, days_in_month, wall
from .lunar import islamic_in, solar

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


def _islamic(month: int, dom: int) -> Rule:
    def rule(year: int) -> Span | None:
        start = islamic_in(year, month, dom) if 623 <= year <= 9000 else None
        return day(start) if start else None

    return rule


def _ramadan(year: int) -> Span | None:
    start = islamic_in(year, 9, 1) if 623 <= year <= 9000 else None
    return days(start, 30, "month") if start else None


def _solar_term(degrees: int) -> Rule:
    """Returns the rule of the day, at UTC+8, on which the sun reaches an ecliptic longitude. Spring equinox is 0."""
    # The day of the year on which the mean sun is there. The true sun is less than four days away.
    near = 79 + degrees * 365.2422 / 360

    @lru_cache(maxsize=256)
    def rule(year: int) -> Span | None:
        if not 1950 <= year <= 2099:
            return None
        first = wall(year, 1, 1) + timedelta(days=int(near) % 365 - 5)
        for after in range(10):
            if (_longitude(first + timedelta(days=after + 1)) - degrees) % 360 < 180:
                return day(first + timedelta(days=after))
        return None

    return rule


def _longitude(moment: datetime) -> float:
    """Returns the ecliptic longitude of the sun in degrees at a wall time of UTC+8, to about 0.01."""
    since = (moment - wall(2000, 1, 1)).total_seconds() / 86400 - 0.5 - 8 / 24
    anomaly = radians(357.529 + 0.98560028 * since)
    return (280.459 + 0.98564736 * since + 1.915 * sin(anomaly) + 0.020 * sin(2 * anomaly)) % 360


RULES: dict[str, Rule] = {
    "new_year": _fixed(1, 1),
    "new_year_eve": _fixed(12, 31),
    "martin_luther_king": _nth(1, 0, 3),
    "groundhog": _fixed(2, 2),
    "valentine": _fixed(2, 14),
    "presidents": _nth(2, 0, 3),
    "peace_memorial": _fixed(2, 28),
    "women": _fixed(3, 8),
    "arbor_china": _fixed(3, 12),
    "white_day": _fixed(3, 14),
    "saint_patrick": _fixed(3, 17),
    "april_fools": _fixed(4, 1),
    "children_taiwan": _fixed(4, 4),
    "earth": _fixed(4, 22),
    "workers": _fixed(5, 1),
    "may_the_fourth": _fixed(5, 4),
    "youth": _fixed(5, 4),
    "cinco_de_mayo": _fixed(5, 5),
    "mothers": _nth(5, 6, 2),
    "memorial": _nth(5, 0, -1),
    "children": _fixed(6, 1),
    "juneteenth": _fixed(6, 19),
    "fathers": _nth(6, 6, 3),
    "fathers_taiwan": _fixed(8, 8),
    "party": _fixed(7, 1),
    "army": _fixed(8, 1),
    "canada": _fixed(7, 1),
    "independence": _fixed(7, 4),
    "bastille": _fixed(7, 14),
    "labor": _nth(9, 0, 1),
    "teachers": _fixed(9, 10),
    "teachers_taiwan": _fixed(9, 28),
    "national_china": _fixed(10, 1),
    "national_taiwan": _fixed(10, 10),
    "columbus": _nth(10, 0, 2),
    "halloween": _fixed(10, 31),
    "all_saints": _fixed(11, 1),
    "all_souls": _fixed(11, 2),
    "guy_fawkes": _fixed(11, 5),
    "veterans": _fixed(11, 11),
    "singles": _fixed(11, 11),
    "thanksgiving": _nth(11, 3, 4),
    "black_friday": _nth(11, 3, 4, 1),
    "cyber_monday": _nth(11, 3, 4, 4),
    "double_twelve": _fixed(12, 12),
    "christmas_eve": _fixed(12, 24),
    "christmas": _fixed(12, 25),
    "boxing": _fixed(12, 26),
    "mardi_gras": _easter(-47),
    "ash_wednesday": _easter(-46),
    "palm_sunday": _easter(-7),
    "good_friday": _easter(-2),
    "easter": _easter(),
    "easter_monday": _easter(1),
    "epiphany": _fixed(1, 6),
    "inauguration": _fixed(1, 20),
    "australia": _fixed(1, 26),
    "pi": _fixed(3, 14),
    "saint_george": _fixed(4, 23),
    "anzac": _fixed(4, 25),
    "arbor": _nth(4, 4, -1),
    "saint_john": _fixed(6, 24),
    "maundy_thursday": _easter(-3),
    "easter_saturday": _easter(-1),
    "ascension": _easter(39),
    "pentecost": _easter(49),
    "whit_monday": _easter(50),
    "trinity_sunday": _easter(56),
    "corpus_christi": _easter(60),
    "spring_festival_second_eve": _lunar(1, 1, -2),
    "spring_festival_eve": _lunar(1, 1, -1),
    "spring_festival": _lunar(1, 1),
    "lantern": _lunar(1, 15),
    "tomb_sweeping": _solar_term(15),
    "dragon_boat": _lunar(5, 5),
    "qixi": _lunar(7, 7),
    "ghost": _lunar(7, 15),
    "mid_autumn": _lunar(8, 15),
    "double_ninth": _lunar(9, 9),
    "winter_solstice": _solar_term(270),
    "laba": _lunar(12, 8),
    "start_of_spring": _solar_term(315),
    "waking_of_insects": _solar_term(345),
    "spring_equinox": _solar_term(0),
    "grain_rain": _solar_term(30),
    "start_of_summer": _solar_term(45),
    "grain_full": _solar_term(60),
    "grain_in_ear": _solar_term(75),
    "summer_solstice": _solar_term(90),
    "minor_heat": _solar_term(105),
    "major_heat": _solar_term(120),
    "start_of_autumn": _solar_term(135),
    "end_of_heat": _solar_term(150),
    "white_dew": _solar_term(165),
    "autumn_equinox": _solar_term(180),
    "cold_dew": _solar_term(195),
    "frost": _solar_term(210),
    "start_of_winter": _solar_term(225),
    "minor_cold": _solar_term(285),
    "major_cold": _solar_term(300),
    "ramadan": _ramadan,
    "eid_al_fitr": _islamic(10, 1),
    "eid_al_adha": _islamic(12, 10),
    "islamic_new_year": _islamic(1, 1),
}
