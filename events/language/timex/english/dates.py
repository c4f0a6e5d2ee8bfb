"""English dates in digits and with the name of a month."""

from __future__ import annotations

from dataclasses import replace

from events.language.timex.tables import words_of

from .. import calendar
from ..calendar import full_year
from ..cycles import Cycle, Reading, yearly
from ..scan import Scan, given, listed
from .month_names import MODALS, stands_alone
from .numbers import (
    integer,
    ordinal,
    plain,
    year_number,
)
from .simple import Found, opens
from .words import LEADS, MONTHS, NUMBERED, NUMBERS, ORDINALS, SHIFTS, UNITS, VERSIONED, WEEKDAYS

_DATED = listed("on by since until till from before after dated date due at of and is was am pm between")
_RATED = listed("score scored rate rated rating grade graded pain gave got")


_FRACTION_OF = words_of("english.fraction_of")


def month_day(month: int, dom: int) -> Reading | None:
    """Returns the reading of a day and a month without a year; None for a day that no year has."""
    if not 1 <= dom <= (29 if month == 2 else calendar.days_in_month(2001, month)):
        return None
    return yearly(lambda year: calendar.date(year, month, dom), "day")


def dated(month: int, dom: int, year: int | None) -> Reading | None:
    """Returns the reading of a date. `year` is None for a date without a year."""
    return month_day(month, dom) if year is None else calendar.date(year, month, dom)


def _apart(scan: Scan, i: int) -> int:
    """Skips one mark between the parts of a date, if there is one."""
    return i + 1 if scan.words[i] in ("-", "/", ".", ",") else i


@opens(digits=True)
def numeric(scan: Scan, i: int) -> Found | None:
    """Parses a date in digits: 2016-10-16, 10/16/2016, 16.10.2016, 10/16, 12-2015, 2016 10 16."""
    words = scan.words
    first = words[i]
    if not first.isdecimal() or not first.isascii() or len(first) not in (1, 2, 4, 8):
        return None
    if len(first) == 8:
        return _compact(scan, i)
    mark = words[i + 1]
    if mark in ("/", "-", ".") and scan.tight(i + 1) and scan.tight(i + 2):
        second, after = words[i + 2], i + 3
        third = words[i + 4] if words[i + 3] == mark and scan.tight(i + 3) and scan.tight(i + 4) else ""
    elif len(first) == 4 and words[i + 1].isdecimal() and words[i + 2].isdecimal():
        second, third, after, mark = words[i + 1], words[i + 2], i + 1, " "
    else:
        return None
    if third.isdecimal() and second.isdecimal() and third.isascii() and second.isascii():
        if mark == "." and _is_version(scan, i, first, third):
            return None
        found = _three(first, second, third)
        end = i + 3 if mark == " " else i + 5
        return (found, end) if found is not None and not _runs_on(scan, end, mark) else None
    if mark == " " or not second.isdecimal() or not second.isascii() or (third and mark != "-"):
        return None
    if _runs_on(scan, after, mark):
        return None
    return _two(scan, i, first, second, mark, after)


def _is_version(scan: Scan, i: int, first: str, third: str) -> bool:
    """True when three numbers with dots are a version: "release 2019.2.1", "upgrade to 4.2.28"."""
    last = scan.before(i)
    if (
        last in VERSIONED
        or scan.before(i - 1) in VERSIONED
        or (scan.tight(i) and (last.isalpha() or last in ("=", "@")))
    ):
        return True
    return len(third) <= 2 and len(first) <= 2 and last.isalpha() and last not in _DATED and first[0] != "0"


def _runs_on(scan: Scan, i: int, mark: str) -> bool:
    """True when the digits continue: a longer number, a decimal, a code. A hyphen may belong to a range."""
    word = scan.words[i]
    if not scan.tight(i):
        return False
    if word.isalnum() and not (word.isalpha() and word in ("t", "z")):
        return True
    return word in ("/", ".", ":") and scan.tight(i + 1) and scan.words[i + 1].isdecimal()


def _compact(scan: Scan, i: int) -> Found | None:
    """Parses eight digits that are a date from 1900 to 2099: 20180818."""
    digits = scan.words[i]
    if (
        digits[:2] not in ("19", "20")
        or not plain(scan, i)
        or _runs_on(scan, i + 1, "")
        or scan.before(i) == "+"
        or scan.before(i) in NUMBERED
        or scan.before(i) in ("号", "號", "码", "碼")
    ):
        return None
    span = calendar.date(int(digits[:4]), int(digits[4:6]), int(digits[6:]))
    return (replace(span, sure=0.7), i + 1) if span else None


