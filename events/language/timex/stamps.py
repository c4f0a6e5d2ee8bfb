"""ISO 8601 timestamps in a text of any language. A timestamp with an offset is an absolute instant."""

import re
from collections.abc import Iterator
from datetime import datetime, timedelta

from .calendar import Frame, Grain, Span, date
from .clock import Clock, point
from .cycles import each, settle, yearly
from .scan import Mention

_STAMP = re.compile(
    r"(?<![\d-])\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?P<second>:\d\d(?:[.,]\d{1,9})?)?\s?(?P<zone>Z|[+-]\d\d:?\d\d)?(?![\d:])"
)


# The stamp of a log line: month, day and time of day, each with two digits. The year is the latest that fits.
_LINE = re.compile(r"(?<![\d./:-])(\d\d)-(\d\d) (\d\d):(\d\d)(?::(\d\d))?(?![\d:])")


def _lines(text: str, frame: Frame) -> Iterator[Mention]:
    for match in _LINE.finditer(text):
        month, dom, hour, minute = (int(part) for part in match.groups()[:4])
        second = int(match[5] or 0)
        if hour > 23 or minute > 59 or second > 59:
            continue
        grain: Grain = "second" if match[5] else "minute"
        time = point(Clock(hour, minute, second, grain, padded=True))
        dated = each(yearly(lambda year, m=month, d=dom: date(year, m, d), "day"), time.on, grain)  # type: ignore[misc]
        span = settle(dated, frame, -1) if dated is not None else None
        if span is not None:
            yield Mention(match.start(), match.end(), span)


def mentions(text: str, frame: Frame) -> list[Mention]:
    """Returns the timestamps of a text as wall time of the reference. Dates that do not exist are left out."""
    found = []
    for match in _STAMP.finditer(text):
        try:
            moment = datetime.fromisoformat(
                match.group().replace(" Z", "Z").replace(" +", "+").replace(" -", "-")
            )
            if moment.tzinfo is not None:
                moment = moment.astimezone(frame.zone).replace(tzinfo=None)
            grain: Grain = "second" if match["second"] else "minute"
            end = moment + timedelta(seconds=1 if match["second"] else 60)
        except (OverflowError, ValueError):
            continue
        found.append(Mention(match.start(), match.end(), Span(moment, end, grain, instant=True, sure=1.0)))
    return found or list(_lines(text, frame))
