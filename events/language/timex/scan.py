"""A text cut into words for a grammar to read, and the memory that keeps reading it linear."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from .calendar import Frame, Span, Tense
from .cycles import Reading, join, settle

DEEPEST = 12
"""How far rules may nest: "the end of the end of the end …" is nobody's question."""
REACH = 300
"""How many characters either side of a word its sentence is looked for in."""

_BLANKS = 5
_MOST_KEPT = 20_000


def listed(words: str) -> frozenset[str]:
    """A set of words, written with spaces between them."""
    return frozenset(words.split())


class Scan:
    """One text's words, with the present they are read against.

    Words past the end are empty, so a rule may look ahead a few words without asking how many there are.
    """

    __slots__ = ("asked", "begins", "depth", "frame", "memo", "stops", "text", "words")

    def __init__(self, text: str, frame: Frame, pattern: re.Pattern[str], *, asked: bool) -> None:
        self.text = text
        self.frame = frame
        self.asked = asked
        self.memo: dict[tuple[str, int], Any] = {}
        self.depth = 0
        self.words: list[str] = []
        self.begins: list[int] = []
        self.stops: list[int] = []
        for match in pattern.finditer(text):
            self.words.append(match.group())
            self.begins.append(match.start())
            self.stops.append(match.end())
        self.words += [""] * _BLANKS
        self.begins += [len(text)] * _BLANKS
        self.stops += [len(text)] * _BLANKS

    def __len__(self) -> int:
        return len(self.words) - _BLANKS

    def tense(self, i: int) -> Tense:
        """Which way the sentence around word `i` looks; 0 when it does not say."""
        raise NotImplementedError

    def forget(self) -> None:
        """Let go of what was tried, when it is a lot: rules look ahead of themselves, never far behind."""
        if len(self.memo) > _MOST_KEPT:
            self.memo.clear()

    def settle(self, reading: Reading, i: int, unsaid: Tense = 0) -> Span | None:
        """The span a reading means beside word `i`; `unsaid` is the way to look where the sentence is silent."""
        if isinstance(reading, Span):
            return reading
        return settle(reading, self.frame, self._tense(i) or unsaid)

    def join(self, first: Reading, last: Reading, i: int) -> Span | None:
        """The range from one reading to another, beside word `i`."""
        return join(first, last, self.frame, 0 if isinstance(first, Span) else self._tense(i))

    def _tense(self, i: int) -> Tense:
        known: Tense | None = self.memo.get(("tense", i))
        if known is None:
            known = self.memo["tense", i] = self.tense(i)
        return known

    def tight(self, i: int) -> bool:
        """Word `i` touches the one before it."""
        return 0 < i < len(self) and self.begins[i] == self.stops[i - 1]

    def original(self, i: int) -> str:
        return self.text[self.begins[i] : self.stops[i]]

    def before(self, i: int) -> str:
        return self.words[i - 1] if i > 0 else ""

    def skip(self, i: int, *words: str) -> int:
        """Past word `i` when it is one of these."""
        return i + 1 if self.words[i] in words else i

    def digits(self, i: int, most: int = 9) -> int | None:
        """The number word `i` writes in at most so many ASCII digits."""
        word = self.words[i]
        return int(word) if word.isdecimal() and word.isascii() and len(word) <= most else None


S = TypeVar("S", bound=Scan)
T = TypeVar("T")


def packrat(rule: Callable[[S, int], T | None]) -> Callable[[S, int], T | None]:
    """A rule tried once for each place: the grammar stays linear, whatever calls what."""
    name = f"{rule.__module__}.{rule.__qualname__}"

    @wraps(rule)
    def remembered(scan: S, i: int) -> T | None:
        key = (name, i)
        memo = scan.memo
        if key in memo:
            known: T | None = memo[key]
            return known
        if scan.depth >= DEEPEST:
            return None
        scan.depth += 1
        try:
            found = rule(scan, i)
        except (OverflowError, ValueError):  # outside the years a calendar can hold
            found = None
        finally:
            scan.depth -= 1
        memo[key] = found
        return found

    return remembered
