"""English quarters, seasons, years, decades, centuries and holidays."""

from collections.abc import Callable

from .. import calendar
from ..calendar import Grain, Span, full_year
from ..cycles import Cycle, Reading, each, yearly
from ..scan import Found, Scan, given, listed
from ..shares import weekend_about
from ..tables import numbers_of, words_of
from .dates import HOLIDAYS, holiday
from .numbers import ordinal, plain, spelled_year, told_year, year_number
from .simple import opens
from .words import LEADS, MONTHS, NUMBERED, NUMBERS, ORDINALS, SEASON_WORDS, UNITS, VERSIONED

_DECADES = numbers_of("english.decades")


def _term(scan: Scan, i: int) -> tuple[Callable[[int], Span | None], Grain, int] | None:
    """Parses "Q1", "H2", "3Q", "third quarter", "first half" without its year."""
    words = scan.words
    j = scan.skip(i, "the")
    which = ordinal(scan, j)
    if which is not None:
        kind, number, stop = words[scan.skip(which[1], "-")][:1], which[0], scan.skip(which[1], "-") + 1
        told = words[stop - 1] in ("quarter", "half")
    else:
        kind, digit = (words[j], words[j + 1]) if words[j] in ("q", "h") else (words[j + 1], words[j])
        number, stop = int(digit) if len(digit) == 1 and digit.isdecimal() and digit.isascii() else 0, j + 2
        told = kind in ("q", "h") and scan.tight(j + 1)
    if not told or not 1 <= number <= (4 if kind == "q" else 2):
        return None
    rule = calendar.quarter if kind == "q" else calendar.half
    return (lambda year: rule(year, number)), "quarter" if kind == "q" else "half_year", stop


def quarter_of(scan: Scan, i: int, year: int) -> Found | None:
    """Parses a quarter or a half after its year: "2017 q1", "2019-H2", "2016's third quarter"."""
    words = scan.words
    owned = words[i : i + 2] == ["'", "s"] and scan.tight(i + 1)
    j = i + 2 if owned else scan.skip(i, "-", "/")
    found = _term(scan, j)
    return given(found[0](year), found[2]) if found and not (words[j] == "h" and j == i + 2) else None


@opens("q", "h", digits=True)
def quarter(scan: Scan, i: int) -> Found | None:
    """Parses "Q1", "Q2 2026", "q1-2019", "3Q25", "1H 2025"."""
    words, word = scan.words, scan.words[i]
    if word.isdecimal() and len(word) == 4:
        j = scan.skip(i + 1, "-", "/")
        owner = plain(scan, i) and 1000 <= int(word) <= 2999
        return quarter_of(scan, i + 1, int(word)) if owner else None
    found = _term(scan, i)
    if found is None:
        return None
    rule, grain, j = found
    digit_first = word.isdecimal()
    joined = scan.tight(i) and scan.before(i) not in "('\"/" and not _second(scan, i)
    if (joined and not digit_first) or (digit_first and not plain(scan, i)):
        return None
    k = j + 1 if words[j] in listed("- / , of in ' fy") else j
    year = year_number(scan, j) or told_year(scan, k)
    short = scan.digits(k, 2) if len(words[k]) == 2 else None
    marked = words[j] in ("'", "fy") or (digit_first and scan.tight(j) and scan.tight(k))
    if year is None and short is not None and marked:
        year = full_year(short), k + 1
    if year is not None:
        return given(rule(year[0]), year[1])
    if digit_first or (scan.tight(j) and words[j].isalnum()):
        return None
    if word == "h" and scan.before(i) not in listed("in of during for since by"):
        return None
    return yearly(rule, grain, 0.85), j


def _second(scan: Scan, i: int) -> bool:
    """True for the second of two quarters or halves: "Q1-Q2"."""
    return scan.before(i) in ("-", "–", "—") and i >= 3 and scan.words[i - 3] == scan.words[i]


_IN_SEASON = listed("in during since until by over throughout early late mid of whole -")
_IN_THE_SEASON = listed("in during since until by over throughout of before after")
_NO_SEASON = listed("in apart off down back roll break")


@opens(SEASON_WORDS)
def season(scan: Scan, i: int) -> Found | None:
    """Parses "summer 2019", "the fall of 2020", "in winter". A season without a year needs such a preposition."""
    words, now = scan.words, scan.frame.now
    name = SEASON_WORDS.get(words[i])
    if name is None:
        return None
    j, k = i + 1, scan.skip(i + 1, "of", "in", ",")
    year = told_year(scan, k)
    if year is not None:
        return given(calendar.season(year[0], name), year[1])
    cycle = yearly(lambda number: calendar.season(number, name), "season", 0.8)
    if words[j : j + 2] == ["before", "last"]:
        over = [span for span in cycle.back(now) if span.end and span.end <= now]
        return (over[1], j + 2) if len(over) > 1 else None
    last = scan.before(i)
    led = scan.before(i - 1) in _IN_THE_SEASON if last == "the" else last in _IN_SEASON
    return (cycle, j) if led and words[j] not in _NO_SEASON and words[j] not in UNITS else None


