"""When something was: the words of a hint, made a time by the calendar and never by the model."""

from __future__ import annotations

import re
from collections.abc import Iterable

from events.language import timex
from events.types.cards import SourceSpan
from events.types.turn_contract import local_said_at
from events.types.turns import TurnRecorded
from ingest.extraction.rules.moments import Moment

_INTERVAL = re.compile(r"(?<=\d)(Z|[+-]\d\d:\d\d)?\s*/\s*(?=\d{4}-)")
_ENDS = re.compile(r"[.!?](?=\s)|[。！？\n]")
_LONGEST_HINT = 200
_AROUND = 300  # characters before and after a quote that may be of its sentence


def moment(hint: str | None, turn: TurnRecorded, quote: SourceSpan) -> Moment | None:
    """The time ``hint`` means to the one who said ``turn``; None where it names none.

    Words of the turn are read in their sentence, whose tense says whether "on Tuesday" is over; a date the turn
    does not write that way (ISO 8601) is read alone. The first time it names counts, an open one less than a closed.
    """
    if not hint or not hint.strip():
        return None
    hint = hint.strip()[:_LONGEST_HINT]
    begin, end = sentence(turn.text, quote.start, quote.end)
    words = turn.text[begin:end]
    at = words.casefold().find(hint.casefold())
    if at >= 0:
        spoken = (one for one in _found(words, turn) if one.begin < at + len(hint) and at < one.stop)
        if (best := _best(spoken)) is not None:
            return Moment.of(best, hint)
    best = _best(_found(_INTERVAL.sub(lambda found: f"{found[1] or ''} to ", hint), turn))
    return None if best is None else Moment.of(best, hint)


def _found(text: str, turn: TurnRecorded) -> Iterable[timex.Found]:
    return (one for one in timex.find(text, local_said_at(turn)) if one.start or one.end)


def _best(found: Iterable[timex.Found]) -> timex.Found | None:
    return max(found, key=lambda one: (one.start is not None, one.confidence), default=None)


def sentence(text: str, start: int, end: int) -> tuple[int, int]:
    """The sentences a quote touches; where one is very long, what stands around the quote."""
    begin = max(0, start - _AROUND)
    for mark in _ENDS.finditer(text, begin, start):
        begin = mark.end()
    behind = _ENDS.search(text, max(end - 1, 0), end + _AROUND)
    return begin, behind.end() if behind is not None else min(len(text), end + _AROUND)
