"""The English grammar run over a text, left to right."""

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

# The modules whose rules `openers` gathers; importing them is what registers the rules.
RULES = (dates, near, pieces, relative, seasons, weekdays, years)
_REPEATS = frozenset({"every", "each", "any", "per", "everyday"})
# Words an expression may begin with that say nothing of time by themselves.
_FUNCTION = listed(
    "from between since after before until till by starting beginning effective prior later earlier no "
    "not as > < = up ever in within for more less over under around on at the to so right just ' ’ w back "
    "same a an half few couple several some ½ early late last first second final this that end start "
    "close rest mid middle past current circa martin all good fat double ghost star may one st saint "
    "black boxing arbor moon"
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
# Words that say something of time. Where none is near, and no digit, there is nothing to read.
_TELLING = (
    (openers() - _FUNCTION)
    | _CLOCK
    | frozenset(PART_WORDS)
    | frozenset(UNITS)
    | frozenset(NUMBERS) - {"one"}
    | frozenset({"may", "second", "third", "year's", "may's", "ago"})
)
_AHEAD = 5
"""How many words on from its first word an expression says what it is about."""


def findings(scan: Scan) -> Iterator[Mention]:
    """What the text says of time, left to right, none overlapping."""
    words = scan.words
    i, count = 0, len(scan)
    told = _told(scan)
    while i < count:
        word = words[i]
        if told[i] - i > _AHEAD or not (word in _STARTS or (word[0].isdecimal() and plain(scan, i))):
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


def _told(scan: Scan) -> list[int]:
    """For each word, where the next word is that says something of time."""
    words = scan.words
    count = len(scan)
    told = [0] * count
    after = count + _AHEAD + 1
    for i in range(count - 1, -1, -1):
        word = words[i]
        if word in _TELLING or word[0].isdecimal():
            after = i
        told[i] = after
    return told


def _past_set(scan: Scan, i: int) -> int:
    """Past what happens again and again: it names no one time."""
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
