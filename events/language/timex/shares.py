"""Parts of a period: its early part, its nth week, its last three days, the weekend around a day."""

from dataclasses import replace
from datetime import datetime
from typing import Literal

from . import calendar
from .calendar import Grain, Span, add_days, add_months, midnight

Share = Literal["early", "mid", "late", "beginning", "middle", "end"]
# The middle third of a period by grain: its begin and end in months from the start of the period.
_IN_MONTHS: dict[Grain, tuple[int, int]] = {
    "quarter": (1, 2), "season": (1, 2), "half_year": (2, 4), "year": (4, 8), "decade": (48, 84), "century": (400, 800),
}  # fmt: skip
# By grain, in days from the start: the begin and end of the middle, the end of the early part, the begin of the late.
_IN_DAYS: dict[Grain, tuple[int, int, int, int]] = {
    "month": (9, 20, 15, 15), "week": (1, 4, 3, 3), "weekend": (1, 4, 3, 3),
}  # fmt: skip
_HALVES: dict[Grain, int] = {"half_year": 3, "year": 6}


def share(span: Span, which: Share) -> Span | None:
    """Returns a part of a span; None for an open span or an unsuitable grain.

    "beginning", "middle" and "end" also set `edge`, at which a range begins or ends there.
    """
    start, end = span.begins, span.ends
    first = which in ("early", "beginning")
    last = which in ("late", "end")
    low: datetime
    high: datetime
    if span.grain in ("day", "part_of_day") or (end - start).days <= 1:
        middle = start + (end - start) / 2
        if which == "end":
            low, high = end - (end - start) / 86400, end
        elif which in ("mid", "middle"):
            low, high = start + (end - start) / 3, end - (end - start) / 3
        else:
            low, high = (start, middle) if first else (middle, end)
        span = replace(span, grain="second" if which == "end" else "part_of_day", instant=which == "end")
    else:
        if span.grain in _IN_DAYS:
            low, high, cut_low, cut_high = (add_days(start, count) for count in _IN_DAYS[span.grain])
        elif span.grain in _IN_MONTHS:
            low, high = cut_low, cut_high = [add_months(start, count) for count in _IN_MONTHS[span.grain]]
            if which in ("early", "late") and span.grain in _HALVES:
                cut_low = cut_high = add_months(start, _HALVES[span.grain])
        else:
            return None
        low, high = (start, cut_low) if first else (cut_high, end) if last else (low, high)
    edge = {"beginning": start, "end": end, "middle": midnight(start + (end - start) / 2)}.get(which)
    return replace(span, start=low, end=high, edge=edge, through=None, sure=span.sure * 0.9)


def nth(span: Span, kind: str, number: int, count: int = 1) -> Span | None:
    """Returns `count` units from the nth unit inside a span. A negative number counts from the end of the span.

    A week belongs to the period that contains its Thursday, as in ISO 8601. None when the span is too short.
    """
    if number == 0 or not 1 <= count <= 1000:
        return None
    if number < 0:
        number -= count - 1
    if kind in ("week", "weekend"):
        low = _nth_weekday(span, 3 if kind == "week" else 5, number)
        first = add_days(low, -3) if kind == "week" else low
        result = Span(first, add_days(first, 7 * count - (5 if kind == "weekend" else 0)), kind)  # type: ignore[arg-type]
    elif kind in ("day", "working_day", "fortnight"):
        step = 14 if kind == "fortnight" else 1
        low = add_days(span.begins, step * (number - 1)) if number > 0 else add_days(span.ends, step * number)
        result = Span(low, add_days(low, step * count), "day", instant=step * count == 1)
    elif kind in calendar.MONTHS_IN:
        step = calendar.MONTHS_IN[kind]
        border, far = (span.begins, number - 1) if number > 0 else (span.ends, number)
        low = add_months(border, step * far)
        result = Span(low, add_months(low, step * count), kind)  # type: ignore[arg-type]
    else:
        return None
    inside = span.begins <= low < span.ends
    return replace(result, sure=span.sure, ambiguous=span.ambiguous) if inside else None


def _nth_weekday(span: Span, weekday: int, number: int) -> datetime:
    if number > 0:
        return add_days(span.begins, (weekday - span.begins.weekday()) % 7 + 7 * (number - 1))
    return add_days(span.ends, (weekday - span.ends.weekday()) % 7 + 7 * number)


def nth_weekday(span: Span, weekday: int, number: int) -> Span | None:
    """Returns the nth `weekday` inside a span. A negative number counts from the end. None when there is none."""
    low = _nth_weekday(span, weekday, number)
    if number == 0 or not span.begins <= low < span.ends:
        return None
    return replace(calendar.day(low), sure=span.sure, ambiguous=span.ambiguous)


def weekend_about(span: Span) -> Span:
    """Returns the weekend of a holiday: the nearest weekend, extended to an adjacent holiday."""
    start, weekday = span.begins, span.begins.weekday()
    saturday = add_days(start, 5 - weekday) if weekday > 1 else add_days(start, -2 - weekday)
    low = start if weekday in (3, 4) else saturday
    high = add_days(saturday, 3 if weekday == 0 else 2)
    return replace(span, start=low, end=high, grain="weekend", instant=False)
