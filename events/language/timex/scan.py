"""A text cut into words for a grammar, and the memo that keeps the parsing linear."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, wraps
from itertools import count
from typing import Any, Generic, TypeVar

from .calendar import WITHIN_DAY, Frame, Span, Tense, add_days, date, day, unit
from .cycles import Reading, join, nearest, settle
from .lengths import Length
from .tables import rows

DEEPEST = 12
"""The deepest nesting of rules. It bounds texts such as "the end of the end of the end …"."""
REACH = 300
"""The characters on either side of a word that are searched for its sentence."""

_BLANKS = 5
_MOST_KEPT = 20_000
_MOST_TENSES = 500


@lru_cache(maxsize=1024)
def listed(words: str) -> frozenset[str]:
    """Returns the set of the words in `words`, which spaces separate. "$" stands for the end of the text."""
    return frozenset("" if word == "$" else word for word in words.split())


Found = tuple[Reading, int]
"""A reading, and the index of the next word."""
V = TypeVar("V")
C = TypeVar("C")


@dataclass(frozen=True, slots=True)
class Mention:
    """A place in a text, in code points, with its span. A length of time alone has no span."""

    begin: int
    stop: int
    span: Span | None
    length: Length | None = None

    @property
    def weight(self) -> tuple[bool, int]:
        """What stays of two overlapping mentions: one with a span, then the longer one."""
        return self.span is not None, self.stop - self.begin


def given(value: C | None, stop: int) -> tuple[C, int] | None:
    """Returns a value with the next word, or None without a value."""
    return None if value is None else (value, stop)


def bare(word: str) -> str:
    """Returns a word without apostrophes."""
    return word.replace("'", "") if "'" in word else word


class Phrases(Generic[V]):
    """Phrases of one or more words, each with its value. Apostrophes, and hyphens between words, do not count."""

    def __init__(self, values: Mapping[V, str]) -> None:
        """`values` has the phrases of each value, with `|` between them."""
        self._by_first: dict[str, list[tuple[tuple[str, ...], V]]] = {}
        for value, phrases in values.items():
            for phrase in phrases.split("|"):
                words = tuple(phrase.split())
                self._by_first.setdefault(words[0], []).append((words, value))
        for entries in self._by_first.values():
            entries.sort(key=lambda entry: -len(entry[0]))
        self.firsts = frozenset(self._by_first) | {
            written
            for word in self._by_first
            if word.endswith("s")
            for written in (f"{word[:-1]}'s", f"{word}'")
        }
        """The spellings of the first words: "mothers", "mother's", "mothers'"."""

    def at(self, scan: Scan, i: int) -> tuple[V, int] | None:
        """Returns the value of the longest phrase at word `i`, with the next word."""
        first = scan.words[i]
        for phrase, value in self._by_first.get(bare(first) if "'" in first else first, ()):
            j = i
            for word in phrase:
                if j > i and scan.words[j] == "-" and word != "-":
                    j += 1
                if j > i and scan.words[j] == "." and scan.words[j - 1] == "st":
                    j += 1
                if bare(scan.words[j]) != word:
                    break
                j += 1
            else:
                return value, j
        return None


def counted_day(scan: Scan, i: int, last: tuple[Span, int], shift: int, near: int) -> Span | None:
    """Returns the day that is `shift` days from the time told at most `near` characters before word `i`."""
    told, far = last[0], scan.begins[i] - scan.stops[last[1] - 1] > near
    if told.start is None or told.grain not in (*WITHIN_DAY, "day") or far:
        return None
    return replace(day(add_days(told.start, shift)), sure=0.7, ambiguous=told.ambiguous)


def listed_day(last: tuple[Span, int], dom: int) -> Span | None:
    """Returns a day in the month of the day told before it: "June 3rd and 5th"."""
    told = last[0]
    if told.grain != "day" or told.start is None:
        return None
    span = date(told.start.year, told.start.month, dom)
    return replace(span, sure=told.sure, ambiguous=told.ambiguous) if span else None


def phrases_of(name: str, kind: Callable[[str], V]) -> Phrases[V]:
    """Returns the phrases of a list of the English tables. `kind` reads their values."""
    return Phrases({kind(value): phrases for key, value, phrases in rows("english_phrases") if key == name})


class Scan:
    """The words of one text, with the reference.

    The five words after the end are empty. A rule can therefore look ahead without a check of the length.
    """

    __slots__ = ("asked", "begins", "depth", "frame", "memo", "stops", "tenses", "text", "words")

    def __init__(self, text: str, frame: Frame, pattern: re.Pattern[str], *, asked: bool) -> None:
        self.text = text
        self.frame = frame
        self.asked = asked
        self.memo: dict[Any, Any] = {}
        self.depth = 0
        self.tenses = 0
        found = list(pattern.finditer(text))
        self.words: list[str] = [match[0] for match in found]
        self.begins: list[int] = [match.start() for match in found]
        self.stops: list[int] = [match.end() for match in found]
        self.words += [""] * _BLANKS
        self.begins += [len(text)] * _BLANKS
        self.stops += [len(text)] * _BLANKS

    def __len__(self) -> int:
        return len(self.words) - _BLANKS

    def tense(self, i: int) -> Tense:
        """Returns the tense of the sentence around word `i`; 0 when the sentence has none."""
        raise NotImplementedError

    def forget(self) -> None:
        """Clears a large memo. Rules look ahead, and never far back."""
        if len(self.memo) > _MOST_KEPT:
            self.memo.clear()

    def settle(self, reading: Reading, i: int, unsaid: Tense = 0) -> Span | None:
        """Returns the span of a reading at word `i`. `unsaid` is the tense for a sentence without one."""
        if isinstance(reading, Span):
            return reading
        return settle(reading, self.frame, self._tense(i) or unsaid)

    def weekend(self, i: int) -> Span | None:
        """Returns the weekend of this week, or the last one when the sentence at word `i` is in the past tense."""
        now = self.frame.now
        span = unit("weekend", now, -1 if self._tense(i) < 0 and now.weekday() < 5 else 0)
        return span.doubted(0.75) if span else None

    def nearest(self, reading: Reading, i: int) -> Span | None:
        """Returns the span of a reading at word `i`. In a sentence without a tense it is the one nearest to now."""
        tense = self._tense(i)
        return settle(reading, self.frame, tense) if tense else nearest(reading, self.frame)

    def join(self, first: Reading, last: Reading, i: int) -> Span | None:
        """Returns the range from one reading to another at word `i`; None when the two make no range."""
        return join(first, last, self.frame, 0 if isinstance(first, Span) else self._tense(i))

    def _tense(self, i: int) -> Tense:
        known: Tense | None = self.memo.get(("tense", i))
        if known is None:
            # To look for the tense is most of the work. A text of nothing but times would take seconds.
            self.tenses += 1
            known = self.memo["tense", i] = self.tense(i) if self.tenses <= _MOST_TENSES else 0
        return known

    def tight(self, i: int) -> bool:
        """True when word `i` directly follows the word before it, without a space."""
        return 0 < i < len(self) and self.begins[i] == self.stops[i - 1]

    def joins(self, i: int, *marks: str) -> bool:
        """True when word `i` is one of `marks` and joins two words without a space."""
        return self.words[i] in marks and self.tight(i) and self.tight(i + 1)

    def original(self, i: int) -> str:
        return self.text[self.begins[i] : self.stops[i]]

    def before(self, i: int) -> str:
        return self.words[i - 1] if i > 0 else ""

    def skip(self, i: int, *words: str) -> int:
        """Returns `i + 1` when word `i` is one of `words`, else `i`."""
        return i + 1 if self.words[i] in words else i

    def digits(self, i: int, most: int = 9) -> int | None:
        """Returns the number that word `i` writes in at most `most` ASCII digits; None for another word."""
        word = self.words[i]
        return int(word) if word.isdecimal() and word.isascii() and len(word) <= most else None


_RULE_NUMBERS = count()
_UNREAD: Any = object()
S = TypeVar("S", bound=Scan)
T = TypeVar("T")


def packrat(rule: Callable[[S, int], T | None]) -> Callable[[S, int], T | None]:
    """Returns the rule with a memo, so it runs at most once for each word. The parsing therefore stays linear."""
    first = next(_RULE_NUMBERS) << 40  # a number is a quicker key than a pair

    @wraps(rule)
    def remembered(scan: S, i: int) -> T | None:
        key = first + i
        memo = scan.memo
        known: T | None = memo.get(key, _UNREAD)
        if known is not _UNREAD:
            return known
        if scan.depth >= DEEPEST:
            return None
        scan.depth += 1
        try:
            found = rule(scan, i)
        except (OverflowError, ValueError):  # outside the years of datetime
            found = None
        finally:
            scan.depth -= 1
        memo[key] = found
        return found

    return remembered
