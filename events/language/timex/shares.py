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
_HALVES: dict[Grain, int] = {"half_year": 3, "year": 6}


def share(span: Span, which: Share) -> Span | None:  # noqa: C901, PLR0912 - one branch a form of the expression
    """Returns a part of a span; None for an open span or an unsuitable grain.

    "beginning", "middle" and "end" also set `edge`, at which a range begins or ends there.
    """
    start, end = span.start, span.end
    if start is None or end is None:
        return None
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
    elif span.grain == "month":
        low, high = add_days(start, 9), add_days(start, 20)
        if first:
            low, high = start, add_days(start, 15)
        elif last:
            low, high = add_days(start, 15), end
    elif span.grain in ("week", "weekend"):
        cut = add_days(start, 3)
        low, high = (
            (start, cut) if first else (cut, end) if last else (add_days(start, 1), add_days(start, 4))
        )
    elif span.grain in _HALVES and which in ("early", "late"):
        cut = add_months(start, _HALVES[span.grain])
        low, high = (start, cut) if first else (cut, end)
    elif span.grain in _IN_MONTHS:
        one, two = _IN_MONTHS[span.grain]
        low, high = add_months(start, one), add_months(start, two)
        if first:
            low, high = start, low
        elif last:
            low, high = high, end
    else:
        return None
    edge = None
    if which == "beginning":
        edge = start
    elif which == "end":
        edge = end
    elif which == "middle":
        edge = midnight(start + (end - start) / 2)
    return replace(span, start=low, end=high, edge=edge, through=None, sure=span.sure * 0.9)


def _thursday(moment: datetime, *, back: bool = False) -> datetime:
    """Returns the first Thursday from `moment` on. With `back` it returns the last Thursday before `moment`."""
    if back:
        return add_days(moment, -((moment.weekday() - 4) % 7) - 1)
    return add_days(moment, (3 - moment.weekday()) % 7)


def nth(span: Span, kind: str, number: int, count: int = 1) -> Span | None:
    """Returns `count` units from the nth unit inside a span. A negative number counts from the end of the span.

    A week belongs to the period that contains its Thursday, as in ISO 8601. None when the span is too short.
    """
    start, end = span.start, span.end
    if start is None or end is None or number == 0 or count < 1 or count > 1000:
        return None
    if number < 0:
        number -= count - 1
    if kind == "week":
        if number > 0:
            low = add_days(calendar.week_start(_thursday(start)), 7 * (number - 1))
        else:
            low = add_days(calendar.week_start(_thursday(end, back=True)), 7 * (number + 1))
        result = Span(low, add_days(low, 7 * count), "week")
        inside = add_days(low, 3)
    elif kind in ("day", "working_day", "fortnight"):
        step = 14 if kind == "fortnight" else 1
        low = add_days(start, step * (number - 1)) if number > 0 else add_days(end, step * number)
        result = Span(low, add_days(low, step * count), "day", instant=step * count == 1)
        inside = low
    elif kind == "weekend":
        saturday = add_days(start, (5 - start.weekday()) % 7)
        if number < 0:
            saturday = add_days(end, -((end.weekday() - 6) % 7) - 1 + 7)
        low = add_days(saturday, 7 * (number - 1) if number > 0 else 7 * number)
        result = Span(low, add_days(low, 2 + 7 * (count - 1)), "weekend")
        inside = low
    elif kind in calendar.MONTHS_IN:
        step = calendar.MONTHS_IN[kind]
        low = add_months(start, step * (number - 1)) if number > 0 else add_months(end, step * number)
        grain: Grain = kind  # type: ignore[assignment]
        result = Span(low, add_months(low, step * count), grain)
        inside = low
    else:
        return None
    if not start <= inside < end:
        return None
    return replace(result, sure=span.sure, ambiguous=span.ambiguous)


def nth_weekday(span: Span, weekday: int, number: int) -> Span | None:
    """Returns the nth `weekday` inside a span. A negative number counts from the end. None when there is none."""
    start, end = span.start, span.end
    if start is None or end is None or number == 0:
        return None
    if number > 0:
        low = add_days(start, (weekday - start.weekday()) % 7 + 7 * (number - 1))
    else:
        low = add_days(end, -((end.weekday() - 1 - weekday) % 7) - 1 + 7 * (number + 1))
    if not start <= low < end:
        return None
    return replace(calendar.day(low), sure=span.sure, ambiguous=span.ambiguous)


def weekend_about(span: Span) -> Span | None:
    """Returns the weekend of a holiday: the nearest weekend, extended to an adjacent holiday."""
    start = span.start
    if start is None:
        return None
    weekday = start.weekday()
    saturday = add_days(start, 5 - weekday) if weekday > 1 else add_days(start, -2 - weekday)
    low = start if weekday in (3, 4) else saturday
    high = add_days(saturday, 3 if weekday == 0 else 2)
    return replace(span, start=low, end=high, grain="weekend", instant=False)
