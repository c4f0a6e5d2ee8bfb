"""Expressions without a year, month or week of their own, and ranges between two readings.

A `Cycle` is such an expression: "May 8", "Friday", "Christmas". Only a direction in time selects one of its spans. A
reading is a `Span` or a `Cycle`. Every rule of the grammar returns a reading.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from .calendar import WITHIN_DAY, Frame, Grain, Span, Tense, add_days, date, days_in_month, wall, whole_day

Every = Literal["week", "month", "year"]
# The number of turns of a cycle to search. 29 February needs eight years (nine around 1900). A weekday with a day of
# the month ("Sunday 31st") needs up to three years of months.
_REACH: dict[Every, int] = {"week": 2, "month": 40, "year": 10}
# The grains of which the nearest one is meant when nothing says the direction. A bare quarter or season is a past one.
_NEAREST: tuple[Grain, ...] = (*WITHIN_DAY, "day", "month")


@dataclass(frozen=True, slots=True)
class Cycle:
    """One span for each turn, that is each week, month or year. A turn without such a day has None."""

    every: Every
    at: Callable[[int], Span | None]
    grain: Grain
    sure: float = 0.9
    weekday: int | None = None
    """The weekday beside the expression. It may decide between turns."""
    bare: bool = False
    """True for a number that is a date only because of the other side of a range."""

    def turn(self, moment: datetime) -> int:
        """Returns the number of the turn of `moment`."""
        if self.every == "week":
            return (moment.toordinal() - 1) // 7
        if self.every == "month":
            return moment.year * 12 + moment.month - 1
        return moment.year

    def back(self, moment: datetime) -> Iterator[Span]:
        first = self.turn(moment) + 1
        for turn in range(first, first - _REACH[self.every] - 2, -1):
            found = self.at(turn)
            if found is not None:
                yield found

    def ahead(self, moment: datetime) -> Iterator[Span]:
        first = self.turn(moment) - 1
        for turn in range(first, first + _REACH[self.every] + 2):
            found = self.at(turn)
            if found is not None:
                yield found

    def after(self, moment: datetime) -> Span | None:
        """Returns the first span whose `opening` is after `moment`."""
        return next((span for span in self.ahead(moment) if _start(span) > moment), None)


Reading = Span | Cycle


def each(
    reading: Reading, change: Callable[[Span], Span | None], grain: Grain | None = None
) -> Reading | None:
    """Returns the reading with `change` applied to each of its spans. None when `change` of a `Span` gives None."""
    if isinstance(reading, Span):
        return change(reading)
    at = reading.at

    def changed(turn: int) -> Span | None:
        found = at(turn)
        return change(found) if found is not None else None

    return replace(reading, at=changed, grain=grain or reading.grain)


def _start(span: Span) -> datetime:
    start = span.opening
    assert start is not None, "cycles have no open starts"
    return start


def settle(reading: Reading, frame: Frame, tense: Tense) -> Span | None:
    """Returns the span that a reading means: the latest span that has begun, or for the future the first that has not
    ended.

    A weekday in the past is never today. A weekday beside a date decides only without a tense: a weekday that does not
    fit its date is a slip of the tongue, and the date stays. Without a tense the direction is a guess, and `sure` is
    lower: a month, a day of the year or of the month, and a time on it, is then the nearest one.
    """
    if isinstance(reading, Span):
        return reading
    ahead = next((span for span in reading.ahead(frame.now) if span.end and span.end > frame.today), None)
    latest = frame.today if reading.every == "week" else frame.now.replace(hour=23, minute=59)
    back = next((span for span in reading.back(frame.now) if span.start and span.start < latest), None)
    found = ahead if tense > 0 else back
    if ahead and back and not tense and reading.every != "week" and reading.grain in _NEAREST:
        found = min(back, ahead, key=lambda span: abs(_start(span) - frame.now))
    if reading.weekday is not None and not tense:
        fits = [s for s in (ahead, back) if s and s.start and s.start.weekday() == reading.weekday]
        if len(fits) == 1:
            return replace(fits[0], sure=min(fits[0].sure, reading.sure))
    if found is None:
        return None
    guess = 0.9 if tense else 0.75
    other = next(
        (each.start for each in (ahead, back) if each and not tense and each.start != found.start), None
    )
    return replace(found, sure=min(found.sure, reading.sure) * guess, ambiguous=True, other=other)


def nearest(reading: Reading, frame: Frame) -> Span | None:
    """Returns the span of a reading that begins nearest to now, for words that are told on both sides of it."""
    begun = [span for tense in (-1, 1) if (span := settle(reading, frame, tense)) and span.start]
    return min(begun, key=lambda span: abs((span.start or frame.now) - frame.now), default=None)


def join(first: Reading, last: Reading, frame: Frame, tense: Tense) -> Span | None:
    """Returns the range from one reading to another; None when the two make no range.

    The range ends where `last` begins, and its `through` is the end of `last`. A side without a year takes the year
    nearest to the other side.
    """
    both = isinstance(first, Cycle) and isinstance(last, Cycle)
    if isinstance(first, Cycle) and isinstance(last, Span) and last.opening is not None:
        opened = next((span for span in first.back(last.opening) if _start(span) < last.opening), None)
    elif isinstance(first, Cycle) and isinstance(last, Cycle) and tense > 0:
        opened = _first_open(first, last, frame)
    else:  # a range of months is the latest that has begun
        opened = settle(first, frame, -1 if not tense and first.grain == "month" else tense)
    if opened is None or opened.opening is None:
        return None
    beginning = opened.opening
    closed = last.after(opened.start or beginning) if isinstance(last, Cycle) else last
    if closed is None or closed.opening is None or opened.start is None:
        return None
    if closed.opening <= beginning:  # from the end of March to the beginning of April
        beginning = opened.start
    if closed.opening <= beginning:
        return None
    if closed.grain == "second" and opened.grain not in WITHIN_DAY:  # up to now
        closed = replace(closed, grain=opened.grain)
    finer = opened.grain in WITHIN_DAY and closed.grain not in WITHIN_DAY
    grain = opened.grain if finer else closed.grain
    return Span(
        beginning,
        closed.opening,
        grain,
        through=closed.edge or closed.end,
        sure=min(opened.sure, closed.sure),
        ambiguous=opened.ambiguous or (both and closed.ambiguous),
    )


def onto_day(first: Span, last: Span) -> Span:
    """Returns the last time of a range, which has no date, on the first day of the range or on the next day."""
    start = first.begins
    moved = last.begins.replace(year=start.year, month=start.month, day=start.day)
    if moved <= start:
        moved = add_days(moved, 1)
        if (moved - start).seconds > 12 * 3600 and last.ambiguous:
            moved -= timedelta(hours=12)
    return replace(last, start=moved, end=moved + (last.ends - last.begins))


def _first_open(first: Cycle, last: Cycle, frame: Frame) -> Span | None:
    """Returns the start of the first range that has not ended: in September, "August to October" is this year's."""
    for opened in first.ahead(frame.now):
        closed = last.after(_start(opened))
        if closed is not None and _start(closed) > frame.today:
            return replace(opened, sure=min(opened.sure, first.sure) * 0.9, ambiguous=True)
    return None


