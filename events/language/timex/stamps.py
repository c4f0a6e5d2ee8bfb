"""ISO 8601 timestamps in a text of any language. A timestamp with an offset is an absolute instant."""

import re
from datetime import datetime, timedelta

from .calendar import Frame, Grain, Span
from .scan import Mention

_STAMP = re.compile(
    r"(?<![\d-])\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?P<second>:\d\d(?:[.,]\d{1,9})?)?\s?(?P<zone>Z|[+-]\d\d:?\d\d)?(?![\d:])"
)


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
    return found
