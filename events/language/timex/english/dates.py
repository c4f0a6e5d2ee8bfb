"""English dates: in digits, with the name of a month, and holidays.

Some names of months are also verbs or the names of persons: "may", "march", "April called".
"""

import re
from dataclasses import replace

from .. import calendar
from ..calendar import day_before, full_year
from ..cycles import Reading, dated_yearly, each, yearly
from ..holidays import ENGLISH, RULES
from ..scan import Found, Phrases, Scan, given, listed, packrat
from ..tables import words_of
from .numbers import integer, ordinal, plain, year_number
from .simple import opens
from .words import LEADS, MONTHS, NUMBERED, NUMBERS, ORDINALS, SHIFTS, SHY, TAKING, UNITS, VERSIONED, WEEKDAYS

MODALS = listed("i you we he she it they not be have also well or require result contain include")


_POINTING = listed("this that next last it which what")
_AFTER_MONTH = words_of("english.after_month")
_FIRST_NAMES = frozenset({"april", "may", "june", "august"})
_BEFORE_NAME = words_of("english.before_name")
# What persons do and months do not.
_ACTS = words_of("english.acts")
_KIN = _BEFORE_NAME | listed(
    "boss colleague brother son father neighbour neighbor manager teacher doctor roommate"
)


def stands_alone(scan: Scan, i: int) -> bool:
    """True when the name of a month alone is the month. "may" and "march" need a word before them or a capital."""
    word, last, after = scan.words[i], scan.before(i), scan.words[i + 1]
    if word in _FIRST_NAMES and _is_name(scan, i):
        return False
    if (word in _FIRST_NAMES or word == "jan") and _acts(scan, i):
        return False
    if last == "-" and scan.before(i - 1) in ("mid", "early", "late"):
        return True
    ranged = after in ("to", "-", "–", "through", "until", "till") and scan.words[i + 2] in MONTHS
    if word not in SHY or ranged:
        return True
    if word in ("may", "march") and after in MODALS:
        return False
    verb = word == "may" and last in _POINTING and after.isalpha() and after not in _AFTER_MONTH
    if verb and (scan.original(i)[0].islower() or scan.before(i - 1) in ("", ".", "!", "?", '"')):
        return False  # "this may hurt"
    if last in LEADS:
        return last not in ("and", "or") or scan.original(i)[0].isupper()
    if last == "the":
        return scan.before(i - 1) in ("in", "of", "since", "by") and word != "march"
    if word in ("mar", "sep", "dec"):
        return scan.original(i)[0].isupper() and last in LEADS
    return scan.original(i)[0].isupper() and i > 0 and last not in ".!?\n\"'" and after in ",.;!?)-"


def _is_name(scan: Scan, i: int) -> bool:
    """True when the month is the first name of a person: "June Carter", "my friend April"."""
    last, after = scan.before(i), scan.words[i + 1]
    if last in _BEFORE_NAME or (last == "." and scan.before(i - 1) in ("dr", "mr", "mrs", "ms")):
        return True
    if last in LEADS or last in ("the", "'s", "'") or scan.original(i)[0].islower() or not after.isalpha():
        return False
    return scan.original(i + 1)[0].isupper() and after not in _AFTER_MONTH and after not in MONTHS


def _acts(scan: Scan, i: int) -> bool:
    """True when the name of a month does what a person does: "April said so", "Jan and I", "June is my boss"."""
    words, last = scan.words, scan.before(i)
    if scan.original(i)[0].islower() or last == "the" or (last in LEADS and last not in ("and", "or")):
        return False
    if words[i + 1] in ("is", "was"):
        return words[i + 2] in ("my", "his", "her", "our", "their") and words[i + 3] in _KIN
    return words[i + 1] in _ACTS or (words[i + 1] == "and" and words[i + 2] in ("i", "me"))


_DATED = listed("on by since until till from before after dated date due at of and is was am pm between in")
_RATED = listed("score scored rate rated rating grade graded pain gave got")
_FRACTION_OF = words_of("english.fraction_of")
_THINGS = re.compile(r"(?!this$)[a-z]{2,}[a-rt-z]s")
_COUNTED = listed("people times items percent million billion thousand am pm %")


