"""Parts of English periods: the last week of July, mid-November, later this week."""

from collections.abc import Callable
from dataclasses import replace
from typing import cast

from .. import calendar
from ..calendar import Span, add_days, add_months, midnight
from ..clock import part
from ..cycles import each, settle, yearly
from ..scan import Found, Scan, given, listed, packrat
from ..shares import Share, nth, nth_weekday, share
from ..tables import values_of
from .numbers import amount, ordinal, unit_word
from .simple import opens, simple
from .times import hours, part_of_day
from .weekdays import weekday, weekday_name
from .words import NUMBERS, ORDINALS, SHIFTS, UNITS

SHARE_WORDS = cast("dict[str, Share]", values_of("english.share_words"))


# Places of a part besides the ordinals: the last is -1.
_PLACES = {"last": -1, "final": -1, "closing": -1, "opening": 1, "latter": 2}


@packrat
def piece(scan: Scan, i: int) -> tuple[Callable[[Span], Span | None], int] | None:
    """Parses a part of the next period: "first week", "last 3 weeks", "second half", "3rd Monday", "9th month"."""
    words = scan.words
    j = scan.skip(i, "the")
    if words[j] in _PLACES:
        number, j = _PLACES[words[j]], j + 1
    else:
        which = ordinal(scan, j)
        if which is None:
            return None
        number, j = which
    if words[j] == "full":
        j += 1
    weekday = weekday_name(scan, j)
    if weekday is not None:
        timed = hours(scan, j + 1)
        if timed is not None and words[timed[1]] in ("of", "in"):
            time = timed[0]
            return (
                lambda span: time.on(day) if (day := nth_weekday(span, weekday, number)) else None
            ), timed[1]
        return (lambda span: nth_weekday(span, weekday, number)), j + 1
    of = words[j] in ("of", "in") and number > 0 and (words[j + 1] in SHIFTS or words[j + 1] == "the")
    if of and "month" in (words[j + 2], words[j + 3]):
        return (lambda span: nth(span, "day", number) if span.grain == "month" else None), j
    if words[j] == "half":
        which_half = 2 if number in (2, -1) else 1
        return (lambda span: _half_of(span, which_half)), j + 1
    counts = words[j] in NUMBERS or words[j].isdecimal() or words[j] in ("few", "couple")
    many = amount(scan, j) if counts else None
    unit = unit_word(scan, many[1] if many else j)
    if unit is None or words[j] == "second":
        return None
    kind, count = unit[0], int(many[0]) if many else 1
    return (lambda span: nth(span, kind, number, count)), unit[1]


def _half_of(span: Span, which: int) -> Span | None:
    start, end = span.begins, span.ends
    if span.grain == "year":
        return calendar.half(start.year, which)
    months = {"decade": 60, "century": 600}.get(span.grain)
    cut = add_months(start, months) if months else midnight(start + (end - start) / 2)
    cut = add_days(start, 15) if span.grain == "month" else cut
    start, end = (start, cut) if which == 1 else (cut, end)
    return replace(span, start=start, end=end, instant=False)


def whole_period(scan: Scan, i: int) -> Found | None:
    """Parses the period that contains a part: any simple period, or "the month" for the present one."""
    words, j = scan.words, scan.skip(i, "the")
    found = simple(scan, i)
    if found is not None or j == i:
        return found
    if weekday_name(scan, j) is not None:
        return weekday(scan, j)
    unit = UNITS.get(words[j], "")
    whole = unit in listed("day week month quarter year decade century weekend")
    return given(calendar.unit(unit, scan.frame.now), j + 1) if whole else None


@opens("the", ORDINALS, NUMBERS, _PLACES, digits=True)
def pieces(scan: Scan, i: int) -> Found | None:
    """Parses a part with its period: "the last week of July", "first ten days of last year"."""
    words = scan.words
    taken = piece(scan, i)
    if taken is None:
        return None
    cut, j = taken
    k = scan.skip(j, "of", "in")
    whole = whole_period(scan, k) if k > j or words[j].isdecimal() or words[j] in SHIFTS else None
    if whole is None and words[j - 1] in ("quarter", "half"):
        if words[i] in ("last", "the") and words[j - 1] == "quarter" and words[j - 2] in ("last", "final"):
            return None
        if (words[j - 1] == "half" and words[j - 2] not in ORDINALS) or words[i] == "latter":
            return None
        return yearly(lambda number: _of(cut, calendar.year(number)), "quarter", 0.75), j
    if whole is None:
        return None
    if words[j - 1] == "quarter" and isinstance(whole[0], Span) and words[whole[1] - 2] == "the":
        return yearly(lambda number: _of(cut, calendar.year(number)), "quarter", 0.85), whole[1]
    sample = settle(whole[0], scan.frame, -1)
    inner = _of(cut, sample)
    if inner is None:
        return None
    return given(each(whole[0], cut, inner.grain), whole[1])


def _of(cut: Callable[[Span], Span | None], span: Span | None) -> Span | None:
    return cut(span) if span is not None else None


@opens("the", SHARE_WORDS, "rest", "remainder", "remaining", "back")
def shares(scan: Scan, i: int) -> Found | None:
    """Parses "mid-November", "early this year", "end of the month", "later this week", "the rest of the day"."""
    words, frame = scan.words, scan.frame
    j = scan.skip(i, "the")
    word = words[j]
    if word in ("rest", "remainder", "remaining") and words[j + 1] in ("of", "in"):
        whole = whole_period(scan, j + 2)
        span = settle(whole[0], frame, 1) if whole else None
        if whole is None or span is None:
            return None
        return replace(span, start=max(span.begins, frame.today), instant=False), whole[1]
    if word == "back" and words[j + 1] == "end":
        j += 1
    which = SHARE_WORDS.get(words[j])
    if which is None:
        return None
    k = scan.skip(scan.skip(j + 1, "-"), "of", "in", "on")
    if which in ("beginning", "middle", "end") and words[k - 1] != "of":
        return None
    whole = whole_period(scan, k)
    if whole is None and words[k] in ("day", "week", "month", "quarter", "year"):
        if k == j + 1:
            return None
        current = calendar.unit(words[k], frame.now)
        whole = (current, k + 1) if current else None
    if whole is None:
        return None
    reading, stop = whole
    day_part = part_of_day(scan, stop)
    if reading.grain == "day" and day_part is not None and day_part[0] != "first_half":
        hours_of = part(day_part[0])
        within_day = each(reading, hours_of.on, "part_of_day")
        if within_day is not None:
            whole = within_day, day_part[2]

    def cut(span: Span) -> Span | None:
        found = share(span, which)
        border = frame.now if span.grain == "day" else frame.today
        if found and word == "later" and found.begins < border < found.ends:
            return replace(found, start=border)
        today = span.grain == "day" and span.begins < frame.now < span.ends
        return replace(found, end=frame.now) if found and word == "earlier" and today else found

    return given(each(whole[0], cut), whole[1])
