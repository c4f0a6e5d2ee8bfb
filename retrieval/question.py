"""The question, understood once and shared by every channel: words, concepts, time, intent."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from events import timex
from events.concepts import concepts_asked
from events.script import fold_script
from projectors.text.questions import asked
from projectors.text.terms import analyse

Intent = Literal["present", "past", "history"]

# Words that ask for all there ever was, and words that ask for what is no longer.
_HISTORY = re.compile(
    r"\b(history|histories|ever|over time|all the|timeline|so far|changed?)\b|历史|曾经|历来|变化|演变"
)
_PAST = re.compile(
    r"\b(used to|previous(ly)?|former(ly)?|before|earlier|back then|did|was|were|had|old|last)\b"
    r"|以前|之前|过去|当时|原本|原来"
)


@dataclass(frozen=True, slots=True)
class Window:
    """A stretch of time, start inclusive, end exclusive; None is an open side."""

    start: datetime | None
    end: datetime | None


@dataclass(frozen=True, slots=True)
class Question:
    """What was asked.

    ``weights`` are its terms with how much each counts, ``times`` the stretches it names, ``now`` what
    "yesterday" is reckoned from.
    """

    text: str
    now: datetime
    weights: Mapping[str, float]
    concepts: tuple[str, ...]
    times: tuple[Window, ...]
    intent: Intent

    @property
    def terms(self) -> tuple[str, ...]:
        """The words worth looking for, in reading order."""
        return tuple(self.weights)

    @property
    def span(self) -> Window | None:
        """The one stretch that covers every time the question names."""
        if not self.times:
            return None
        starts = [window.start for window in self.times]
        ends = [window.end for window in self.times]
        return Window(
            None if None in starts else min(start for start in starts if start is not None),
            None if None in ends else max(end for end in ends if end is not None),
        )


def understand(text: str, now: datetime) -> Question:
    """Analyse a question asked at ``now`` (aware; its zone is the asker's). Never raises on any text."""
    found = timex.find(text, now, reading="question")
    windows = tuple(_window(item) for item in found if item.kind != "duration")
    # The words of a time are answered by the time channel; as terms they would only find other dates.
    rest = _without(text, [(item.begin, item.stop) for item in found if item.kind != "duration"])
    weights = _weights(rest) or _weights(text) or dict.fromkeys(analyse(text), 1.0)
    return Question(text, now, weights, concepts_asked(text), windows, _intent(text, windows, now))


# What people mean is no sharper than the words: "two months ago" is a day that is right to within weeks.
_WIDTHS = {
    "part_of_day": timedelta(hours=12),
    "week": timedelta(days=7),
    "month": timedelta(days=30),
    "quarter": timedelta(days=91),
    "season": timedelta(days=91),
    "year": timedelta(days=365),
}


def _window(found: timex.Found) -> Window:
    start, end = found.start, found.through or found.end
    width = _WIDTHS.get(found.grain)
    if start is not None and end is not None and width is not None and end - start < width / 2:
        margin = (width - (end - start)) / 2
        return Window(start - margin, end + margin)
    return Window(start, end)


def _weights(text: str) -> dict[str, float]:
    weights: dict[str, float] = {}
    for part in asked(text):
        for term, weight in part.terms.items():
            weights[term] = max(weight, weights.get(term, 0.0))
    return weights


def _without(text: str, spans: Sequence[tuple[int, int]]) -> str:
    for begin, stop in sorted(spans, reverse=True):
        text = f"{text[:begin]} {text[stop:]}"
    return text


def _intent(text: str, windows: Sequence[Window], now: datetime) -> Intent:
    folded = fold_script(text.casefold())
    if _HISTORY.search(folded):
        return "history"
    if any(window.end is not None and window.end <= now for window in windows) or _PAST.search(folded):
        return "past"
    return "present"
