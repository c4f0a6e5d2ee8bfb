"""Expressions that name no year, month or week of their own, and how two readings make a range.

A `Cycle` answers "which one?" only when asked with a direction: "May 8", "Friday", "Christmas". A
reading is a `Span` or a `Cycle`; every rule of the grammar returns one of the two.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from .calendar import WITHIN_DAY, Frame, Grain, Span, Tense, days_in_month, wall

Every = Literal["week", "month", "year"]
# How many turns of the cycle to look through: 29 February needs eight years (nine about 1900), a weekday
# with a day of the month ("Sunday 31st") up to three years of months.
_REACH: dict[Every, int] = {"week": 2, "month": 40, "year": 10}


@dataclass(frozen=True, slots=True)
class Cycle:
    """One span for each turn of the week, month or year; None in a turn that has no such day."""

    every: Every
    at: Callable[[int], Span | None]
    grain: Grain
    sure: float = 0.9
    weekday: int | None = None
    """The weekday said with it, which may tell the turns apart."""
    bare: bool = False
    """Only a number, which nothing but the other side of a range makes a date."""

    def turn(self, moment: datetime) -> int:
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


Reading = Span | Cycle


def each(
    reading: Reading, change: Callable[[Span], Span | None], grain: Grain | None = None
) -> Reading | None:
    """The reading with every span of it changed; None where the change has none."""
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
    """The one span meant: the latest that has begun or, looking ahead, the first that has not ended.

    A weekday looked back to is never today. Which way was meant is a guess unless the sentence says so,
    and the span's certainty says how good a guess.
    """
    if isinstance(reading, Span):
        return reading
    ahead = next((span for span in reading.ahead(frame.now) if span.end and span.end > frame.today), None)
    latest = frame.today if reading.every == "week" else frame.now.replace(hour=23, minute=59)
    back = next((span for span in reading.back(frame.now) if span.start and span.start < latest), None)
    found = ahead if tense > 0 else back
    if reading.weekday is not None:
        fits = [s for s in (ahead, back) if s and s.start and s.start.weekday() == reading.weekday]
        if len(fits) == 1:
            return replace(fits[0], sure=min(fits[0].sure, reading.sure))
    if found is None:
        return None
    guess = 0.9 if tense else 0.75
    return replace(found, sure=min(found.sure, reading.sure) * guess, ambiguous=True)


def following(reading: Reading, moment: datetime) -> Span | None:
    """The first span of the reading that closes after `moment`."""
    if isinstance(reading, Span):
        return reading
    return next((span for span in reading.ahead(moment) if _start(span) > moment), None)


def preceding(reading: Reading, moment: datetime) -> Span | None:
    """The last span of the reading that begins before `moment`."""
    if isinstance(reading, Span):
        return reading
    return next((span for span in reading.back(moment) if _start(span) < moment), None)


def join(first: Reading, last: Reading, frame: Frame, tense: Tense) -> Span | None:
    """From one reading to another; None when that is no range.

    The range ends where the last one begins, and runs `through` it; what names no year takes the year
    that puts it nearest to the other side.
    """
    both = isinstance(first, Cycle) and isinstance(last, Cycle)
    if isinstance(first, Cycle) and isinstance(last, Span) and last.opening is not None:
        opened = preceding(first, last.opening)
    elif isinstance(first, Cycle) and isinstance(last, Cycle) and tense > 0:
        opened = _first_open(first, last, frame)
    else:
        opened = settle(first, frame, tense)
    if opened is None or opened.opening is None:
        return None
    closed = following(last, opened.opening) if isinstance(last, Cycle) else last
    if closed is None or closed.opening is None or closed.opening <= opened.opening:
        return None
    if closed.grain == "second" and opened.grain not in WITHIN_DAY:  # up to now
        closed = replace(closed, grain=opened.grain)
    grain: Grain = (
        closed.grain if closed.grain in WITHIN_DAY or opened.grain not in WITHIN_DAY else opened.grain
    )
    return Span(
        opened.opening,
        closed.opening,
        grain,
        through=closed.edge or closed.end,
        sure=min(opened.sure, closed.sure),
        ambiguous=opened.ambiguous or (both and closed.ambiguous),
    )


def _first_open(first: Cycle, last: Cycle, frame: Frame) -> Span | None:
    """The first turn of a range that has not closed yet: in September, "August to October" is this year's."""
    for opened in first.ahead(frame.now):
        closed = following(last, _start(opened))
        if closed is not None and _start(closed) > frame.today:
            return replace(opened, sure=min(opened.sure, first.sure) * 0.9, ambiguous=True)
    return None


def before(span: Span, *, included: bool = False) -> Span:
    """Everything until the span; `included` lets it run through the span too."""
    through = (span.edge or span.end) if included else None
    return replace(span, start=None, end=span.opening, instant=False, edge=None, through=through)


def since(span: Span) -> Span:
    return replace(span, start=span.opening, end=None, instant=False, edge=None, through=None)


def after(span: Span) -> Span:
    """From the end of a period on. After a day is from that day: the rest of it may be meant."""
    start = span.edge or (span.start if span.grain in WITHIN_DAY or span.grain == "day" else span.end)
    return replace(span, start=start, end=None, instant=False, edge=None, through=None)


def monthly(dom: int, weekday: int | None = None, *, sure: float = 0.85, bare: bool = False) -> Cycle:
    """A day of the month, on a weekday when one is given."""

    def at(turn: int) -> Span | None:
        year, month = divmod(turn, 12)
        if not 1 <= year <= 9000 or dom > days_in_month(year, month + 1):
            return None
        start = wall(year, month + 1, dom)
        if weekday is not None and start.weekday() != weekday:
            return None
        return Span(start, datetime.fromordinal(start.toordinal() + 1), "day", instant=True)

    return Cycle("month", at, "day", sure, bare=bare)


def weekly(weekday: int) -> Cycle:
    """A weekday; turn 0 is the week of 1 January of the year 1, a Monday."""

    def at(turn: int) -> Span | None:
        ordinal = turn * 7 + weekday + 1
        if not 1 <= ordinal < 3_652_000:
            return None
        return Span(datetime.fromordinal(ordinal), datetime.fromordinal(ordinal + 1), "day", instant=True)

    return Cycle("week", at, "day")


def yearly(at: Callable[[int], Span | None], grain: Grain, sure: float = 0.9) -> Cycle:
    return Cycle("year", at, grain, sure)
