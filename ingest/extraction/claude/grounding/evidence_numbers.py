"""The numbers that a text may say, and the numbers that it states."""

from __future__ import annotations

import re

from events.language.timex import is_number_word, month_of, numbers
from events.language.timex.numerals import chinese

__all__ = ["claimed", "is_number_word", "month_of", "offered"]

_WORD = re.compile(r"[a-z]+")


def offered(text: str) -> frozenset[float]:
    """Returns every number that ``text`` (NFKC, case folded) may say."""
    found = {value for number in numbers(text) for value in (number.value, number.written)}
    found.update(float(month) for word in _WORD.findall(text) if (month := month_of(word)) is not None)
    found.update(float(digit) for sign in text if not sign.isascii() and (digit := chinese(sign)) is not None)
    return frozenset(found)


def claimed(text: str) -> list[frozenset[float]]:
    """Returns the numbers that ``text`` states, each as the set of its possible meanings.

    Ambiguous number words do not count.
    """
    return [
        frozenset((number.value, number.written)) if number.loose else frozenset((number.value,))
        for number in numbers(text)
        if not number.loose or text[number.begin].isdecimal()
    ]
