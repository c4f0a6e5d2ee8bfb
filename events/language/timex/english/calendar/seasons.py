"""English quarters, seasons, decades, centuries and holidays."""

from __future__ import annotations

from events.language.timex import calendar
from events.language.timex.calendar import Grain, full_year
from events.language.timex.cycles import Cycle, Reading, each, yearly
from events.language.timex.english.numbers import ordinal, plain, year_number
from events.language.timex.english.simple import Found, opens
from events.language.timex.english.words import NUMBERS, ORDINALS, SEASON_WORDS, SHIFTS, UNITS
from events.language.timex.scan import Scan, given, listed
from events.language.timex.shares import weekend_about
from events.language.timex.tables import numbers_of

from .holidays import FIRST_WORDS, holiday

_DECADES = numbers_of("english.decades")


@opens("q", "h", digits=True)
def quarter(scan: Scan, i: int) -> Found | None:
    """Parses "Q1", "Q2 2026", "2017 q1", "2019-H2", "q1-2019"."""
    words = scan.words
    word = words[i]
    if word in ("q", "h"):
        digit = words[i + 1]
        limit = "1234" if word == "q" else "12"
        if (
            len(digit) != 1
            or digit not in limit
            or not scan.tight(i + 1)
            or (scan.tight(i) and scan.before(i) not in "('\"/" and not _second(scan, i))
        ):
            return None
        rule = calendar.quarter if word == "q" else calendar.half
        number = int(digit)
        j = i + 2
        k = j + 1 if words[j] in ("-", "/", ",", "of", "in", "'", "fy") else j
        year = year_number(scan, j) or year_number(scan, k)
        if year is None and words[k].isdecimal() and len(words[k]) == 2 and words[j] in ("'", "fy"):
            year = full_year(int(words[k])), k + 1
        if year is None:
            shift = SHIFTS.get(words[k])
            if shift is not None and words[k + 1] == "year":
                year = scan.frame.now.year + shift, k + 2
        if year is not None:
            return given(rule(year[0], number), year[1])
        if scan.tight(j) and words[j].isalnum():
            return None
        grain: Grain = "quarter" if word == "q" else "half_year"
        if word == "h" and scan.before(i) not in ("in", "of", "during", "for", "since", "by"):
            return None
        return yearly(lambda number_of_year: rule(number_of_year, number), grain, 0.85), j
    if word.isdecimal() and len(word) == 1 and words[i + 1] in ("q", "h") and scan.tight(i + 1):
        return _digit_first(scan, i)
    if word.isdecimal() and len(word) == 4 and plain(scan, i):
        j = scan.skip(i + 1, "-", "/")
        if words[j] == "w" and scan.tight(j) and scan.tight(j + 1) and len(words[j + 1]) == 2:
            return given(calendar.iso_week(int(word), scan.digits(j + 1, 2) or 0), j + 2)
        if words[j] in ("q", "h") and scan.tight(j + 1):
            rule = calendar.quarter if words[j] == "q" else calendar.half
            if words[j + 1] in ("1", "2", "3", "4"):
                return given(rule(int(word), int(words[j + 1])), j + 2)
    return None


def _second(scan: Scan, i: int) -> bool:
    """True for the second of two quarters or halves: "Q1-Q2"."""
    return scan.before(i) in ("-", "–", "—") and i >= 3 and scan.words[i - 3] == scan.words[i]


def _digit_first(scan: Scan, i: int) -> Found | None:
    """Parses a quarter or a half with its digit first and its year: "3Q25", "1H 2025"."""
    words = scan.words
    number, rule = int(words[i]), calendar.quarter if words[i + 1] == "q" else calendar.half
    if not plain(scan, i) or not 1 <= number <= (4 if words[i + 1] == "q" else 2):
        return None
    j = scan.skip(i + 2, "'", "-", "/", "of")
    year = year_number(scan, j) or year_number(scan, i + 2)
    if (
        year is None
        and scan.tight(i + 2)
        and scan.tight(j)
        and (short := scan.digits(j, 2))
        and len(words[j]) == 2
    ):
        year = full_year(short), j + 1
    span = rule(year[0], number) if year else None
    return (span, year[1]) if span and year else None


