"""Time expressions: English and Chinese words of time to absolute instants and ranges.

`find` reads a text against a reference and gives what it says of time. It is a pure function: no clock,
no I/O, the same answer every time, and no exception whatever the text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from . import chinese, english, stamps
from .calendar import Frame, Grain
from .mentions import Mention

__all__ = ["Found", "Grain", "find"]

_CHINESE = re.compile(r"[\u3400-\u9fff]")
_LATIN = re.compile(r"[A-Za-z]")


@dataclass(frozen=True, slots=True)
class Found:
    """One expression of time in a text.

    `begin` and `stop` are code point offsets and `text` is what lies between. `start` is inclusive and
    `end` exclusive, both aware, in the reference's zone; None is an open side, and a length of time alone
    ("two hours") has neither. A range "from X to Y" ends where Y begins, and "the last five days" where
    today does; `through` is then the end a listener would count in: the end of Y, or now. `grain` says how
    exact the words are, which may be coarser than the range ("two months ago" is one day, of grain month).
    `ambiguous` says another reading was as good as possible; `confidence` how likely this one is.
    """

    text: str
    begin: int
    stop: int
    start: datetime | None
    end: datetime | None
    grain: Grain
    kind: Literal["instant", "range", "duration"]
    confidence: float
    ambiguous: bool
    through: datetime | None = None


def find(
    text: str, reference: datetime, *, reading: Literal["statement", "question"] = "statement"
) -> list[Found]:
    """What a text says of time, in the order it says it, none overlapping.

    A bare "Friday" or "in May" looks back, unless the tense says otherwise. Raises ValueError only for a
    naive reference.
    """
    frame = Frame.of(reference)
    asked = reading == "question"
    mentions: list[Mention] = []
    stamped = stamps.mentions(text, frame) if ":" in text else []
    if _CHINESE.search(text):
        mentions = chinese.mentions(text, frame, asked=asked)
    if _LATIN.search(text) or not mentions:
        mentions = _merged(mentions, english.mentions(text, frame, asked=asked))
    mentions = _merged(stamped, mentions)
    return [found for mention in mentions if (found := _found(text, frame, mention)) is not None]


def _merged(first: list[Mention], second: list[Mention]) -> list[Mention]:
    """Both, without overlaps: the longer mention stays, the first list's when they are as long."""
    if not first or not second:
        return first or second
    kept: list[Mention] = []
    for mention in sorted([*first, *second], key=lambda one: one.begin):
        while kept and kept[-1].stop > mention.begin:
            if _weight(kept[-1]) >= _weight(mention):
                break
            kept.pop()
        else:
            kept.append(mention)
    return kept


def _weight(mention: Mention) -> tuple[bool, int]:
    return mention.span is not None, mention.stop - mention.begin


def _found(text: str, frame: Frame, mention: Mention) -> Found | None:
    """The mention with its moments made absolute; None when it lies outside what a calendar can hold."""
    begin, stop, span = mention.begin, mention.stop, mention.span
    if span is None:
        grain: Grain = mention.length.grain if mention.length else "second"
        return Found(text[begin:stop], begin, stop, None, None, grain, "duration", 0.8, False)
    try:
        start = frame.aware(span.start) if span.start else None
        end = frame.aware(span.end) if span.end else None
        through = frame.aware(span.through) if span.through else None
    except (OverflowError, ValueError):
        return None
    if start is not None and end is not None and start >= end:
        return None
    kind: Literal["instant", "range"] = "instant" if span.instant else "range"
    sure = round(min(max(span.sure, 0.05), 1.0), 2)
    return Found(text[begin:stop], begin, stop, start, end, span.grain, kind, sure, span.ambiguous, through)
