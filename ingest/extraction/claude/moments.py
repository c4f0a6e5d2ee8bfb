"""Resolves the time hint of a card with timex. The model never computes a time."""

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
_AROUND = 300  # Characters before and after a quote that may belong to its sentence.


def moment(hint: str | None, turn: TurnRecorded, quote: SourceSpan) -> Moment | None:
    """Returns the time that ``hint`` means on the clock of ``turn``, or None when the hint names no time.

    A hint in the words of the turn is resolved within its sentence, because the tense decides whether "on Tuesday" is
    past. Any other hint, for instance an ISO 8601 date, is resolved alone. A time with a start wins over a time without
    one, then the most confident time wins.
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
    """Returns the span of the sentences that a quote touches, at most 300 characters to either side of the quote."""
    begin = max(0, start - _AROUND)
    for mark in _ENDS.finditer(text, begin, start):
        begin = mark.end()
    behind = _ENDS.search(text, max(end - 1, 0), end + _AROUND)
    return begin, behind.end() if behind is not None else min(len(text), end + _AROUND)
