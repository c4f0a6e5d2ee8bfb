"""Finds the numbers in a text in every notation: 3, three, third, 三, 1,000, 1k, 2萬."""

from __future__ import annotations

import re

from events.language.values import word_set

_UNITS = {
    word: number
    for number, words in enumerate(
        (
            "zero nil", "one first once single", "two second twice couple pair both double",
            "three third thrice triple",
            "four fourth", "five fifth", "six sixth", "seven seventh", "eight eighth", "nine ninth", "ten tenth",
            "eleven eleventh", "twelve twelfth dozen", "thirteen thirteenth", "fourteen fourteenth",
            "fifteen fifteenth", "sixteen sixteenth", "seventeen seventeenth", "eighteen eighteenth",
            "nineteen nineteenth",
        )
    )
    for word in words.split()
}  # fmt: skip
_TENS = {
    word: 10 * number
    for number, words in enumerate(
        ("twenty twentieth", "thirty thirtieth", "forty fortieth", "fifty", "sixty", "seventy", "eighty", "ninety"),
        start=2,
    )
    for word in words.split()
}  # fmt: skip
_SCALES = {
    "hundred": 100,
    "thousand": 1_000,
    "million": 10**6,
    "billion": 10**9,
    "k": 1_000,
    "m": 10**6,
    "bn": 10**9,
}
# Ambiguous number words. Such a word may bear out a number, but states none.
_LOOSE = word_set("one first once single second couple pair both double triple twice zero nil")
_MONTHS = {
    name[:length]: number
    for names in ("january february march april may june july august september october november december",)
    for number, name in enumerate(names.split(), start=1)
    for length in (3, len(name))
}
_CHINESE_UNITS = {
    sign: number
    for number, signs in enumerate(("零〇", "一", "二两兩", "三", "四", "五", "六", "七", "八", "九"))
    for sign in signs
}
_CHINESE_SCALES = {"十": 10, "百": 100, "千": 1_000}
_CHINESE_LARGE = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
_CHINESE = "".join((*_CHINESE_UNITS, *_CHINESE_SCALES, *_CHINESE_LARGE))
_DIGITS = re.compile(
    r"(?P<sign>[$€£¥₩])?\s?(?P<number>\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d{1,9})?|\d{1,18}(?:\.\d{1,9})?)"
    r"\s?(?P<scale>(?:k|m|bn|hundred|thousand|million|billion)\b|[万萬千百亿億])?",
    re.IGNORECASE,
)
_WORD = re.compile(r"[a-z]+")
_RUN = re.compile(f"[{_CHINESE}]+")


def offered(text: str) -> frozenset[float]:
    """Returns every number that ``text`` (NFKC, case folded) may say."""
    found: set[float] = set()
    for digits in _DIGITS.finditer(text):
        number = float(digits["number"].replace(",", ""))
        found.add(number)
        if digits["scale"]:
            found.add(number * _scale(digits["scale"]))
    found.update(number for number, _ in _in_words(text))
    found.update(float(_MONTHS[word]) for word in _WORD.findall(text) if word in _MONTHS)
    for run in _RUN.findall(text):
        found.add(_chinese(run))
        found.update(float(_CHINESE_UNITS[sign]) for sign in run if sign in _CHINESE_UNITS)
    return frozenset(found)


def claimed(text: str) -> list[frozenset[float]]:
    """Returns the numbers that ``text`` states, each as the set of its possible meanings.

    Ambiguous number words do not count.
    """
    found: list[frozenset[float]] = []
    for digits in _DIGITS.finditer(text):
        number = float(digits["number"].replace(",", ""))
        if digits["scale"]:
            scaled = number * _scale(digits["scale"])
            loose = digits["scale"] in {"m", "k"} and not digits["sign"]
            found.append(frozenset((scaled, number) if loose else (scaled,)))
        else:
            found.append(frozenset((number,)))
    found += [frozenset((number,)) for number, loose in _in_words(text) if not loose]
    rest = _DIGITS.sub(" ", text)
    found += [frozenset((number,)) for run in _RUN.findall(rest) if (number := _chinese(run)) > 1]
    return found


def month_of(word: str) -> int | None:
    """Returns the number of a month's English name, or None for any other word."""
    return _MONTHS.get(word)


def is_number_word(word: str) -> bool:
    """Returns True when a Latin word is a number or part of a number."""
    return word in _UNITS or word in _TENS or word in _SCALES


def _scale(written: str) -> float:
    return float(_SCALES.get(written) or _CHINESE_LARGE.get(written) or _CHINESE_SCALES[written])


def _in_words(text: str) -> list[tuple[float, bool]]:
    """Returns the numbers in English words ("twenty-five", "three hundred"), each with True when it is ambiguous."""
    found: list[tuple[float, bool]] = []
    total = current = 0.0
    open_number, loose = False, False
    for match in _WORD.finditer(text):
        word = match[0]
        if word in _TENS or (word in _UNITS and not (open_number and current % 10 and current % 100 < 20)):
            value = float(_TENS[word] if word in _TENS else _UNITS[word])
            loose = not open_number and word in _LOOSE
            current = current + value if open_number else value
            open_number = True
        elif open_number and word in _SCALES and len(word) > 2:
            current = (current or 1.0) * _SCALES[word]
            if _SCALES[word] >= 1_000:
                total, current = total + current, 0.0
            loose = False
        elif not (open_number and word == "and" and (total or current >= 100)):
            if open_number:
                found.append((total + current, loose))
            total, current, open_number = 0.0, 0.0, False
    if open_number:
        found.append((total + current, loose))
    return found


def _chinese(run: str) -> float:
    """Returns the number of a run of Chinese numerals. A run of digits is read digit by digit (二〇二六)."""
    if all(sign in _CHINESE_UNITS for sign in run):
        return float("".join(str(_CHINESE_UNITS[sign]) for sign in run[:15]))
    total = section = 0.0
    digit = 0.0
    for sign in run:
        if sign in _CHINESE_UNITS:
            digit = float(_CHINESE_UNITS[sign])
        elif sign in _CHINESE_SCALES:
            section += (digit or 1.0) * _CHINESE_SCALES[sign]
            digit = 0.0
        else:
            total = (total + section + digit or 1.0) * _CHINESE_LARGE[sign]
            section = digit = 0.0
    return total + section + digit
