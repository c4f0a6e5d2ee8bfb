"""Chinese holidays. The script of a name decides between the calendars of China and Taiwan."""

from events.language.timex.tables import values_of

from .. import calendar
from ..cycles import Reading, each, yearly
from ..holidays import CHINESE, RULES
from ..scan import given, packrat
from .words import ChineseScan as Scan

# Holidays that Taiwan keeps on another day, for texts in traditional characters.
_IN_TAIWAN = values_of("chinese.in_taiwan")
_WEEKS = {"national_china": 7, "spring_festival": 7, "workers": 5}
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
    if words[j] in ("黄金周", "长假", "假期", "连假", "小长假") and key in _WEEKS:
        length = _WEEKS[key]
        whole = each(
            yearly(rule, "week", 0.7),
            lambda day: calendar.days(day.start, length) if day.start else None,
        )
        return given(whole, j + 1)
    if words[j] == "前夕":
        return given(each(yearly(rule, "day", 0.8), calendar.day_before), j + 1)
    j = scan.skip(j, "连假", "假期", "长假")
    sure = 0.6 if words[i] in ("过年", "新年") else 0.9
    return yearly(rule, "day", sure), scan.skip(j, "当天", "期间", "那天")