@opens(SEASON_WORDS)
def season(scan: Scan, i: int) -> Found | None:
    """Parses "summer 2019", "the fall of 2020", "in winter". A season without a year needs such a preposition."""
    words = scan.words
    name = SEASON_WORDS.get(words[i])
    if name is None:
        return None
    j = i + 1
    k = scan.skip(j, "of", "in", ",")
    year = year_number(scan, k)
    if year is not None:
        return given(calendar.season(year[0], name), year[1])
    shift = SHIFTS.get(words[k])
    if shift is not None and words[k + 1] == "year":
        return given(calendar.season(scan.frame.now.year + shift, name), k + 2)
    last = scan.before(i)
    if words[j : j + 2] == ["before", "last"]:
        over = [span for span in yearly(lambda number: calendar.season(number, name), "season").back(scan.frame.now)
                if span.end and span.end <= scan.frame.now]  # fmt: skip
        return (over[1], j + 2) if len(over) > 1 else None
    led = last in listed("in during since until by over throughout early late mid of whole -")
    if last == "the":
        led = scan.before(i - 1) in listed("in during since until by over throughout of before after")
    if not led or words[j] in ("in", "apart", "off", "down", "back", "roll", "break") or words[j] in UNITS:
        return None
    return yearly(lambda number: calendar.season(number, name), "season", 0.8), j


@opens("the", "turn", _DECADES, "'", "’", ORDINALS, NUMBERS, digits=True)
def decade(scan: Scan, i: int) -> Found | None:
    """Parses "1990s", "the 90s", "the '80s", "the nineties", "15th century", "the eighteen hundreds"."""
    words = scan.words
    j = scan.skip(i, "the")
    the = j > i
    word = words[j]
    if word in "'’" and word:
        j, the = j + 1, True
        word = words[j]
    if word.isdecimal() and plain(scan, j):
        if words[j + 1] in ("'", "’") and words[j + 2] == "s" and scan.tight(j + 2):
            j += 1
        if words[j + 1] == "s":
            number = int(word) if len(word) in (2, 4) else -1
            if len(word) == 4 and number % 10 == 0 and 1000 <= number <= 2990:
                span = (
                    calendar.century(number)
                    if number % 100 == 0 and number < 2000
                    else calendar.decade(number)
                )
                return given(span, j + 2)
            the = the or scan.before(i) in ("early", "late", "mid", "-")
            if (
                len(word) == 2
                and number % 10 == 0
                and the
                and scan.before(i) not in ("his", "her", "my", "their", "your", "our")
            ):
                return given(calendar.decade(number + (2000 if number <= 20 else 1900)), j + 2)
    elif word in NUMBERS and words[j + 1] in _DECADES and 15 <= NUMBERS[word] <= 20:
        return given(calendar.decade(NUMBERS[word] * 100 + _DECADES[words[j + 1]]), j + 2)
    elif words[j + 1] == "hundreds" and 11 <= NUMBERS.get(word, 0) <= 19:
        return given(calendar.century(NUMBERS[word] * 100), j + 2)
    elif (
        word == "turn" and words[j + 1 : j + 3] == ["of", "the"] and words[j + 3] in ("century", "millennium")
    ):
        span = calendar.year(scan.frame.now.year // 100 * 100)
        return (span.doubted(0.7), j + 4) if span else None
    elif word in _DECADES and (the or scan.before(i) in ("early", "late", "mid", "-")):
        short = _DECADES[word]
        return given(calendar.decade(short + (2000 if short <= 20 else 1900)), j + 1)
    nth_century = ordinal(scan, j)
    if nth_century is not None:
        k = scan.skip(nth_century[1], "-")
        if words[k] in ("century", "centuries") and 1 <= nth_century[0] <= 30:
            first_year = (nth_century[0] - 1) * 100
            return given(
                calendar.century(first_year) if first_year else calendar.months(1, 1, 99 * 12, "century"),
                k + 1,
            )
    return None


@opens("the", "eve", FIRST_WORDS, digits=True)
def holidays(scan: Scan, i: int) -> Found | None:
    """Parses a holiday with its year or its weekend. A greeting such as "happy new year" is not a holiday."""
    words = scan.words
    if scan.before(i) in ("happy", "merry", "blessed"):
        return None
    j = scan.skip(i, "the")
    found = holiday(scan, j)
    if found is None:
        return None
    reading, j = found
    weekend = words[j] == "weekend"
    k = j + 1 if weekend else j
    reading_now: Reading | None = reading
    k2 = scan.skip(scan.skip(k, "of", "in", ","), "the")
    year = year_number(scan, k2)
    shift = SHIFTS.get(words[k2])
    if year is None and shift is not None and words[k2 + 1] == "year":
        year = scan.frame.now.year + shift, k2 + 2
    if year is not None and isinstance(reading, Cycle):
        reading_now, k = reading.at(year[0]), year[1]
        if not weekend and words[k] == "weekend":
            weekend, k = True, k + 1
    if reading_now is not None and not weekend and words[k] == "week" and reading_now.grain == "day":
        around = each(
            reading_now, lambda span: calendar.unit("week", span.start) if span.start else None, "week"
        )
        return given(around, k + 1)
    if reading_now is not None and weekend:
        reading_now = each(reading_now, weekend_about, "weekend")
    return given(reading_now, k)
