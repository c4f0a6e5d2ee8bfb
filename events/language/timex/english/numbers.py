"""English numbers: counts, ordinals, years, and lengths of time."""

from __future__ import annotations

from ..lengths import Length
from ..scan import Scan, given, packrat
from .words import MAGNITUDES, NUMBERS, ORDINALS, UNITS

_SUFFIXES = frozenset({"st", "nd", "rd", "th"})
_SYMBOLS = frozenset("$€£¥#")


def plain(scan: Scan, i: int) -> bool:
    """True when the digits at word `i` do not continue a price, a decimal, a version, a code or a time."""
    if not scan.tight(i):
        return True
    last = scan.words[i - 1]
    if last in _SYMBOLS:
        return False
    if last in ".,:/-_" and i >= 2 and scan.tight(i - 1):
        return not scan.words[i - 2].isdigit()
    return True


@packrat
def integer(scan: Scan, i: int) -> tuple[int, int] | None:
    """Parses a count in digits or words: "26", "twenty-six", "two thousand and fifteen"."""
    word = scan.words[i]
    if word.isdecimal() and word.isascii():
        if len(word) > 9:
            return None
        if scan.words[i + 1] == "," and scan.tight(i + 1) and scan.tight(i + 2):
            return None
        return int(word), i + 1
    if word not in NUMBERS:
        return None
    total = group = 0
    j = i
    last = ""
    while True:
        word = scan.words[j]
        if word in NUMBERS:
            value = NUMBERS[word]
            if last == "one" or (last == "ten" and not 1 <= value <= 9):
                break
            group += value
            last = "ten" if value >= 20 else "one"
        elif word in MAGNITUDES and j > i:
            if word == "hundred":
                group = max(group, 1) * 100
            else:
                total, group = total + group * 1000, 0
            last = ""
        elif word in ("and", "-") and j > i and scan.words[j + 1] in NUMBERS:
            if word == "and" and scan.words[j - 1] not in MAGNITUDES:
                break
            if word == "-" and not (last == "ten" and scan.tight(j) and scan.tight(j + 1)):
                break
        else:
            break
        j += 1
    return total + group, j


@packrat
def ordinal(scan: Scan, i: int) -> tuple[int, int] | None:
    """Parses "1st", "21th", "second", "twenty-third", "thirty first"."""
    word = scan.words[i]
    if word.isdecimal():
        if len(word) <= 3 and scan.words[i + 1] in _SUFFIXES and scan.tight(i + 1) and plain(scan, i):
            return int(word), i + 2
        return None
    if word in ORDINALS:
        return ORDINALS[word], i + 1
    if word in ("twenty", "thirty"):
        j = scan.skip(i + 1, "-")
        ones = ORDINALS.get(scan.words[j], 0)
        if 1 <= ones <= 9:
            return NUMBERS[word] + ones, j + 1
    return None


@packrat
def amount(scan: Scan, i: int) -> tuple[float, int] | None:
    """Parses an amount: "2.5", "a", "half a", "a couple of", "one and a half", "several"."""
    word, words = scan.words[i], scan.words
    if (word in _ABOVE or words[i + 1] in ("/", "and") or words[i + 2] == "/") and (
        part := fraction(scan, i)
    ) is not None:
        return part
    if word.isdecimal():
        if not plain(scan, i) or len(word) > 9:
            return None
        if words[i + 1] == "." and words[i + 2].isdecimal() and scan.tight(i + 1) and scan.tight(i + 2):
            if len(words[i + 2]) > 6:
                return None
            return float(f"{word}.{words[i + 2]}"), i + 3
        return _and_half(scan, float(word), i + 1)
    if word == "½":
        return 0.5, scan.skip(i + 1, "a", "an")
    if word == "half":
        j = scan.skip(i + 1, "of")
        return 0.5, scan.skip(j, "a", "an")
    if word in ("a", "an"):
        if words[i + 1] == "half":
            return 0.5, i + 2
        if words[i + 1] in ("couple", "pair"):
            return 2.0, scan.skip(i + 2, "of")
        if words[i + 1] in ("few", "several"):
            return 3.0, i + 2
        if words[i + 1] == "dozen":
            return 12.0, i + 2
        if words[i + 1] in ("full", "whole", "good", "single"):
            return 1.0, i + 2
        return 1.0, i + 1
    if word == "couple":
        return 2.0, scan.skip(i + 1, "of")
    if word in ("few", "several", "some"):
        return 3.0, i + 1
    found = integer(scan, i)
    return _and_half(scan, float(found[0]), found[1]) if found else None


