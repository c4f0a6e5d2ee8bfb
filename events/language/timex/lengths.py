"""Lengths of time, and their addition to a moment."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from .calendar import SECONDS_IN, Frame, Grain, Span, add_days, add_months, add_working_days, day, midnight

_MONTHS_OF = {"month": 1, "quarter": 3, "year": 12, "decade": 120, "century": 1200}
_DAYS_OF = {"day": 1, "week": 7, "working_week": 7, "weekend": 7, "fortnight": 14}
_GRAINS: dict[str, Grain] = {
    "second": "second", "minute": "minute", "hour": "hour", "working_day": "day", "day": "day", "week": "week",
    "working_week": "week", "weekend": "week", "fortnight": "week", "month": "month", "quarter": "quarter",
    "year": "year", "decade": "decade", "century": "century",
}  # fmt: skip
_ORDER = list(_GRAINS)
# The grain of an uncertain number of units: of a few, and of ten to twenty or some tens.
_FEW: dict[Grain, Grain] = {"day": "week", "week": "month"}
_TENS: dict[Grain, Grain] = {
    "day": "week", "week": "month", "month": "year", "year": "decade", "decade": "century",
}  # fmt: skip
_FINER = {"minute": "second", "hour": "minute", "day": "hour", "week": "day", "month": "day", "year": "month"}


@dataclass(frozen=True, slots=True)
class Length:
    """Amounts of units. The addition starts with the longest unit.

    `spread` is above 0 when the words give no exact amount: 1 for "a few" units, 10 for ten to twenty units or for some
    tens, 100 for some hundreds. `least` is the smaller amount of the last part, when the words give two: 2 for "two or
    three weeks", whose part has the amount 3.
    """

    parts: tuple[tuple[float, str], ...]
    spread: int = 0
    least: float | None = None

    @property
    def grain(self) -> Grain:
        """The precision of the words: the finest unit, or the unit below it when its amount is a fraction.

        An uncertain amount has a coarser grain: "a few days ago" is right within a week.
        """
        amount, unit = min(self.parts, key=lambda part: _ORDER.index(part[1]))
        exact = _GRAINS[unit if amount == int(amount) else _FINER.get(unit, unit)]
        if not self.spread:
            return exact
        if self.spread >= 100 and exact == "year":
            return "century"
        return (_FEW if self.spread < 10 else _TENS).get(exact, exact)

    @property
    def fine(self) -> bool:
        """True for hours and less. Such a length counts absolute time, not calendar days."""
        return any(unit in SECONDS_IN for _, unit in self.parts)

    @property
    def seconds(self) -> int:
        """The hours, minutes and seconds of the length, in seconds."""
        return int(sum(amount * SECONDS_IN.get(unit, 0) for amount, unit in self.parts))

    def __add__(self, other: Length) -> Length:
        return Length(self.parts + other.parts, max(self.spread, other.spread), other.least)

    @property
    def _range(self) -> Length:
        """The uncertain part of the length."""
        unit = min(self.parts, key=lambda part: _ORDER.index(part[1]))[1]
        return Length(((self.spread, unit),))

    def from_(self, moment: datetime, frame: Frame, sign: int = 1) -> datetime:
        """Returns the wall time this long after `moment`, or before it when `sign` is -1.

        Raises OverflowError or ValueError outside the years of `datetime`.
        """
        for amount, unit in sorted(self.parts, key=lambda part: -_ORDER.index(part[1])):
            if unit in SECONDS_IN:
                moment = frame.later(moment, timedelta(seconds=sign * amount * SECONDS_IN[unit]))
            elif unit == "working_day":
                moment = add_working_days(moment, sign * int(amount))
            elif unit in _MONTHS_OF:
                count = amount * _MONTHS_OF[unit]
                moment = add_months(moment, sign * int(count))
                moment = add_days(moment, sign * round(30 * (count - int(count))))
            elif amount == int(amount):
                moment = add_days(moment, sign * int(amount) * _DAYS_OF[unit])
            else:
                moment += timedelta(days=sign * amount * _DAYS_OF[unit])
        return moment

    def now(self, frame: Frame) -> Span:
        """Returns the present as a base of this length: the instant for a fine length, else the day."""
        return Span(frame.now, frame.now, "second") if self.fine else day(frame.today)

    def shifted(self, base: Span, frame: Frame, sign: int) -> Span | None:
        """Returns the instant or the day this long after a span, or before it when `sign` is -1.

        A fine length gives an instant, another length a day. None for a span with an open start.
        """
        if base.opening is None:
            return None
        if self.least is not None:
            return self._between(base, frame, sign)
        start = self.from_(base.opening, frame, sign)
        grain = self.grain
        sure = base.sure * (0.8 if grain in ("month", "quarter", "year", "decade", "century") else 0.9)
        if self.fine:
            return Span(start, start + timedelta(seconds=SECONDS_IN[grain]), grain, instant=True, sure=sure,
                        ambiguous=base.ambiguous)  # fmt: skip
        start = midnight(start)
        if not self.spread:
            return Span(start, add_days(start, 1), grain, instant=True, sure=sure, ambiguous=base.ambiguous)
        # "A few" is from the amount down. "Ten or more" is from the amount up, whichever way the length goes.
        end = self._range.from_(start, frame)
        if self.spread >= 10 and sign < 0:
            start, end = self._range.from_(start, frame, -1), start
        return Span(start, end, grain, sure=sure * 0.7, ambiguous=True, vague=True)

    def _between(self, base: Span, frame: Frame, sign: int) -> Span | None:
        *others, (_, unit) = self.parts
        ends = (
            Length((*others, (self.least or 0, unit))).shifted(base, frame, sign),
            Length(self.parts).shifted(base, frame, sign),
        )
        first, last = ends if sign > 0 else ends[::-1]
        if first is None or last is None:
            return None
        return replace(first, end=last.end, instant=False, sure=first.sure * 0.9, vague=True)

    def lasting(self, frame: Frame) -> Span:
        """Returns the open range that began this long ago and goes on: "for two years now"."""
        now = frame.now if self.fine else frame.today
        start = self.from_(now, frame, -1)
        sure = 0.5 if self.spread else 0.85
        vague = bool(self.spread) or self.least is not None
        return Span(start, None, self.grain, sure=sure, ambiguous=bool(self.spread), vague=vague)

    def rolling(self, frame: Frame, sign: int) -> Span:
        """Returns the range of this length that ends now, or that begins after today when `sign` is 1.

        A range of days in the past ends where today begins, and its `through` is now.
        """
        if self.least is not None:
            return replace(Length(self.parts).rolling(frame, sign), vague=True)
        if self.spread:
            exact = replace(self, spread=0).rolling(frame, sign)
            return replace(exact, grain=self.grain, sure=exact.sure * 0.7, ambiguous=True, vague=True)
        if self.fine:
            there = self.from_(frame.now, frame, sign)
            return Span(min(there, frame.now), max(there, frame.now), self.grain)
        today = frame.today
        if sign < 0:
            return Span(midnight(self.from_(today, frame, -1)), today, self.grain, through=frame.now)
        first = add_days(today, 1)
        if len(self.parts) == 1 and self.parts[0][1] == "working_day":
            return Span(first, add_days(midnight(self.from_(today, frame)), 1), self.grain)
        return Span(first, midnight(self.from_(first, frame)), self.grain)
