"""English numbers: counts, ordinals, years, and lengths of time."""

from ..calendar import full_year
from ..lengths import Length
from ..numerals import NUMBERS, ORDINALS, spelled
from ..scan import Scan, given, listed, packrat, phrases_of
from ..tables import numbers_of
from .words import SHIFTS, UNITS

_AMOUNTS = phrases_of("amounts", float)
_PARTS = numbers_of("english.fractions")
_ABOVE = {"a": 1, "one": 1, "two": 2, "three": 3}
_PAIRING = listed("or to - – —")
_SIDES = listed("ago later back earlier from before after")
_UNCERTAIN = listed("few several some")
# Units of one letter. Each is a unit only between other words of time: "3d" alone is a picture in three dimensions.
_LETTERS = {"d": "day", "w": "week", "m": "minute", "s": "second", "mo": "month", "mos": "month"}
_COMPACT = frozenset(_LETTERS) | listed("h y hr hrs min mins")


def plain(scan: Scan, i: int) -> bool:
    """True when the digits at word `i` do not continue a price, a decimal, a version, a code or a time."""
    if not scan.tight(i):
        return True
    last = scan.words[i - 1]
    if last in ".,:/-_" and i >= 2 and scan.tight(i - 1):
        return not scan.words[i - 2].isdigit()
    return last not in "$€£¥#"


@packrat
def integer(scan: Scan, i: int) -> tuple[int, int] | None:
    """Parses a count in digits or words: "26", "twenty-six", "two thousand and fifteen"."""
    word = scan.words[i]
    if not (word.isdecimal() and word.isascii()):
        return spelled(scan.words, i, ordinals=False) if word in NUMBERS else None
    grouped = scan.words[i + 1] == "," and scan.tight(i + 1) and scan.tight(i + 2)
    return None if len(word) > 9 or grouped else (int(word), i + 1)


@packrat
def ordinal(scan: Scan, i: int) -> tuple[int, int] | None:
    """Parses "1st", "21th", "second", "twenty-third", "thirty first"."""
    word, after = scan.words[i], scan.words[i + 1]
    if word.isdecimal():
        marked = after in ("st", "nd", "rd", "th") and scan.tight(i + 1)
        return (int(word), i + 2) if marked and len(word) <= 3 and plain(scan, i) else None
    found = spelled(scan.words, i) if word in ORDINALS or word in NUMBERS else None
    return found if found is not None and scan.words[found[1] - 1] in ORDINALS else None


@packrat
def amount(scan: Scan, i: int) -> tuple[float, int] | None:
    """Parses an amount: "2.5", "a", "half a", "a couple of", "one and a half", "several", "3/4 of an"."""
    word, words = scan.words[i], scan.words
    part = fraction(scan, i)
    if part is not None:
        return part
    if not word.isdecimal():
        named = _AMOUNTS.at(scan, i)
        if named is not None:
            return named
        found = integer(scan, i)
        return _and_half(scan, float(found[0]), found[1]) if found else None
    if not plain(scan, i) or len(word) > 9:
        return None
    if words[i + 1] == "." and words[i + 2].isdecimal() and scan.tight(i + 1) and scan.tight(i + 2):
        return (float(f"{word}.{words[i + 2]}"), i + 3) if len(words[i + 2]) <= 6 else None
    return _and_half(scan, float(word), i + 1)


def fraction(scan: Scan, i: int) -> tuple[float, int] | None:
    """Parses a fraction of the unit after it: "3/4 of an hour", "three-quarters of a year", "1 1/2 hours"."""
    words, word = scan.words, scan.words[i]
    if word.isdecimal():
        if words[i + 1] == "/" and scan.tight(i + 1) and scan.tight(i + 2):
            below = scan.digits(i + 2, 1) or 0
            if len(word) > 1 or not 0 < int(word) < below <= 4 or not plain(scan, i):
                return None
            j = scan.skip(scan.skip(i + 3, "of"), "a", "an")
            return (int(word) / below, j) if words[j] in UNITS else None
        if len(word) < 4 and (words[i + 2] == "/" or (words[i + 1] == "and" and words[i + 3] == "/")):
            rest = fraction(scan, scan.skip(i + 1, "and"))
            return (int(word) + rest[0], rest[1]) if rest else None
        return None
    j = i + (word in _ABOVE)
    j += scan.joins(j, "-")
    below = _PARTS.get(words[j], 0)
    if not below or words[j + 1] != "of" or words[j + 2] not in ("a", "an") or words[j + 3] not in UNITS:
        return None
    above = _ABOVE.get(word, 1)
    return (above / below, j + 3) if above < below else None


def _and_half(scan: Scan, value: float, i: int) -> tuple[float, int]:
    if scan.words[i] == "½":
        return value + 0.5, i + 1
    j = scan.skip(i + 1, "a") if scan.words[i] == "and" else i
    if j > i and scan.words[j] in ("half", "quarter") and scan.words[j + 1] in UNITS:
        return value + (0.5 if scan.words[j] == "half" else 0.25), j + 1
    return value, i