@opens("the", _DECADES, "'", "’", ORDINALS, NUMBERS, digits=True)
def decade(scan: Scan, i: int) -> Found | None:
    """Parses "1990s", "the 90s", "the '80s", "the nineties", "15th century", "the eighteen hundreds"."""
    words = scan.words
    j = scan.skip(scan.skip(i, "the"), "'", "’")
    word, after = words[j], words[j + 1]
    led = j > i or scan.before(i) in ("early", "late", "mid", "-")
    if word.isdecimal():
        apostrophe = after in ("'", "’") and words[j + 2] == "s" and scan.tight(j + 2)
        stop = j + 2 + apostrophe
        if (words[stop - 1] != "s" or not plain(scan, j)) and not ordinal(scan, j):
            return None
        number = int(word)
        if words[stop - 1] == "s" and len(word) == 4 and number % 10 == 0 and 1000 <= number <= 2990:
            hundred = number % 100 == 0 and number < 2000
            return given(calendar.century(number) if hundred else calendar.decade(number), stop)
        owned = scan.before(i) in listed("his her my their your our")
        if words[stop - 1] == "s" and len(word) == 2 and number % 10 == 0 and led and not owned:
            return given(calendar.decade(number + (2000 if number <= 20 else 1900)), stop)
    elif 15 <= NUMBERS.get(word, 0) <= 20 and after in _DECADES:
        return given(calendar.decade(NUMBERS[word] * 100 + _DECADES[after]), j + 2)
    elif word in _DECADES and led:
        return given(calendar.decade(_DECADES[word] + (2000 if _DECADES[word] <= 20 else 1900)), j + 1)
    nth = ordinal(scan, j)
    k = scan.skip(nth[1], "-") if nth is not None else i
    if nth is None or words[k] not in ("century", "centuries") or not 1 <= nth[0] <= 30:
        return None
    first = (nth[0] - 1) * 100
    return given(calendar.century(first) if first else calendar.months(1, 1, 99 * 12, "century"), k + 1)


@opens("the", "eve", HOLIDAYS, digits=True)
def holidays(scan: Scan, i: int) -> Found | None:
    """Parses a holiday with its year or its weekend. A greeting such as "happy new year" is not a holiday."""
    words = scan.words
    found = holiday(scan, scan.skip(i, "the"))
    if found is None or scan.before(i) in ("happy", "merry", "blessed"):
        return None
    reading: Reading | None = found[0]
    weekend = words[found[1]] == "weekend"
    k = found[1] + weekend
    j = scan.skip(scan.skip(k, "of", "in", ","), "the")
    year = told_year(scan, j)
    if year is not None and isinstance(reading, Cycle):
        reading, k = reading.at(year[0]), year[1]
        if not weekend and words[k] == "weekend":
            weekend, k = True, k + 1
    if reading is None:
        return None
    if not weekend and words[k] == "week" and reading.grain == "day":
        return given(each(reading, calendar.week_of, "week"), k + 1)
    return given(each(reading, weekend_about, "weekend") if weekend else reading, k)


_NOW_OR_PART = listed("q h w now today present current date era")
# Words after which a number of four digits below 1900 is a year.
_OLD = listed("in since circa until before after")
_AFTER_YEAR = words_of("english.after_year")


def _fiscal(scan: Scan, i: int) -> Found | None:
    """Parses a fiscal year, which is read as the calendar year: "FY24", "fiscal year 2027", "FY 2018/19", "FY26 Q3"."""
    words = scan.words
    if words[i] != "fy" and words[i + 1] not in ("year", "quarter") and not words[i + 1].isdecimal():
        return None
    k = scan.skip(i + 1, "year") if words[i] != "fy" else i + 1
    found = year_number(scan, k) or (_short_year(scan, k) if words[i] == "fy" else None)
    if found is None:
        return None
    j = found[1]
    if scan.joins(j, "/", "-") and scan.digits(j + 1, 2) is not None:
        return _as_year((found[0], j + 2))
    number = scan.digits(j + 1, 1) if words[j] == "q" and scan.tight(j + 1) else None
    quarter = calendar.quarter(found[0], number) if number is not None else None
    return (quarter, j + 2) if quarter else _as_year(found)


