"""English years without a month, and the test for numbers of four digits that are years."""

from events.language.timex import calendar
from events.language.timex.calendar import full_year
from events.language.timex.english.numbers import plain, spelled_year, year_number
from events.language.timex.english.simple import Found, opens
from events.language.timex.english.words import LEADS, MONTHS, NUMBERED, NUMBERS, UNITS, VERSIONED
from events.language.timex.scan import Scan, listed
from events.language.timex.tables import words_of

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
    found = year_number(scan, k)
    if found is None and words[i] == "fy" and scan.digits(k, 2) is not None and len(words[k]) == 2:
        found = full_year(int(words[k])), k + 1
    if found is None:
        return None
    j = found[1]
    if words[j] in ("/", "-") and scan.tight(j) and scan.tight(j + 1) and scan.digits(j + 1, 2) is not None:
        return _as_year((found[0], j + 2))
    number = scan.digits(j + 1, 1) if words[j] == "q" and scan.tight(j + 1) else None
    quarter = calendar.quarter(found[0], number) if number is not None else None
    return (quarter, j + 2) if quarter else _as_year(found)


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
        if (
            found is None
            and words[k].isdecimal()
            and len(words[k]) == 2
            and (scan.tight(k) or words[j] == "cy")
        ):
            found = full_year(int(words[k])), k + 1
        return _as_year(found)
    if j != i and not (words[j].isdecimal() and len(words[j]) == 4):
        return None
    word = words[i]
    last = scan.before(i)
    if word in "'’" and word and not scan.tight(i):
        found = year_number(scan, i)
        return (
            _as_year(found) if found and last in LEADS and words[found[1]] not in ("s", "er", "ers") else None
        )
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
    if scan.tight(j + 1) and after in ("%", ":", "/"):
        return False
    if scan.tight(i) and last.isalpha():
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
    return (
        len(code) == 2
        and code.isupper()
        and not {"flight", "flights"}.isdisjoint(scan.words[max(0, i - 6) : i])
    )