_HOLIDAYS = Phrases(ENGLISH)
HOLIDAYS = _HOLIDAYS.firsts
"""The first words of the names of holidays."""


@packrat
def holiday(scan: Scan, i: int) -> Found | None:
    """Parses the longest holiday name at word `i`, or "eve of" a holiday. Hyphens may stand between its words."""
    if scan.words[i] == "eve" and scan.words[i + 1] == "of":
        named = holiday(scan, scan.skip(i + 2, "the"))
        return given(each(named[0], day_before), named[1]) if named else None
    found = _HOLIDAYS.at(scan, i)
    if found is None:
        return None
    sure = 0.8 if found[0] in ("new_year", "qixi", "workers") else 0.9
    return yearly(RULES[found[0]], "month" if found[0] == "ramadan" else "day", sure), found[1]


def _apart(scan: Scan, i: int) -> int:
    """Skips one mark between the parts of a date, if there is one."""
    return scan.skip(i, "-", "/", ".", ",")


def _day_number(scan: Scan, i: int) -> tuple[int, int] | None:
    """Parses a day of the month in digits, with or without "th"."""
    return ordinal(scan, i) or given(scan.digits(i, 2), i + 1)


@opens(digits=True)
def numeric(scan: Scan, i: int) -> Found | None:
    """Parses a date in digits: 2016-10-16, 10/16/2016, 16.10.2016, 10/16, 12-2015, 2016 10 16, 20161016."""
    words, first = scan.words, scan.words[i]
    if not first.isdecimal() or not first.isascii() or len(first) not in (1, 2, 4, 8):
        return None
    if len(first) == 8:
        return _compact(scan, i)
    mark, second, after = words[i + 1], words[i + 2], i + 3
    if mark in ("/", "-", ".") and scan.tight(i + 1) and scan.tight(i + 2):
        third = words[after + 1] if scan.joins(after, mark) else ""
    elif len(first) == 4 and mark.isdecimal() and second.isdecimal():
        second, third, after, mark = mark, second, i + 1, " "
    else:
        return None
    if not second.isdecimal() or not second.isascii():
        return None
    if third.isdecimal() and third.isascii():
        if mark == "." and _is_version(scan, i, first, second, third):
            return None
        end = after + 2
        return None if _runs_on(scan, end) else given(_three(first, second, third), end)
    if mark == " " or (third and mark != "-") or _runs_on(scan, after):
        return None
    return _two(scan, i, mark, after)


def _is_version(scan: Scan, i: int, first: str, second: str, third: str) -> bool:
    """True when three numbers with dots are a version: "release 2019.2.1", "upgrade to 4.2.28"."""
    last = scan.before(i)
    if len(third) == 4 or (len(first) == 4 and len(second) == len(third) == 2):
        return last in VERSIONED  # a year with padded numbers is a date
    if last in VERSIONED or scan.before(i - 1) in VERSIONED:
        return True
    return len(first) <= 2 and last.isalpha() and last not in _DATED and first[0] != "0" and int(first) < 13


def _runs_on(scan: Scan, i: int) -> bool:
    """True when the digits continue: a longer number, a decimal, a code. A hyphen may belong to a range."""
    word = scan.words[i]
    if not scan.tight(i):
        return False
    if word.isalnum() and word not in ("t", "z"):
        return True
    return word in ("/", ".", ":") and scan.tight(i + 1) and scan.words[i + 1].isdecimal()


def _compact(scan: Scan, i: int) -> Found | None:
    """Parses eight digits that are a date from 1900 to 2099: 20180818."""
    digits, last = scan.words[i], scan.before(i)
    if digits[:2] not in ("19", "20") or not plain(scan, i) or _runs_on(scan, i + 1):
        return None
    if last == "+" or last in NUMBERED or last in listed("号 號 码 碼"):
        return None
    span = calendar.date(int(digits[:4]), int(digits[4:6]), int(digits[6:]))
    return (replace(span, sure=0.7), i + 1) if span else None