def _short_year(scan: Scan, i: int) -> tuple[int, int] | None:
    short = scan.digits(i, 2) if len(scan.words[i]) == 2 else None
    return (full_year(short), i + 1) if short is not None else None


@opens("the", "'", "’", "year", "cy", "fy", "fiscal", "financial", NUMBERS, digits=True)
def year(scan: Scan, i: int) -> Found | None:
    """Parses a year alone: "2012", "the year 2012", "'98", "nineteen ninety six", "cy18", "FY24"."""
    words = scan.words
    j = scan.skip(i, "the")
    if words[j] in ("fy", "fiscal", "financial"):
        return _fiscal(scan, j)
    if words[j] in ("year", "cy"):
        k = scan.skip(j + 1, "of")
        found = year_number(scan, k)
        if found is None and (scan.tight(k) or words[j] == "cy"):
            found = _short_year(scan, k)
        return _as_year(found)
    if j != i and not (words[j].isdecimal() and len(words[j]) == 4):
        return None
    word = words[i]
    last = scan.before(i)
    if word in "'’" and word and not scan.tight(i):
        found = year_number(scan, i) if last in LEADS else None
        return _as_year(found) if found and words[found[1]] not in ("s", "er", "ers") else None
    if words[j].isdecimal() and len(words[j]) == 4:
        number, after = int(words[j]), words[j + 1]
        if 1000 <= number < 1900 and last in _OLD and not (after.isalpha() and after not in _AFTER_YEAR):
            return _as_year(year_number(scan, j)) if plain(scan, j) and not after.isdecimal() else None
        if not 1900 <= number <= 2150 or not plain(scan, j) or not _bare_year(scan, i, j):
            return None
        return _as_year(year_number(scan, j))
    if last in ("in", "since", "until", "before", "after", "from", "to", "and", "between", "of", "by"):
        spelled = spelled_year(scan, i)
        return _as_year(spelled) if spelled and 1500 <= spelled[0] <= 2150 else None
    return None


def _as_year(found: tuple[int, int] | None) -> Found | None:
    span = calendar.year(found[0]) if found else None
    return (span, found[1]) if span and found else None


def _bare_year(scan: Scan, i: int, j: int) -> bool:
    """True when four digits are a year, and not a count of the word after them."""
    words, last, after = scan.words, scan.before(i), scan.words[j + 1]
    if (scan.tight(j + 1) and after in ("%", ":", "/")) or (scan.tight(i) and last.isalpha()):
        return False
    if scan.tight(j) and last in ("+", "_"):
        return False
    if last == "-" and i >= 2 and words[i - 2].isalnum() and words[i - 2] not in ("mid", "early", "late"):
        return False
    if last in NUMBERED or last in VERSIONED or _is_rate(scan, j) or _is_flight(scan, j):
        return False
    if last.isdecimal() or after.isdecimal():
        row = (last, after, words[i - 2] if i > 1 and last.isdecimal() else "")
        if any(len(near) > 2 and near.isdecimal() and not 1900 <= int(near[:9]) <= 2150 for near in row):
            return False  # a telephone number
    if scan.tight(j + 1) and (after.isalpha() or after in ("_", "@")) and after != "s":
        return False
    if after == "-" and scan.tight(j + 1) and scan.tight(j + 2):
        second = words[j + 2]
        if second.isalpha() and second not in MONTHS and second not in _NOW_OR_PART:
            return False
        if second.isdecimal() and not (len(second) == 4 and 1900 <= int(second) <= 2150):
            return False
    if last in LEADS or last in ("year", "early", "late", "than", "=", "<", ">", "but", "not", "the"):
        return not (last in ("for", "than", "around", "to", "and", "or", "the", "not") and after.isalpha()
                    and after not in _AFTER_YEAR)  # fmt: skip
    if int(words[j]) > scan.frame.now.year + 10:
        return False
    return not after.isalpha() or after in _AFTER_YEAR


def _is_rate(scan: Scan, i: int) -> bool:
    """True when the number at word `i` is an amount for each unit of time: "2000 a month"."""
    words = scan.words
    return words[i + 1] in ("a", "per", "each", "every") and words[i + 2] in UNITS


def _is_flight(scan: Scan, i: int) -> bool:
    """True when the number at word `i` belongs to a flight: "flight BA 2026"."""
    code = scan.original(i - 1) if i > 0 else ""
    told = not {"flight", "flights"}.isdisjoint(scan.words[max(0, i - 6) : i])
    return told and len(code) == 2 and code.isupper()