def before(span: Span, *, included: bool = False) -> Span:
    """Returns the open range before the span. With `included` its `through` is the end of the span."""
    through = (span.edge or span.end) if included else None
    return replace(span, start=None, end=span.opening, instant=False, edge=None, through=through)


def since(span: Span) -> Span:
    """Returns the open range from the start of the span. "Since the end of 1994" begins late in 1994."""
    return replace(span, end=None, instant=False, edge=None, through=None)


def after(span: Span) -> Span:
    """Returns the open range from the end of a period. After a day it begins with that day, whose rest may count."""
    start = span.edge or (span.start if span.grain in WITHIN_DAY or span.grain == "day" else span.end)
    return replace(span, start=start, end=None, instant=False, edge=None, through=None)


def monthly(dom: int, weekday: int | None = None, *, sure: float = 0.85, bare: bool = False) -> Cycle:
    """Returns the cycle of a day of the month, only on `weekday` when it is given."""

    def at(turn: int) -> Span | None:
        year, month = divmod(turn, 12)
        if not 1 <= year <= 9000 or dom > days_in_month(year, month + 1):
            return None
        start = wall(year, month + 1, dom)
        if weekday is not None and start.weekday() != weekday:
            return None
        return whole_day(start)

    return Cycle("month", at, "day", sure, bare=bare)


def weekly(weekday: int) -> Cycle:
    """Returns the cycle of a weekday. Turn 0 is the week of 1 January of the year 1, a Monday."""

    def at(turn: int) -> Span | None:
        ordinal = turn * 7 + weekday + 1
        return whole_day(datetime.fromordinal(ordinal)) if 1 <= ordinal < 3_652_000 else None

    return Cycle("week", at, "day")


def dated_yearly(month: int, dom: int, sure: float = 0.9) -> Cycle | None:
    """Returns the cycle of a day and a month; None for a day that no year has."""
    return yearly(lambda year: date(year, month, dom), "day", sure) if date(2000, month, dom) else None


def yearly(at: Callable[[int], Span | None], grain: Grain, sure: float = 0.9) -> Cycle:
    return Cycle("year", at, grain, sure)