_PARTS = {
    "half": 2,
    "halves": 2,
    "third": 3,
    "thirds": 3,
    "quarter": 4,
    "quarters": 4,
    "fourth": 4,
    "fourths": 4,
}


_ABOVE = frozenset({"a", "one", "two", "three", *_PARTS})


def fraction(scan: Scan, i: int) -> tuple[float, int] | None:
    """Parses a fraction of the unit after it: "3/4 of an hour", "three-quarters of a year", "1 1/2 hours"."""
    words = scan.words
    word = words[i]
    if word.isdecimal():
        if words[i + 1] == "/" and scan.tight(i + 1) and scan.tight(i + 2):
            below = scan.digits(i + 2, 1) or 0
            if len(word) > 1 or not 0 < int(word) < below <= 4 or not plain(scan, i):
                return None
            j = scan.skip(i + 3, "of")
            j = scan.skip(j, "a", "an")
            return (int(word) / below, j) if words[j] in UNITS else None
        if words[i + 2] == "/" or (words[i + 1] == "and" and words[i + 3] == "/"):
            rest = fraction(scan, scan.skip(i + 1, "and"))
            return (int(word) + rest[0], rest[1]) if rest and len(word) < 4 else None
        return None
    j = i + 1 if word in ("a", "one", "two", "three") else i
    if words[j] == "-" and scan.tight(j) and scan.tight(j + 1):
        j += 1
    below = _PARTS.get(words[j], 0)
    if not below or words[j + 1] != "of" or words[j + 2] not in ("a", "an") or words[j + 3] not in UNITS:
        return None
    above = {"two": 2, "three": 3}.get(word, 1)
    return (above / below, j + 3) if above < below else None


def _and_half(scan: Scan, value: float, i: int) -> tuple[float, int]:
    if scan.words[i] == "and" and scan.words[i + 1] in ("a", "half"):
        j = scan.skip(i + 1, "a")
        if scan.words[j] in ("half", "quarter") and scan.words[j + 1] in UNITS:
            return value + (0.5 if scan.words[j] == "half" else 0.25), j + 1
    if scan.words[i] == "½":
        return value + 0.5, i + 1
    return value, i


def unit_word(scan: Scan, i: int) -> tuple[str, int] | None:
    """Parses a unit of time. A single letter must directly follow its number ("3h")."""
    word = scan.words[i]
    if word in ("business", "working", "work") and scan.words[i + 1] in ("day", "days"):
        return "working_day", i + 2
    if word in ("h", "y") and not (scan.tight(i) and scan.words[i - 1].isdecimal()):
        return None
    if word in _LETTERS:
        return given(_letter(scan, i), i + 1)
    word = word.removesuffix("'s").removesuffix("'")
    return given(UNITS.get(word), i + 1)


@packrat
def length(scan: Scan, i: int) -> tuple[Length, int] | None:
    """Parses a length of time: "2 years 1 month 21 days", "an hour and a half", "3h"."""
    one = _single(scan, i)
    if one is None:
        return None
    total, j = one
    while True:
        k = scan.skip(scan.skip(j, ","), "and")
        more = _single(scan, k)
        if more is None or scan.words[k] in ("a", "an", "some", "few"):
            return total, j
        total, j = total + more[0], more[1]


def first_length(scan: Scan, i: int) -> tuple[Length, int] | None:
    """Parses only the first amount and unit of a length."""
    return _single(scan, i)