def _three(first: str, second: str, third: str) -> Reading | None:
    a, b, c = int(first), int(second), int(third)
    if len(first) == 4:
        if len(second) > 2 or len(third) > 2:
            return None
        return calendar.date(a, b, c) or calendar.date(a, c, b)
    if len(second) > 2 or len(third) not in (2, 4):
        return None
    year = c if len(third) == 4 else full_year(c)
    return calendar.date(year, a, b) or calendar.date(year, b, a)


def _two(scan: Scan, i: int, first: str, second: str, mark: str, after: int) -> Found | None:
    a, b = int(first), int(second)
    if mark in ("-", ".") and scan.before(i) == "on" and len(first) <= 2 and len(second) <= 2:
        reading = month_day(a, b) if 1 <= a <= 12 else None
        return (reading, after) if reading is not None and not scan.words[after].isalpha() else None
    if mark == "-":
        if scan.tight(i) and scan.before(i) == "-" and scan.tight(i - 1):
            return None  # the name of a file or of a branch
        if scan.words[after] == "-" and scan.tight(after) and scan.tight(after + 1):
            return None
        if len(first) == 4 and len(second) == 2 and 1 <= b <= 12:
            month = calendar.month(a, b)
            return (month, after) if month and 1900 <= a <= 2100 else None
        if len(second) == 4 and 1 <= a <= 12 and 1900 <= b <= 2100:
            return given(calendar.month(b, a), after)
        return None
    if mark == "/" and len(first) == 4 and 1 <= b <= 12 and 1900 <= a <= 2100:
        return given(calendar.month(a, b), after)
    if mark == "/" and len(second) == 4 and 1 <= a <= 12 and 1900 <= b <= 2100:
        return given(calendar.month(b, a), after)
    if b in (5, 10) and {scan.before(i), scan.before(i - 1)} & _RATED:
        return None
    if len(second) > 2 or len(first) > 2 or (a, b) == (24, 7) or scan.words[after] in _FRACTION_OF:
        return None
    if scan.words[after] in UNITS or scan.before(i) in NUMBERED or _is_fraction(scan, i):
        return None
    if mark == "." and scan.before(i) not in WEEKDAYS:
        return None
    reading = month_day(a, b) if 1 <= a <= 12 else None
    if reading is None and 1 <= b <= 12:
        reading = month_day(b, a)
    if reading is None:
        return None
    doubtful = Cycle("year", reading.at, "day", 0.7) if isinstance(reading, Cycle) else reading
    year = year_number(scan, after + 1) if scan.words[after] == "," else None
    if year and isinstance(doubtful, Cycle):
        return given(doubtful.at(year[0]), year[1])
    return doubtful, after


def _is_fraction(scan: Scan, i: int) -> bool:
    """True after an article or a whole number: "an 8/10 film", "9 3/4"."""
    last = scan.before(i)
    return last in ("a", "an") or (last.isdecimal() and len(last) <= 2 and plain(scan, i - 1))


def _year_after(scan: Scan, i: int) -> tuple[int, int] | None:
    """Parses the year after a month: "2016", ", 2016", "of 1995", "in 2016", "-2018", "this year"."""
    words = scan.words
    j = i
    if words[j] in (",", "-", "/", ".") or words[j] in ("of", "in"):
        if words[j] in ("-", "/", ".") and not (scan.tight(j) and scan.tight(j + 1)):
            return None
        j += 1
    k = j
    j = scan.skip(j, "the")
    if words[j] in ("year",):
        j = scan.skip(j + 1, "of")
    shift = SHIFTS.get(words[j])
    if shift is not None and words[j + 1] == "year" and words[j] != "same":
        return scan.frame.now.year + shift, j + 2
    found = year_number(scan, j)
    if found is not None:
        return (
            None if j == k == i and words[i].isdecimal() and words[found[1]] in ("hours", "people") else found
        )
    if words[i] == "of" and words[j].isdecimal() and len(words[j]) == 2:
        return full_year(int(words[j])), j + 1
    return None


def _short_year(scan: Scan, i: int) -> tuple[int, int] | None:
    """Parses a year of two digits in a date with one mark throughout: "22/Jan/19"."""
    mark, short = scan.words[i], scan.digits(i + 1, 2)
    if mark not in ("/", "-") or short is None or scan.words[i - 2] != mark or not scan.tight(i - 1):
        return None
    return full_year(short), i + 2


def _closed(scan: Scan, i: int) -> int:
    """Skips a weekday in parentheses after a date: "May/22(Tue)"."""
    if scan.words[i] == "(" and scan.words[i + 1] in WEEKDAYS and scan.words[i + 2] == ")":
        return i + 3
    return i


def _with_year(scan: Scan, month: int, dom: int, i: int) -> Found | None:
    """Returns the reading of a month and a day, with the year after them if there is one."""
    j = _closed(scan, i)
    year = _year_after(scan, j) or _short_year(scan, j)
    return given(dated(month, dom, year[0] if year else None), year[1] if year else j)


