"""Pieces of words, for finding what is misspelt, cut off or written together.

Latin words give padded trigrams as pg_trgm cuts them ("cat": "  c", " ca", "cat", "at "), scripts
without spaces pairs of characters. Both sides are folded like terms, so 臺灣 and 台湾 share pairs.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from functools import lru_cache
from math import ceil

from events.language.terms import GRAMS, RUNS, USERS, fold, is_topic

_WORD = re.compile(r"[^\W_]+")
_LONGEST = 64


def grams(text: str) -> set[str]:
    """The distinct grams of a text; a lone character of a script without spaces is a gram itself."""
    return _grams(text, lambda word: True)


def pairs(text: str) -> set[str]:
    """The distinct grams of a text's scripts without spaces: what is left of :func:`grams` without Latin words."""
    found: set[str] = set()
    for han, unspaced, _ in RUNS.findall(fold(text)):
        _add_pairs(found, han or unspaced)
    return found


def question_grams(text: str) -> set[str]:
    """The grams of a question's words of topic: "where is" is near too many texts (recall@10 .46, without .50)."""
    return _grams(text, is_topic)


def _grams(text: str, wanted: Callable[[str], bool]) -> set[str]:
    found: set[str] = set()
    for han, unspaced, spaced in RUNS.findall(fold(text)):
        _add_pairs(found, han or unspaced)
        if spaced:
            for word in filter(wanted, _WORD.findall(spaced)):
                found.update(_trigrams(word) if len(word) <= _LONGEST else _cut(word))
    return found


def _add_pairs(found: set[str], run: str) -> None:
    if len(run) == 1:
        found.add(run)
    else:
        found.update([run[index : index + 2] for index in range(len(run) - 1)])


@lru_cache(maxsize=16384)
def _trigrams(word: str) -> tuple[str, ...]:
    return _cut(word)


def _cut(word: str) -> tuple[str, ...]:
    padded = f"  {word} "
    return tuple(padded[index : index + 3] for index in range(len(padded) - 2))


def gram_keys(user_id: str, text: str) -> list[int]:
    """The sorted, distinct, signed 32-bit keys of a text's grams among one user's cards."""
    scope = USERS[user_id]
    return sorted({scope ^ GRAMS[gram] for gram in grams(text)})


def probe_keys(user_id: str, word: str, least: float) -> list[int]:
    """Keys of enough of a word's trigrams that each word of the user at least this similar has one of them.

    Of ``n`` trigrams such a word shares ``least * n`` or more, so one fewer can be left out: those at the ends,
    which most words share with some.
    """
    cut = tuple(dict.fromkeys(_trigrams(word)))
    wanted = grams(word)
    if wanted == set(cut):
        spare = max(0, ceil(least * len(cut)) - 1)
        wanted = wanted.difference((cut[0], cut[-1], cut[1])[:spare])
    scope = USERS[user_id]
    return sorted({scope ^ GRAMS[gram] for gram in wanted})


def similarity(question: AbstractSet[str], text: AbstractSet[str]) -> float:
    """How much of the question a text holds, 0 to 1, a little less for every gram it holds besides.

    The share of the question's grams, to the power 0.8, times the share of the text's, to the power
    0.2. Shared by union, as pg_trgm has it, punishes a long card for answering a short question
    (recall@10 of .34 against .46 in English); the question's share alone lets the longest card win
    (.21 against .33 in Chinese).
    """
    shared = len(question & text)
    if not shared:
        return 0.0
    return float((shared / len(question)) ** 0.8 * (shared / len(text)) ** 0.2)