@packrat
def _single(scan: Scan, i: int) -> tuple[Length, int] | None:
    pair = _pair(scan, i)
    many = pair[1:] if pair else amount(scan, i)
    if many is None:
        return None
    count, j = many
    if scan.words[j] in ("more", "full", "whole", "consecutive", "straight", "long", "short", "-"):
        j += 1
    found = unit_word(scan, j)
    if found is None:
        return None
    unit, j = found
    if pair is not None:
        return Length(((count, unit),), least=pair[0]), j
    if count == 1 and scan.words[j] == "or":
        more = integer(scan, j + 1)
        if more and more[0] == 2 and (scan.words[more[1]] in _SIDES or scan.before(i) == "in"):
            return Length(((2, unit),), least=1), more[1]
    if scan.words[j] == "and":
        k = scan.skip(j + 1, "a")
        if scan.words[k] == "half":
            return Length(((count + 0.5, unit),)), k + 1
        if scan.words[k] == "quarter" and unit in ("year", "hour"):
            return Length(((count + 0.25, unit),)), k + 1
    if unit == "day" and count == 0.5:
        count, unit = 12, "hour"
    return Length(((count, unit),), int(not _UNCERTAIN.isdisjoint(scan.words[i : many[1]]))), j


_PAIRING = frozenset({"or", "to", "-", "–", "—"})
_SIDES = frozenset({"ago", "later", "back", "earlier", "from", "before", "after"})


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


_UNCERTAIN = frozenset({"few", "several", "some"})
# Units of one letter. Each is a unit only between other words of time: "3d" alone is a picture in three dimensions.
_LETTERS = {"d": "day", "w": "week", "m": "minute", "s": "second", "mo": "month", "mos": "month"}
_COMPACT = frozenset(_LETTERS) | {"h", "y", "hr", "hrs", "min", "mins"}


def _letter(scan: Scan, i: int) -> str | None:
    """Returns the unit of a short form directly after its number: "3d ago", "2h30m"."""
    unit = _LETTERS[scan.words[i]]
    if not (scan.tight(i) and scan.words[i - 1].isdecimal()) or scan.original(i)[0].isupper():
        return None
    if scan.words[i + 1] in ("ago", "later"):
        return unit
    if scan.words[i + 1].isdecimal() and scan.words[i + 2] in _COMPACT and scan.tight(i + 2):
        return unit
    if i >= 3 and scan.words[i - 2] in _COMPACT and scan.words[i - 3].isdecimal():
        return unit
    return None


@packrat
def year_number(scan: Scan, i: int) -> tuple[int, int] | None:
    """Parses a year after a date: four digits, an apostrophe with two digits, or words."""
    word = scan.words[i]
    if word.isdecimal():
        if len(word) == 4 and 1000 <= int(word) <= 2999 and not _joined(scan, i + 1):
            return int(word), i + 1
        return None
    if word in "'’" and scan.words[i + 1].isdecimal() and len(scan.words[i + 1]) == 2 and scan.tight(i + 1):
        return full_year(int(scan.words[i + 1])), i + 2
    return spelled_year(scan, i)


def _joined(scan: Scan, i: int) -> bool:
    """True when the digits continue as a decimal, a group of thousands or a clock time."""
    return (
        scan.words[i] in (".", ",", ":")
        and scan.tight(i)
        and scan.tight(i + 1)
        and scan.words[i + 1].isdecimal()
    )


@packrat
def spelled_year(scan: Scan, i: int) -> tuple[int, int] | None:
    """Parses "nineteen eighty-six", "two thousand and fifteen", "twenty twenty"."""
    first = NUMBERS.get(scan.words[i], 0)
    if scan.words[i + 1] == "thousand" and 1 <= first <= 2:
        found = integer(scan, i)
        return found if found and 1000 <= found[0] <= 2999 else None
    if scan.words[i + 1] == "hundred" and 15 <= first <= 19:
        found = integer(scan, i)
        return found if found and found[0] <= 1999 else None
    if 15 <= first <= 20:
        if scan.words[i + 1] in ("oh", "o"):
            ones = NUMBERS.get(scan.words[i + 2], 0)
            return (first * 100 + ones, i + 3) if 1 <= ones <= 9 else None
        rest = integer(scan, i + 1)
        if rest and not scan.words[i + 1].isdecimal() and 10 <= rest[0] <= 99:
            return first * 100 + rest[0], rest[1]
    return None


def full_year(short: int) -> int:
    """Returns the full year of two digits: 00 to 39 are 20xx, 40 to 99 are 19xx."""
    return short + (2000 if short < 40 else 1900)
