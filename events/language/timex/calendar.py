"""Calendar arithmetic on local wall time: spans, calendar units, and the reference.

Spans are naive datetimes in the zone of the reference. They become aware only in the result of the package. A day thus
stays a day across a daylight-saving change. Only lengths of hours and less are added in absolute time (`Frame.later`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Literal

Grain = Literal[
    "second", "minute", "hour", "part_of_day", "day", "weekend", "week", "month", "quarter", "season", "half_year",
    "year", "decade", "century",
]  # fmt: skip
Tense = Literal[-1, 0, 1]
"""The direction of a sentence in time: past (-1), not stated (0), future (1)."""

FINE: frozenset[Grain] = frozenset({"second", "minute", "hour"})
WITHIN_DAY: frozenset[Grain] = FINE | {"part_of_day"}
MONTHS_IN: dict[str, int] = {
    "month": 1,
    "quarter": 3,
    "half_year": 6,
    "year": 12,
    "decade": 120,
    "century": 1200,
}
SECONDS_IN: dict[str, int] = {"second": 1, "minute": 60, "hour": 3600}
SEASONS: dict[str, tuple[int, int]] = {
    "spring": (3, 3),
    "summer": (6, 3),
    "autumn": (9, 3),
    "winter": (12, 3),
    "summer_break": (7, 2),
    "winter_break": (1, 2),
}
"""First month and number of months of each season, in the north. A winter belongs to the year of its December."""


_ONE_DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class Span:
    """A range of local time: `start` is inclusive, `end` exclusive. None is an open side.

    `edge` is the point at which a range begins or ends here, when this point is not `start` ("the end of June").
    `through` is the inclusive end, when the words exclude it from `end` ("to May 3", "the last five days"). `sure` is
    the confidence, 0 to 1. `other` is the start of the other reading of an ambiguous span. A `vague` span comes from
    words without an exact amount ("a few years ago").
    """

    start: datetime | None
    end: datetime | None
    grain: Grain
    instant: bool = False
    edge: datetime | None = None
    through: datetime | None = None
    sure: float = 0.95
    ambiguous: bool = False
    other: datetime | None = None
    vague: bool = False

    @property
    def begins(self) -> datetime:
        """The start. An open side raises ValueError, so the rule that needs it parses nothing."""
        if self.start is None:
            raise ValueError("the span has no start")
        return self.start

    @property
    def ends(self) -> datetime:
        """The end. An open side raises ValueError, as for :attr:`begins`."""
        if self.end is None:
            raise ValueError("the span has no end")
        return self.end

    @property
    def opening(self) -> datetime | None:
        """The point at which a range begins or ends here: `edge`, else `start`."""
        return self.edge or self.start

    def doubted(self, factor: float) -> Span:
        """Returns the span as ambiguous, with its confidence times `factor`."""
        return replace(self, sure=self.sure * factor, ambiguous=True)

    def or_else(self, other: Span | None, factor: float) -> Span:
        """Returns the span as ambiguous, with `other` as its other reading, unless both are the same."""
        if other is None or other.start == self.start:
            return self
        return replace(self, sure=self.sure * factor, ambiguous=True, other=other.start)


@dataclass(frozen=True, slots=True)
class Frame:
    """The reference of relative expressions: the local wall time now, and its zone."""

    now: datetime
    zone: tzinfo

    @classmethod
    def of(cls, reference: datetime) -> Frame:
        if reference.tzinfo is None:
            raise ValueError("the reference has no timezone: use an aware datetime")
        return cls(reference.replace(tzinfo=None), reference.tzinfo)

    @property
    def today(self) -> datetime:
        return midnight(self.now)

    def aware(self, wall: datetime) -> datetime:
        """Returns the instant of the wall time `wall`. A wall time that the clocks skip moves forward by the skip."""
        return wall.replace(tzinfo=self.zone).astimezone(UTC).astimezone(self.zone)

    def later(self, wall: datetime, length: timedelta) -> datetime:
        """Returns `wall` plus a length of absolute time, as wall time with its fold."""
        moved = (wall.replace(tzinfo=self.zone).astimezone(UTC) + length).astimezone(self.zone)
        return moved.replace(tzinfo=None)


def wall(year: int, month: int, dom: int) -> datetime:
    """Returns midnight of a date as wall time. Raises ValueError for a date that does not exist."""
    return datetime(year, month, dom)  # noqa: DTZ001


def midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)


def add_days(moment: datetime, count: int) -> datetime:
    return moment + timedelta(days=count)


def add_months(moment: datetime, count: int) -> datetime:
    """Returns the same day `count` months later. In a shorter month it returns the last day."""
    index = moment.year * 12 + moment.month - 1 + count
    year, month = divmod(index, 12)
    return moment.replace(year=year, month=month + 1, day=min(moment.day, days_in_month(year, month + 1)))


def full_year(short: int) -> int:
    """Returns the full year of two digits: 00 to 39 are 20xx, 40 to 99 are 19xx."""
    return short + (2000 if short < 40 else 1900)


def days_in_month(year: int, month: int) -> int:
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def day(moment: datetime) -> Span:
    return whole_day(midnight(moment))


def whole_day(start: datetime) -> Span:
    """Returns the day that begins at `start`, a midnight. Cycles try many days, so the time of day is not cleared."""
    return Span(start, start + _ONE_DAY, "day", instant=True)


def date(year: int, month: int, dom: int) -> Span | None:
    """Returns the day; None for a date that does not exist."""
    fits = 1 <= year <= 9998 and 1 <= month <= 12 and 1 <= dom <= days_in_month(year, month)
    return whole_day(wall(year, month, dom)) if fits else None


def week_start(moment: datetime) -> datetime:
    return add_days(midnight(moment), -moment.weekday())


def day_before(span: Span) -> Span:
    """Returns the day before the start of a span."""
    return day(add_days(span.begins, -1))


def in_week(span: Span, number: int) -> Span:
    """Returns the day with the weekday `number` (0 is Monday) in the week in which a span starts."""
    return day(add_days(week_start(span.begins), number))


def week_of(span: Span) -> Span | None:
    """Returns the week in which a span starts."""
    return unit("week", span.begins)


def days(start: datetime, count: int, grain: Grain = "day") -> Span:
    return Span(start, add_days(start, count), grain)


def months(year: int, month: int, count: int, grain: Grain) -> Span | None:
    if not 1 <= year <= 9000:
        return None
    start = wall(year, month, 1)
    return Span(start, add_months(start, count), grain)


def month(year: int, number: int) -> Span | None:
    return months(year, number, 1, "month") if 1 <= number <= 12 else None


def quarter(year: int, number: int) -> Span | None:
    return months(year, number * 3 - 2, 3, "quarter") if 1 <= number <= 4 else None


def half(year: int, number: int) -> Span | None:
    return months(year, number * 6 - 5, 6, "half_year") if 1 <= number <= 2 else None


def year(number: int) -> Span | None:
    return months(number, 1, 12, "year")


def decade(first_year: int) -> Span | None:
    return months(first_year, 1, 120, "decade")


def century(first_year: int) -> Span | None:
    return months(first_year, 1, 1200, "century")


def season(number_of_year: int, name: str) -> Span | None:
    return months(number_of_year, *SEASONS[name], "season")


def iso_week(number_of_year: int, number: int) -> Span | None:
    """Returns week `number` of a year after ISO 8601. Week 1 contains the first Thursday of the year."""
    if not (1 <= number <= 53 and 1 <= number_of_year <= 9000):
        return None
    first = week_start(wall(number_of_year, 1, 4))
    return days(add_days(first, 7 * number - 7), 7, "week")


def unit(kind: str, moment: datetime, shift: int = 0) -> Span | None:
    """Returns the calendar unit that is `shift` units after the unit of `moment`. None for an unknown `kind`."""
    start = midnight(moment)
    if kind == "day":
        return day(add_days(start, shift))
    if kind in _WEEKS:
        step, first, length, grain = _WEEKS[kind]
        return days(add_days(week_start(start), step * shift + first), length, grain)
    if kind in ("month", "quarter", "half_year"):
        step = MONTHS_IN[kind]
        begin = start.replace(month=start.month - (start.month - 1) % step, day=1)
        begin = add_months(begin, step * shift)
        return Span(begin, add_months(begin, step), kind)  # type: ignore[arg-type]
    if kind == "year":
        return year(start.year + shift)
    if kind == "decade":
        return decade(start.year - start.year % 10 + 10 * shift)
    return century(start.year - start.year % 100 + 100 * shift) if kind == "century" else None


# Units within weeks: the days from one to the next, its first day after Monday, its days, and its grain.
_WEEKS: dict[str, tuple[int, int, int, Grain]] = {
    "week": (7, 0, 7, "week"), "working_week": (7, 0, 5, "week"), "fortnight": (14, 0, 14, "week"),
    "weekend": (7, 5, 2, "weekend"),
}  # fmt: skip


def units(kind: str, moment: datetime, count: int, sign: int) -> Span | None:
    """Returns the `count` whole calendar units before or after the unit of `moment`."""
    first, last = unit(kind, moment, 1 if sign > 0 else -count), unit(kind, moment, count if sign > 0 else -1)
    return replace(first, end=last.end) if first and last else None


def add_working_days(moment: datetime, count: int) -> datetime:
    """Returns `moment` plus `count` working days (Monday to Friday). A negative count goes back."""
    step = 1 if count > 0 else -1
    whole, rest = divmod(abs(count), 5)
    moment = add_days(moment, 7 * whole * step)
    while rest:
        moment = add_days(moment, step)
        rest -= moment.weekday() < 5
    return moment
