"""Times of day: clock times, parts of the day, their ranges, and their combination with a date."""

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from .calendar import Grain, Span, midnight

Half = Literal["am", "pm", "night"]

HOUR = 3600
DAY = 24 * HOUR
# For each part of the day: first hour, last hour, and the half of the clock for a bare hour beside it.
PARTS: dict[str, tuple[int, int, Half | None]] = {
    "dawn": (4, 8, "am"), "morning": (8, 12, "am"), "breakfast": (8, 12, "am"), "noon": (11, 13, "pm"),
    "lunch": (11, 13, "pm"), "afternoon": (12, 16, "pm"), "evening": (16, 20, "pm"), "dinner": (16, 20, "pm"),
    "night": (20, 24, "night"), "late": (18, 24, "night"), "small_hours": (0, 4, "am"), "daytime": (8, 18, None),
    "first_half": (0, 12, None), "second_half": (12, 24, None),
}  # fmt: skip
_EVENING, _DAWN = 18, 5 * HOUR
# The last hour that is more likely in the afternoon than in the morning when it stands without "am" and "pm".
_LAST_WAKING = 6
_LENGTH: dict[str, int] = {"second": 1, "minute": 60, "hour": HOUR}


@dataclass(frozen=True, slots=True)
class Clock:
    """A clock time. `half` is None when the words say neither morning nor afternoon."""

    hour: int
    minute: int = 0
    second: int = 0
    grain: Grain = "hour"
    half: Half | None = None
    padded: bool = False
    """Written with a leading zero, as in "07:24". Such a time is never in the evening."""

    @property
    def open(self) -> bool:
        """True when the time may be in either half of the day."""
        return self.half is None and 1 <= self.hour <= 12

    def seconds(self, half: Half | None = None) -> int:
        """Returns the seconds since midnight. Without a half the hour counts as written."""
        half = self.half or half
        hour = self.hour
        if hour <= 12:
            if half == "pm":
                hour = hour % 12 + 12
            elif half == "am":
                hour %= 12
            elif half == "night":
                hour = hour + 12 if hour >= 5 else hour
        return hour * HOUR + self.minute * 60 + self.second


@dataclass(frozen=True, slots=True)
class Hours:
    """A time of day without a date, in seconds since midnight. None is an open side.

    `loose` is True when the words are a time only beside a date ("Monday 11-4").
    """

    begin: int | None
    end: int | None
    grain: Grain
    instant: bool = False
    loose: bool = False
    ambiguous: bool = False
    half: Half | None = None
    name: str = ""

    def on(self, day: Span) -> Span:
        """Returns the span of these hours on a day. An open side ends with the day."""
        base = midnight(day.begins)
        begin = _since(base, day.begins) if self.begin is None else self.begin
        end = self.end
        if end is None:
            end = _since(base, day.end) if day.end and day.grain == "part_of_day" else DAY
        if end <= begin:
            end += DAY
        return replace(
            day,
            start=base + timedelta(seconds=begin),
            end=base + timedelta(seconds=end),
            grain=self.grain,
            instant=self.instant,
            edge=None,
            through=None,
            other=midnight(day.other) + timedelta(seconds=begin) if day.other else None,
            ambiguous=day.ambiguous or self.ambiguous,
            sure=day.sure * (0.85 if self.ambiguous else 1.0),
        )


def _since(base: datetime, moment: datetime) -> int:
    return int((moment - base).total_seconds())


def point(clock: Clock, half: Half | None = None, *, loose: bool = False) -> Hours:
    begin = clock.seconds(half)
    ambiguous = clock.open and half is None and not clock.padded
    end = begin + _LENGTH[clock.grain]
    return Hours(begin, end, clock.grain, instant=True, loose=loose, ambiguous=ambiguous)


def waking(clock: Clock, *, loose: bool = False) -> Hours:
    """Returns a bare hour at a time when most people are awake: "at 3" is in the afternoon, but ambiguous."""
    if clock.open and not clock.padded and clock.hour <= _LAST_WAKING:
        return replace(point(clock, "pm", loose=loose), ambiguous=True)
    return point(clock, loose=loose)


def waking_between(first: Clock, last: Clock, *, loose: bool = False) -> Hours:
    """Returns the range between two bare hours at a time when most people are awake."""
    if first.open and last.open and first.hour <= _LAST_WAKING:
        return replace(between(first, last, "pm", loose=loose), ambiguous=True)
    return between(first, last, loose=loose)


def part(name: str, share: Literal["", "early", "late"] = "") -> Hours:
    first, last, half = PARTS[name]
    begin, end = first * HOUR, last * HOUR
    if share:
        middle = (begin + end) // 2
        begin, end = (begin, middle) if share == "early" else (middle, end)
    return Hours(begin, end, "part_of_day", half=half, name=name)


def between(first: Clock, last: Clock, half: Half | None = None, *, loose: bool = False) -> Hours:
    """Returns the range between two clock times. A time without a half takes the half of the other."""
    first_half = first.half or (half if first.open else None)
    last_half = last.half or (half if last.open else None)
    ambiguous = False
    if first_half is None and last_half is None:
        begin, end = first.seconds(), last.seconds()
        ambiguous = first.open and last.open
        if end <= begin < end + 12 * HOUR and last.open and not last.padded:
            end += 12 * HOUR
    elif first_half is None:
        end = last.seconds(last_half)
        begin = first.seconds(last_half) if first.open else first.seconds()
        if begin >= end and first.open:
            begin = first.seconds("am" if last_half != "am" else "pm")
    else:
        begin = first.seconds(first_half)
        end = last.seconds(last_half or first_half) if last.open or last_half else last.seconds()
        if end <= begin and last.open and last.half is None:
            end = last.seconds("pm" if first_half == "am" else "am")
    if end <= begin:
        end += DAY
    grain: Grain = "minute" if "minute" in (first.grain, last.grain) else "hour"
    return Hours(begin, end, grain, loose=loose, ambiguous=ambiguous)


def at(night: Span, clock: Hours, now: datetime) -> Span:
    """Returns the span of a clock time on a day or night. "last night at 2" is after midnight, so on the day after.

    Somebody who says "tonight at 2" after midnight means this night.
    """
    if clock.begin is None or clock.end is None:
        return clock.on(night)
    if night.grain != "part_of_day" or clock.grain == "part_of_day":
        return clock.on(night)
    start = night.begins
    this_night = start.date() == now.date() and now.hour * HOUR < _DAWN
    if clock.begin >= _DAWN or start.hour < _EVENING or this_night:
        return clock.on(night)
    return replace(clock, begin=clock.begin + DAY, end=clock.end + DAY).on(night)


def until(clock: Hours) -> Hours:
    return replace(clock, begin=None, end=clock.begin, instant=False)


def since(clock: Hours, *, whole: bool = False) -> Hours:
    """Returns the open range from a time on. With `whole` the range begins at the end of the time ("after lunch")."""
    return replace(clock, begin=clock.end if whole else clock.begin, end=None, instant=False)


def half_of(span: Span) -> Half | None:
    """Returns the half of the clock of a bare hour beside the part of the day `span`."""
    if span.grain != "part_of_day":
        return None
    hour = span.begins.hour
    return "am" if hour < 11 else "night" if hour >= _EVENING else "pm"
