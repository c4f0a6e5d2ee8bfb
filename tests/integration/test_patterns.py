"""No regular expression of Cardlog reads a repeated text in exponentially many ways.

Every pattern of the packages is searched in texts that repeat what one of its repetitions matches, behind what it
expects before, and with an end that fits nothing. ``(?:only|[a-z]+ly)*`` takes twice as long with each "only".
"""

import importlib
import json
import pkgutil
import random
import re
import re._constants as op  # type: ignore[import-not-found]  # the parser of the standard library has no other door
import re._parser as parser  # type: ignore[import-not-found]
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from typing import Any

from ingest.extraction.rules import patterns
from ingest.extraction.rules.extractor import ReadingTooSlowError, processor_time
from retrieval.query.question import understand
from tests.support.ingest.rules import cards

_PACKAGES = ("events", "ingest", "projectors", "retrieval")
_TIMES, _MOST_S, _LONGEST = 34, 0.4, 1500
_ENDS = ("\x00", "!\x00x", " (x)")
_CLASSES = {"DIGIT": "1", "WORD": "am1", "SPACE": " ", "NOT_SPACE": "a.", "NOT_WORD": " ,", "NOT_DIGIT": "a"}
_OTHERS = "abImz1 我-,.\n\x01"

Parsed = Sequence[tuple[Any, Any]]


def _all_patterns() -> dict[tuple[str, int], str]:
    """Returns the patterns of all modules with their places, and those that the first texts compile."""
    for name in _PACKAGES:
        for module in pkgutil.walk_packages(importlib.import_module(name).__path__, f"{name}."):
            importlib.import_module(module.name)
    patterns.warm()
    for text in ("I moved to Lisbon last week.", "我上週搬到高雄了。", "Sorry, I meant Graz."):
        cards(text)
        understand(text, datetime(2026, 5, 8, tzinfo=UTC))
    found: dict[tuple[str, int], str] = {}
    held = [("compiled on first use", getattr(re, "_cache", {}))]
    held += [
        (f"{name}.{attribute}", value)
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] in _PACKAGES
        for attribute, value in list(vars(module).items())
    ]
    for place, value in held:
        for each in _patterns_in(value):
            found.setdefault((each.pattern, each.flags), place)
    return found


def _patterns_in(value: Any, depth: int = 0) -> Iterator[re.Pattern[str]]:
    if isinstance(value, re.Pattern):
        if isinstance(value.pattern, str):
            yield value
        return
    parts: Iterable[Any] = ()
    if isinstance(value, dict):
        parts = list(value.values())
    elif isinstance(value, list | tuple | set | frozenset):
        parts = value
    elif is_dataclass(value) and not isinstance(value, type):
        parts = [getattr(value, field.name, None) for field in fields(value)]
    for each in parts if depth < 7 else ():
        yield from _patterns_in(each, depth + 1)


class _Writer:
    """Writes texts that parts of a pattern match, as far as its assertions allow."""

    def __init__(self) -> None:
        self._chance = random.Random(5)

    def text(self, parts: Parsed, chosen: Parsed | None = None) -> str:
        return "".join(self._of(kind, value, chosen) for kind, value in parts)

    def _of(self, kind: Any, value: Any, chosen: Parsed | None) -> str:
        if kind is op.LITERAL:
            return chr(value)
        if kind is op.NOT_LITERAL:
            return "b" if chr(value) == "a" else "a"
        if kind is op.ANY:
            return self._chance.choice("ab1 ")
        if kind is op.IN:
            return self._one_of(value)
        if kind is op.BRANCH:
            way = next((each for each in value[1] if each is chosen), None)
            return self.text(way if way is not None else self._chance.choice(value[1]), chosen)
        if kind is op.SUBPATTERN:
            return self.text(value[3], chosen)
        if kind is op.ATOMIC_GROUP:
            return self.text(value, chosen)
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT, op.POSSESSIVE_REPEAT):
            least, most, inner = value
            times = min(most, least + self._chance.choice((0, 0, 0, 1, 2)))
            return "".join(self.text(inner, chosen) for _ in range(times))
        return ""

    def _one_of(self, items: Any) -> str:
        known = ""
        for kind, value in items:
            if kind is op.LITERAL:
                known += chr(value)
            elif kind is op.RANGE:
                known += "".join(map(chr, (value[0], value[1], sum(value) // 2)))
            elif kind is op.CATEGORY:
                known += _CLASSES.get(str(value).removeprefix("CATEGORY_"), "a")
        if items[0][0] is op.NEGATE:
            known = "".join(each for each in _OTHERS if each not in known)
        return self._chance.choice(known or "q")


def _repeats(parts: Parsed, before: Parsed = ()) -> Iterator[tuple[Parsed, Parsed]]:
    """Yields each repetition with what the pattern expects before it."""
    reached = list(before)
    for kind, value in parts:
        if kind in (op.MAX_REPEAT, op.MIN_REPEAT):
            if value[1] > 4:
                yield list(reached), value[2]
            yield from _repeats(value[2], reached)
        elif kind is op.SUBPATTERN:
            yield from _repeats(value[3], reached)
        elif kind is op.ATOMIC_GROUP:
            yield from _repeats(value, reached)
        elif kind is op.ASSERT:
            yield from _repeats(value[1], reached)
        elif kind is op.BRANCH:
            for way in value[1]:
                yield from _repeats(way, reached)
        reached.append((kind, value))


def _ways(parts: Parsed) -> Iterator[Parsed]:
    for kind, value in parts:
        if kind is op.SUBPATTERN:
            yield from _ways(value[3])
        elif kind is op.BRANCH:
            yield from value[1]


def _attacks(parsed: Parsed, write: _Writer) -> Iterator[str]:
    for before, repeated in _repeats(parsed):
        start = write.text(before)
        one = [write.text(repeated, way) for way in (*_ways(repeated), *[None] * 4)]
        mixed = ["".join(write.text(repeated) for _ in range(_TIMES)) for _ in range(3)]
        for middle in (*(each * _TIMES for each in one), *mixed):
            for end in _ENDS:
                yield f"{start}{middle}"[:_LONGEST] + end


def _slow(pattern: str, flags: int) -> str | None:
    """Returns a text in which the search does not end in time, or None."""
    compiled, write = re.compile(pattern, flags), _Writer()
    for text in _attacks(parser.parse(pattern, flags), write):
        try:
            with processor_time(_MOST_S):
                compiled.search(text)
        except ReadingTooSlowError:
            return text
    return None


def test_the_attack_finds_a_pattern_that_reads_a_word_in_two_ways() -> None:
    assert _slow(r"(?:I|we)(?: (?:just|only|[a-z]+ly))* saw", 0) is not None
    assert _slow(r"(?:I|we)(?: (?:just|[a-z]+ly))* saw", 0) is None


def test_no_pattern_takes_exponential_time() -> None:
    # In a process of its own, because this one knows the patterns of other tests, too.
    listed = subprocess.run([sys.executable, "-m", __name__], capture_output=True, text=True, check=True)
    found = json.loads(listed.stdout)
    assert len(found) > 500
    assert {place: text[:120] for pattern, flags, place in found if (text := _slow(pattern, flags))} == {}


if __name__ == "__main__":
    print(json.dumps([[*pattern, place] for pattern, place in _all_patterns().items()]))
