"""Chinese dates in digits."""

from __future__ import annotations

from .. import calendar
from ..cycles import yearly
from ..scan import packrat
from .dates import NOT_DAYS, Found, full_year, weekday_after
from .words import ChineseScan as Scan


@packrat
def numeric(scan: Scan, i: int) -> Found | None:
    """Parses a date in digits, the year first: 2010.01.29, 2018-10-12, 12/1. In 1/2/2020 the day is first."""
    words = scan.words
    first = words[i]
    if not first.isdecimal() or not first.isascii() or len(first) > 4:
        return None
    if scan.tight(i) and scan.before(i) in ("-", "/", ".", "#", "$") and i >= 2 and words[i - 2].isdecimal():
        return None
    mark = words[i + 1]
    if mark not in ("-", "/", ".") or not scan.tight(i + 1) or not scan.tight(i + 2):
        return None
    second = scan.digits(i + 2, 4)
    if second is None:
        return None
    if words[i + 3] == mark and scan.tight(i + 3) and scan.tight(i + 4):
        third = scan.digits(i + 4, 4)
        if third is None or (scan.tight(i + 5) and (words[i + 5].isalnum() and words[i + 5].isascii())):
            return None
        a, b, c, last = int(first), second, third, words[i + 4]
        span = None
        if len(first) == 4 and len(last) <= 2:
            span = calendar.date(a, b, c)
        elif len(last) == 4 and len(words[i + 2]) <= 2:
            span = calendar.date(c, b, a) or calendar.date(c, a, b)
        elif (
            len(first) == 3
            and mark == "/"
            and (100 <= a <= 150 or (a >= 60 and len(words[i + 2]) == len(last) == 2))
            and a <= 150
        ):
            span = calendar.date(a + 1911, b, c)  # a year of the Republic
        elif len(first) == 2 and len(last) <= 2:
            span = calendar.date(full_year(a), b, c)
        return (span, scan.skip(weekday_after(scan, i + 5), "日", "号")) if span else None
    a = int(first)
    if len(first) == 4 and len(words[i + 2]) <= 2 and 1 <= second <= 12 and mark != ".":
        span = calendar.month(a, second)
        return (span, i + 3) if span and 1900 <= a <= 2100 else None
    after = words[i + 3]
    if mark != "/" or len(first) > 2 or len(words[i + 2]) > 2 or (a, second) == (24, 7):
        return None
    if after == "号" and words[i + 4][:1] in NOT_DAYS:
        return None
    if after[:1] in ("的", "个", "杯", "匙", "份", "分", "月") or (
        scan.tight(i + 3) and after.isascii() and after.isalnum()
    ):
        return None
    month, dom = (a, second) if 1 <= a <= 12 else (second, a)
    if not 1 <= month <= 12 or not 1 <= dom <= calendar.days_in_month(2000, month):
        return None
    return yearly(lambda number: calendar.date(number, month, dom), "day", 0.75), weekday_after(scan, i + 3)