def _three(first: str, second: str, third: str) -> Reading | None:
    a, b, c = int(first), int(second), int(third)
    if len(second) > 2 or (len(third) > 2 if len(first) == 4 else len(third) not in (2, 4)):
        return None
    if len(first) == 4:
        return calendar.date(a, b, c) or calendar.date(a, c, b)
    year = c if len(third) == 4 else full_year(c)
    return calendar.date(year, a, b) or calendar.date(year, b, a)


def _two(scan: Scan, i: int, mark: str, after: int) -> Found | None:
    """Parses a month with a year, or a month with a day: 12-2015, 2015/12, 10/16."""
    words, last = scan.words, scan.before(i)
    first, second = words[i], words[i + 2]
    a, b = int(first), int(second)
    short = len(first) <= 2 and len(second) <= 2
    if mark == "-":
        named = scan.tight(i) and last == "-" and scan.tight(i - 1)  # the name of a file or of a branch
        if named or (scan.joins(after, "-")):
            return None
    year, month = (a, b) if len(first) == 4 else (b, a)
    if max(len(first), len(second)) == 4:
        padded = len(second) == 2 if len(first) == 4 else len(first) <= 2
        dotted = mark == "." and not (len(first) == 4 and padded and last in LEADS)
        told = 1900 <= year <= 2100 and len(str(month)) <= 2 and (padded or mark == "/") and not dotted
        return given(calendar.month(year, month) if told else None, after)
    if not short or mark == "-" or (a, b) == (24, 7) or words[after] in _FRACTION_OF or words[after] in UNITS:
        return None
    if (b in (5, 10) and {last, scan.before(i - 1)} & _RATED) or last in NUMBERED or _is_fraction(scan, i):
        return None
    if mark != "/" and last not in WEEKDAYS:
        return None
    reading = dated_yearly(a, b, 0.7) or dated_yearly(b, a, 0.7)
    year_after = year_number(scan, after + 1) if words[after] == "," else None
    if reading and year_after:
        return given(reading.at(year_after[0]), year_after[1])
    return given(reading, after)


def _is_fraction(scan: Scan, i: int) -> bool:
    """True after an article, a whole number, or a verb with things behind: "an 8/10 film", "9 3/4", "got 2/3 votes"."""
    last = scan.before(i)
    counts = TAKING.fullmatch(last) and last not in LEADS and _THINGS.fullmatch(scan.original(i + 3))
    if counts and int(scan.words[i]) <= int(scan.words[i + 2]):
        return True
    return last in ("a", "an") or (last.isdecimal() and len(last) <= 2 and plain(scan, i - 1))


def _year_after(scan: Scan, i: int) -> tuple[int, int] | None:
    """Parses the year after a month: "2016", ", 2016", "of 1995", "in 2016", "-2018", "this year"."""
    words, j = scan.words, i
    if words[j] in ("-", "/", "."):
        joined = (scan.tight(j) and scan.tight(j + 1)) or words[j + 1] == ","
        if not joined:
            return None
        j += 1
    j = scan.skip(j, ",", "of", "in")
    k = scan.skip(j, "the")
    k = scan.skip(k + 1, "of") if words[k] == "year" else k
    shift = SHIFTS.get(words[k])
    if shift is not None and words[k + 1] == "year" and words[k] != "same":
        return scan.frame.now.year + shift, k + 2
    found = year_number(scan, k)
    if found is not None:
        return None if k == i and words[i].isdecimal() and words[found[1]] in ("hours", "people") else found
    short = scan.digits(k, 2) if words[i] == "of" else None
    return (full_year(short), k + 1) if short is not None and len(words[k]) == 2 else None


def _short_year(scan: Scan, i: int) -> tuple[int, int] | None:
    """Parses a year of two digits at the end of a date: "22/Jan/19"."""
    mark = scan.words[i]
    if mark not in ("/", "-") or scan.words[i - 2] != mark or not scan.tight(i - 1):
        return None
    return given(scan.digits(i + 1, 2), i + 2)