def unit_word(scan: Scan, i: int) -> tuple[str, int] | None:
    """Parses a unit of time. A single letter must directly follow its number ("3h")."""
    word = scan.words[i]
    if word in ("business", "working", "work", "week") and scan.words[i + 1] in ("day", "days"):
        return "working_day", i + 2
    if word in ("h", "y") and not (scan.tight(i) and scan.words[i - 1].isdecimal()):
        return None
    if word in _LETTERS:
        return given(_letter(scan, i), i + 1)
    return given(UNITS.get(word.removesuffix("'s").removesuffix("'")), i + 1)


def _letter(scan: Scan, i: int) -> str | None:
    """Returns the unit of a short form directly after its number: "3d ago", "2h30m"."""
    words = scan.words
    if not (scan.tight(i) and words[i - 1].isdecimal()) or scan.original(i)[0].isupper():
        return None
    beside = (
        words[i + 1] in ("ago", "later")
        or (words[i + 1].isdecimal() and words[i + 2] in _COMPACT and scan.tight(i + 2))
        or (i >= 3 and words[i - 2] in _COMPACT and words[i - 3].isdecimal())
    )
    return _LETTERS[words[i]] if beside else None


@packrat
def length(scan: Scan, i: int) -> tuple[Length, int] | None:
    """Parses a length of time: "2 years 1 month 21 days", "an hour and a half", "3h"."""
    one = first_length(scan, i)
    if one is None:
        return None
    total, j = one
    while True:
        k = scan.skip(scan.skip(j, ","), "and")
        more = first_length(scan, k)
        if more is None or scan.words[k] in ("a", "an", "some", "few"):
            return total, j
        total, j = total + more[0], more[1]


@packrat
def first_length(scan: Scan, i: int) -> tuple[Length, int] | None:
    """Parses only the first amount and unit of a length."""
    words = scan.words
    pair = _pair(scan, i)
    many = pair[1:] if pair else amount(scan, i)
    if many is None:
        return None
    count, j = many
    found = unit_word(
        scan, scan.skip(j, "more", "full", "whole", "consecutive", "straight", "long", "short", "-")
    )
    if found is None:
        return None
    unit, j = found
    if pair is not None:
        return Length(((count, unit),), least=pair[0]), j
    if count == 1 and words[j] == "or":
        more = integer(scan, j + 1)
        if more and more[0] == 2 and (words[more[1]] in _SIDES or scan.before(i) == "in"):
            return Length(((2, unit),), least=1), more[1]
    if words[j] == "and":
        k = scan.skip(j + 1, "a")
        if words[k] == "half" or (words[k] == "quarter" and unit in ("year", "hour")):
            return Length(((count + (0.5 if words[k] == "half" else 0.25), unit),)), k + 1
    if unit == "day" and count == 0.5:
        count, unit = 12, "hour"
    return Length(((count, unit),), int(not _UNCERTAIN.isdisjoint(words[i : many[1]]))), j


def _pair(scan: Scan, i: int) -> tuple[float, float, int] | None:
    """Parses two amounts of one unit: "two or three weeks", "2-3 days". Returns both, and the word of the unit."""
    words = scan.words
    between = words[i] == "between"
    low = integer(scan, i + between) if between or plain(scan, i) else None
    if low is None or not (words[low[1]] in _PAIRING or (between and words[low[1]] == "and")):
        return None
    high = integer(scan, low[1] + 1)
    if high is None or not low[0] < high[0] < 1000 or unit_word(scan, high[1]) is None:
        return None
    return low[0], high[0], high[1]


@packrat
def year_number(scan: Scan, i: int) -> tuple[int, int] | None:
    """Parses a year after a date: four digits, an apostrophe with two digits, or words."""
    words, word = scan.words, scan.words[i]
    if word.isdecimal():
        j = i + 1
        joined = scan.joins(j, ".", ",", ":") and words[j + 1].isdecimal()
        return (int(word), j) if len(word) == 4 and 1000 <= int(word) <= 2999 and not joined else None
    if word in "'’":
        short = scan.digits(i + 1, 2) if scan.tight(i + 1) else None
        if short is not None and len(words[i + 1]) == 2:
            return full_year(short), i + 2
    return spelled_year(scan, i)


def told_year(scan: Scan, i: int) -> tuple[int, int] | None:
    """Parses a year by its number, or by its place from this year: "2027", "next year"."""
    shift = SHIFTS.get(scan.words[i])
    if shift is not None and scan.words[i + 1] == "year":
        return scan.frame.now.year + shift, i + 2
    return year_number(scan, i)


@packrat
def spelled_year(scan: Scan, i: int) -> tuple[int, int] | None:
    """Parses "nineteen eighty-six", "two thousand and fifteen", "twenty twenty"."""
    words = scan.words
    first = NUMBERS.get(words[i], 0)
    if words[i + 1] in ("thousand", "hundred"):
        found = integer(scan, i)
        least, most = (1000, 2999) if words[i + 1] == "thousand" else (1500, 1999)
        return found if found and least <= found[0] <= most else None
    if not 15 <= first <= 20:
        return None
    rest = integer(scan, i + 1) if words[i + 1] in NUMBERS else None
    return (first * 100 + rest[0], rest[1]) if rest and 10 <= rest[0] <= 99 else None