@opens("the", MONTHS, NUMBERS, ORDINALS, digits=True)
def named(scan: Scan, i: int) -> Found | None:
    """Parses a date or month with a month's name: "May 8th, 2026", "8 May", "2019-aug-1", "April of 87", "May"."""
    words = scan.words
    month = MONTHS.get(words[i])
    if month is not None:
        return _month_first(scan, i, month)
    if words[i].isdecimal() and len(words[i]) == 4 and plain(scan, i):
        return _year_first(scan, i)
    return _day_first(scan, i)


def _month_first(scan: Scan, i: int, month: int) -> Found | None:
    words = scan.words
    j = i + 1
    if (
        words[j] == "."
        and scan.tight(j)
        and (len(words[i]) <= 4 or words[j + 1].isdecimal())
        and words[i] != "may"
    ):
        j += 1
    k = j + 1 if words[j] in ("-", "/") and scan.tight(j) and scan.tight(j + 1) else j
    k = scan.skip(k, "the")
    dom = ordinal(scan, k)
    if (dom is None and k != j + 1) or (dom is None and words[k].isdecimal()):
        number = words[k]
        if number.isdecimal() and len(number) <= 2 and not not_a_day(scan, k + 1):
            dom = int(number), k + 1
    if dom is None and words[k] in NUMBERS:
        spelled = integer(scan, k)
        if spelled and 1 <= spelled[0] <= 31 and not _counts(scan, spelled[1]):
            dom = spelled
    if dom is not None and 1 <= dom[0] <= 31:
        found = _with_year(scan, month, dom[0], dom[1])
        if found is not None:
            return found
        if words[k].isdecimal() and len(words[k]) <= 2 and k != j:
            return None
        if dom[0] >= 30:
            return None
    year = _year_after(scan, j)
    if year is not None:
        return given(calendar.month(year[0], month), year[1])
    if not stands_alone(scan, i):
        return None
    led = scan.before(i) in LEADS or scan.before(i) == "the"
    return yearly(lambda number: calendar.month(number, month), "month", 0.9 if led else 0.6), i + 1


def _counts(scan: Scan, i: int) -> bool:
    """True when the number before word `i` counts something or is a time."""
    word = scan.words[i]
    return (
        word.isalpha()
        and word not in ("at", "in", "on", "and", "to", "or", "for", "from", "until", "through")
    ) or word == ":"


def not_a_day(scan: Scan, i: int) -> bool:
    """True when the number before word `i` continues as a time, a decimal, a percentage or an amount."""
    word = scan.words[i]
    if word in ("am", "pm", "%", "percent") or (word in (":", "%") and scan.tight(i)):
        return True
    if word in (".", ":") and scan.tight(i) and scan.tight(i + 1) and scan.words[i + 1].isdecimal():
        return True
    return word in ("people", "times", "items", "percent", "million", "billion", "thousand")


def _year_first(scan: Scan, i: int) -> Found | None:
    words = scan.words
    j = _apart(scan, i + 1)
    year = int(words[i])
    if not 1000 <= year <= 2999:
        return None
    month = MONTHS.get(words[j])
    if month is not None:
        k = _apart(scan, j + 1)
        dom = ordinal(scan, k) or (
            (int(words[k]), k + 1) if words[k].isdecimal() and len(words[k]) <= 2 else None
        )
        if dom is not None:
            day = calendar.date(year, month, dom[0])
            if day is not None:
                return day, dom[1]
        return given(calendar.month(year, month), j + 1)
    if words[j].isdecimal() and len(words[j]) <= 2 and j > i + 1:
        month = MONTHS.get(words[_apart(scan, j + 1)])
        if month is not None:
            return given(calendar.date(year, month, int(words[j])), _apart(scan, j + 1) + 1)
    return None


def _day_first(scan: Scan, i: int) -> Found | None:
    words = scan.words
    j = scan.skip(i, "the")
    dom = ordinal(scan, j)
    if dom is None:
        if words[j].isdecimal():
            if not plain(scan, j) or len(words[j]) > 2:
                return None
            dom = int(words[j]), j + 1
        else:
            dom = integer(scan, j)
            if dom is None:
                return None
    if not 1 <= dom[0] <= 31:
        return None
    k = scan.skip(dom[1], "day")
    k = k + 1 if words[k] in ("-", "/", ".") and scan.tight(k) else scan.skip(k, "of")
    k = scan.skip(k, "the") if words[k - 1] == "of" else k
    month = MONTHS.get(words[k])
    if month is None:
        return None
    if words[k] in ("may", "march", "mar", "sun", "sat") and k == dom[1] and words[k + 1] in MODALS:
        return None
    return _with_year(scan, month, dom[0], scan.skip(k + 1, ".") if len(words[k]) == 3 and scan.tight(k + 1)
                      and words[k + 2].isdecimal() else k + 1)  # fmt: skip
