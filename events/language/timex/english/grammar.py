"""Applies the English grammar to a text from left to right."""

from __future__ import annotations

from collections.abc import Iterator

from events.language.timex.english import dates, near, pieces, relative
from events.language.timex.english.calendar import seasons, weekdays, years

from ..mentions import Mention
from ..scan import Scan, listed
from .numbers import length, plain
from .ranges import span_of
from .simple import openers
from .words import MAGNITUDES, NUMBERS, PART_WORDS, UNITS

# The import of these modules registers their rules. `openers` returns the first words of the rules.
RULES = (dates, near, pieces, relative, seasons, weekdays, years)
_REPEATS = frozenset({"every", "each", "any", "per", "everyday"})
# First words of expressions that do not express time by themselves.
_FUNCTION = listed(
    "from between since after before until till by starting beginning effective prior later earlier no "
    "not as > < = up ever in within for more less over under around on at the to so right just ' ’ w back "
    "same a an half few couple several some ½ early late last first second final this that end start "
    "close rest mid middle past current circa martin all good fat double ghost star may one st saint "
    "black boxing arbor moon two three going through newer older greater higher lower bigger smaller"
)  # fmt: skip
_CLOCK = listed("noon midday midnight noonish o'clock oclock quarter am pm date moment time")
_STARTS = (
    openers()
    | _FUNCTION
    | _CLOCK
    | _REPEATS
    | frozenset(PART_WORDS)
    | frozenset(NUMBERS)
    | frozenset(MAGNITUDES)
)
# Words that express time. An expression has one of these words or a digit near its first word.
_TIME_WORDS = (
    (openers() - _FUNCTION)
    | _CLOCK
    | frozenset(PART_WORDS)
    | frozenset(UNITS)
    | frozenset(NUMBERS) - {"one"}
    | frozenset({"may", "second", "third", "year's", "may's", "ago"})
)
_AHEAD = 5
"""An expression has a word of time or a digit within this many words after its first word."""


def findings(scan: Scan) -> Iterator[Mention]:
    """Yields the time expressions of the text from left to right, without overlaps."""
    words = scan.words
    i, count = 0, len(scan)
    next_time_word = _next_time_words(scan)
    while i < count:
        word = words[i]
        if next_time_word[i] - i > _AHEAD or not (
            word in _STARTS or (word[0].isdecimal() and plain(scan, i))
        ):
            i += 1
            continue
        scan.forget()
        if word in _REPEATS:
            i = _past_set(scan, i)
            continue
        found = span_of(scan, i)
        if found is not None:
            yield Mention(scan.begins[i], scan.stops[found[1] - 1], found[0])
            i = found[1]
            continue
        if (
            word == "one"
            and words[i + 1] in ("day", "night")
            and scan.before(i) not in ("for", "in", "within", "only", "just")
        ):
            i += 2
            continue
        lasting = (
            length(scan, i)
            if word not in ("a", "an") or scan.before(i) in ("for", "about", "over", "within")
            else None
        )
        if lasting is not None and lasting[1] > i:
            yield Mention(scan.begins[i], scan.stops[lasting[1] - 1], None, lasting[0])
            i = lasting[1]
            continue
        i += 1


def _next_time_words(scan: Scan) -> list[int]:
    """Returns for each word the index of the next word of time or number, itself included."""
    words = scan.words
    count = len(scan)
    found = [0] * count
    after = count + _AHEAD + 1
    for i in range(count - 1, -1, -1):
        word = words[i]
        if word in _TIME_WORDS or word[0].isdecimal():
            after = i
        found[i] = after
    return found


def _past_set(scan: Scan, i: int) -> int:
    """Skips a repeated time such as "every week". It names no single time."""
    words = scan.words
    if words[i] == "everyday":
        return i + 1
    j = scan.skip(i + 1, "other", "single", "few", "couple", "of", "the")
    found = span_of(scan, j)
    if found is not None:
        return found[1]
    lasting = length(scan, j)
    if lasting is not None:
        return lasting[1]
    return j + 1
