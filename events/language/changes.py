"""What a text tells beside its topic: a change, what was said wrongly, and values.

The words are in ``changes.txt``. Any text is allowed, and at most its first :data:`READ` characters are read.
"""

from __future__ import annotations

import re
from collections.abc import Set
from functools import cache
from importlib.resources import files

from events.language.chinese_script import has_cjk, to_simplified

READ = 600
_BRIEF = 120  # characters; a Chinese character counts as three
_INTERJECTIONS = r"\W*(?:(?:oh|ah|ok|okay|hmm|ugh|haha|lol|hey|so|and|but|yeah|啊|欸|诶|哦|喔|呃|嗯)\W+){0,3}"


def tells_of_a_change(text: str) -> bool:
    """True when ``text`` says that something is another way now, is over, or was said wrongly."""
    return _holds("change", text) or mends(text)


def values(text: str) -> frozenset[str]:
    """Returns the numbers, days and times of day that ``text`` names, as they are written."""
    head = text[:READ]
    found = set(_pattern("value", "english").findall(head.casefold()))
    if has_cjk(head):
        found.update(_pattern("value", "chinese").findall(to_simplified(head)))
    return frozenset(found)


def differ(own: Set[str], others: Set[str]) -> bool:
    """True when each of two sets of values has one that the other lacks, both times of day, days or numbers."""
    if not own or not others or own == others:
        return False
    return not {_kind(each) for each in own - others}.isdisjoint(_kind(each) for each in others - own)


def _kind(value: str) -> str:
    if ":" in value or value.endswith(("am", "pm")) or value in ("noon", "midnight"):
        return "clock"
    if value.count("-") + value.count("/") == 2 or value.endswith(("st", "nd", "rd", "th", "day")):
        return "day"
    return "number"


def mends(text: str) -> bool:
    """True for a brief text that begins as a correction of what was said just before. A question is none."""
    width = len(text) if text.isascii() else sum(1 if each.isascii() else 3 for each in text[:READ])
    return width <= _BRIEF and not text.rstrip().endswith(("?", "？")) and _holds("correction", text)


def _holds(section: str, text: str) -> bool:
    head = text[:READ]
    if _pattern(section, "english").search(head.casefold().replace("’", "'")):
        return True
    return has_cjk(head) and _pattern(section, "chinese").search(to_simplified(head)) is not None


@cache
def _pattern(section: str, language: str) -> re.Pattern[str]:
    table = files("events.language").joinpath("changes.txt").read_text("utf-8")
    body = table.partition(f"[{section}] {language}\n")[2].partition("\n[")[0]
    words = "|".join(line for line in body.splitlines() if line and not line.startswith("#"))
    if section == "correction":
        return re.compile(rf"^{_INTERJECTIONS}(?:{words})")
    return re.compile(rf"\b(?:{words})\b" if language == "english" else words)
