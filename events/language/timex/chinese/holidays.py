"""Chinese holidays. The script of a name decides between the calendars of China and Taiwan."""

from __future__ import annotations

from events.language.timex.tables import values_of

from ..cycles import Reading, yearly
from ..holidays import CHINESE, RULES
from ..scan import packrat
from .words import ChineseScan as Scan

# Holidays that Taiwan keeps on another day, for texts in traditional characters.
_IN_TAIWAN = values_of("chinese.in_taiwan")
Found = tuple[Reading, int]
_WISHES = ("快乐", "快樂", "愉快", "安康", "吉祥")


@packrat
def holiday(scan: Scan, i: int) -> Found | None:
    """Parses a holiday without a year. The script of its name decides between the calendars of China and Taiwan."""
    words = scan.words
    key = CHINESE.get(words[i])
    if key is None:
        return None
    original = scan.source[scan.begins[i] : scan.stops[i]]
    for written, other in _IN_TAIWAN.items():
        if original.startswith(written):
            key = other
    rule = RULES[key]
    j = i + 1
    if words[i] in ("过年", "新年", "五一", "清明") and words[j] in ("的话", "好"):
        return None
    if scan.text.startswith(_WISHES, scan.stops[i]):
        return None
    j = scan.skip(j, "连假", "假期", "长假")
    sure = 0.6 if words[i] in ("过年", "新年") else 0.9
    return yearly(rule, "day", sure), scan.skip(j, "当天", "期间", "那天")
