"""A claim: a topic, its values and whether it is denied. Words of both languages are general knowledge.

The readers prefer silence: a sentence that asks, supposes, wishes, quotes, tells of another person by a pronoun, of the
past or of this moment, or announces a change makes no claim.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Literal

from events.language import timex


@dataclass(frozen=True, slots=True)
class Claim:
    """``values`` are kinds with their values, at most one of each kind. ``topic`` are the terms of everything else.

    A ``loose`` claim is about something of which there may be several at different times, such as appointments.
    """

    language: Literal["english", "chinese"]
    topic: frozenset[str]
    values: frozenset[tuple[str, str]]
    denied: bool
    loose: bool = False


TIMES = frozenset(("clock", "weekday", "date", "month"))
_UNITS = {
    "m": ("length", 1.0, "m metre metres meter meters 米 公尺"),
    "km": ("length", 1000.0, "km kilometre kilometres kilometer kilometers 公里 千米"),
    "cm": ("length", 0.01, "cm centimetre centimetres centimeter centimeters 公分 厘米"),
    "mm": ("length", 0.001, "mm millimetres millimeters 毫米 公厘"),
    "mile": ("length", 1609.0, "mile miles 英里"),
    "m2": ("area", 1.0, "平方公尺 平方米 平米 sqm m2"),
    "ping": ("area", 3.3, "坪"),
    "mg": ("mass", 0.001, "mg milligram milligrams 毫克"),
    "g": ("mass", 1.0, "g gram grams 克 公克"),
    "kg": ("mass", 1000.0, "kg kilo kilos kilogram kilograms 公斤 千克"),
    "lb": ("mass", 453.6, "lb lbs pounds"),
    "ml": ("volume", 1.0, "ml millilitres milliliters 毫升"),
    "l": ("volume", 1000.0, "l litre litres liter liters 升 公升"),
    "minute": ("duration", 1.0, "minute minutes min mins 分钟"),
    "hour": ("duration", 60.0, "hour hours hrs 小时 个小时 钟头"),
    "day": ("duration", 1440.0, "day days 天"),
    "week": ("duration", 10080.0, "week weeks 周 星期 个星期 礼拜"),
    "month": ("duration", 43200.0, "month months 个月"),
    "year": ("duration", 525600.0, "year years 年"),
    "old": ("age", 1.0, "岁"),
    "degree": ("heat", 1.0, "degree degrees 度"),
    "percent": ("share", 1.0, "% percent per cent 趴"),
    "dollar": ("dollars", 1.0, "dollar dollars usd bucks 美元 美金"),
    "euro": ("euros", 1.0, "euro euros eur 欧元"),
    "yuan": ("yuan", 1.0, "元 块 块钱 台币"),
    "yen": ("yen", 1.0, "yen 日元 日圆 日币"),
}
UNITS = {name: (kind, factor) for kind, factor, names in _UNITS.values() for name in names.split()}
Told = tuple[int, int, str, str]
"""A value in a text: its begin and its end, its kind, and the value."""


def amount(number: float, unit: str | None) -> tuple[str, str]:
    """Returns the kind and the value of a number with its unit, the same for the same quantity in another unit."""
    kind, factor = UNITS.get(unit or "", ("number", 1.0))
    return kind, f"{number * factor:.6g}"


def clocks(text: str) -> Iterator[Told]:
    """Yields the times of day on a clock of twelve hours, because many people leave out the half."""
    for time in timex.clock_times(text):
        yield time.begin, time.stop, "clock", f"{time.hour % 12}:{time.minute:02d}"


def dates(text: str) -> Iterator[Told]:
    for date in timex.calendar_dates(text):
        kind, value = ("month", f"{date.month}") if date.day is None else ("date", f"{date.month}-{date.day}")
        yield date.begin, date.stop, kind, value


def matches(pattern: re.Pattern[str], kind: str) -> Callable[[str], Iterator[Told]]:
    """Returns the reader of the values that ``pattern`` matches as its group "v"."""
    return lambda text: ((*found.span(), kind, found["v"].casefold()) for found in pattern.finditer(text))


def read_values(
    text: str, readers: Iterable[Callable[[str], Iterator[Told]]], gap: str
) -> tuple[dict[str, str], str]:
    """Returns the values in a text by their kind, and the text with a gap for each of them.

    A text with two values of one kind has none, because nobody can tell which of them is meant.
    """
    found: dict[str, str] = {}
    for read in readers:
        rest, reached = [], 0
        for begin, stop, kind, value in read(text):
            if kind in found:
                return {}, f"{text} {kind}"
            found[kind] = value
            rest.append(text[reached:begin])
            reached = stop
        text = gap.join((*rest, text[reached:]))
    return found, text.strip()


def contradict(one: Claim, other: Claim) -> bool:
    """True when two claims of one person cannot both be true: one topic, and one value differs or one is denied."""
    if one.language != other.language or one.topic != other.topic or not one.topic:
        return False
    if one.values == other.values:
        return one.denied != other.denied
    if one.denied or other.denied:
        return False
    mine, theirs = dict(one.values), dict(other.values)
    if mine.keys() != theirs.keys():
        return False
    differ = [kind for kind in mine if mine[kind] != theirs[kind]]
    return len(differ) == 1 and not (
        (one.loose or other.loose) and differ[0] in TIMES | {"name", "place", "code"}
    )