def _with_year(scan: Scan, month: int, dom: int, i: int) -> Found | None:
    """Returns the reading of a month and a day, with the year after them if there is one."""
    words = scan.words
    j = i + 3 if words[i] == "(" and words[i + 1] in WEEKDAYS and words[i + 2] == ")" else i  # "May/22(Tue)"
    year = _year_after(scan, j)
    if year is None and (short := _short_year(scan, j)) is not None:
        year = full_year(short[0]), short[1]
    if year is None:
        return given(dated_yearly(month, dom), j)
    return given(calendar.date(year[0], month, dom), year[1])


@opens("the", MONTHS, NUMBERS, ORDINALS, digits=True)
def named(scan: Scan, i: int) -> Found | None:
    """Parses a date or month with a month's name: "May 8th, 2026", "8 May", "2019-aug-1", "April of 87", "May"."""
    month = MONTHS.get(scan.words[i])
    if month is not None:
        return _month_first(scan, i, month)
    if scan.words[i].isdecimal() and len(scan.words[i]) == 4 and plain(scan, i):
        return _year_first(scan, i)
    return _day_first(scan, i)


def _month_first(scan: Scan, i: int, month: int) -> Found | None:
    words, j = scan.words, i + 1
    short = len(words[i]) <= 4 and words[i] != "may"
    j += words[j] == "." and scan.tight(j) and (short or words[j + 1].isdecimal())
    k = j + 1 if scan.joins(j, "-", "/") else j
    k = k + 1 if words[k] == "," and ordinal(scan, k + 1) else scan.skip(k, "the")
    dom = ordinal(scan, k)
    if dom is None and scan.digits(k, 2) is not None and not not_a_day(scan, k + 1):
        dom = int(words[k]), k + 1
    if dom is not None and 1 <= dom[0] <= 31:
        found = _with_year(scan, month, dom[0], dom[1])
        if found is not None or dom[0] >= 30 or (scan.digits(k, 2) is not None and k != j):
            return found
    year = _year_after(scan, j)
    if year is not None:
        return given(calendar.month(year[0], month), year[1])
    if not stands_alone(scan, i):
        return None
    led = scan.before(i) in LEADS or scan.before(i) == "the"
    return yearly(lambda number: calendar.month(number, month), "month", 0.9 if led else 0.6), i + 1


def not_a_day(scan: Scan, i: int) -> bool:
    """True when the number before word `i` continues as a time, a decimal, a percentage or an amount."""
    word = scan.words[i]
    decimal = word in (".", ":") and scan.tight(i + 1) and scan.words[i + 1].isdecimal()
    return word in _COUNTED or (scan.tight(i) and (word == ":" or decimal))


def _year_first(scan: Scan, i: int) -> Found | None:
    words, year = scan.words, int(scan.words[i])
    j = _apart(scan, i + 1)
    if not 1000 <= year <= 2999:
        return None
    month = MONTHS.get(words[j])
    if month is not None:
        dom = _day_number(scan, _apart(scan, j + 1))
        day = calendar.date(year, month, dom[0]) if dom else None
        return (day, dom[1]) if day and dom else given(calendar.month(year, month), j + 1)
    number, k = scan.digits(j, 2), _apart(scan, j + 1)
    month = MONTHS.get(words[k]) if number is not None and j > i + 1 else None
    return given(calendar.date(year, month, number), k + 1) if month and number is not None else None


def _day_first(scan: Scan, i: int) -> Found | None:
    words = scan.words
    j = scan.skip(i, "the")
    dom = ordinal(scan, j)
    if dom is None:
        dom = (
            integer(scan, j) if not words[j].isdecimal() or (plain(scan, j) and len(words[j]) <= 2) else None
        )
    if dom is None or not 1 <= dom[0] <= 31:
        return None
    k = scan.skip(dom[1], "day")
    k = k + 1 if words[k] in ("-", "/", ".") and scan.tight(k) else scan.skip(k, "of")
    k = scan.skip(k, "the") if words[k - 1] == "of" else k
    month = MONTHS.get(words[k])
    if month is None or (words[k] in ("may", "march", "mar") and k == dom[1] and words[k + 1] in MODALS):
        return None
    dotted = words[k + 1] == "." and len(words[k]) <= 4 and scan.tight(k + 1) and words[k + 2].isdecimal()
    return _with_year(scan, month, dom[0], k + 1 + dotted)
