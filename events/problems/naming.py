"""Compares the words that name a problem. "My high morning sugars" names "morning sugars"."""

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import TypeVar

from events.language.chinese_script import to_simplified
from events.language.terms import stem
from events.language.values import word_set

_T = TypeVar("_T")
_LONGEST = 2000
_LATIN = re.compile(r"[a-z0-9]+")
_ANY = re.compile(r"[a-z0-9]+|[^\W_]")
_HAN = re.compile("[\u3400-\u9fff\uf900-\ufaff]+")
# Words that say that something is a problem, whose, or how bad, and not which one.
_EMPTY = word_set(
    "a an the my our your his her their i me we it its this that these those with of in on at to for from and or some "
    "any is are was be been being has have had very really so too much more most again still always keep keeps get "
    "gets getting got problem problems issue issues trouble troubles bad constant constantly terrible awful chronic "
    "severe mild nasty ongoing recurring lately recently about when after every all high"
)
_EMPTY_HAN = re.compile("[的我你他她它很太好总老一直最近常又有在了着也都还是这那]+|问题|毛病|困扰|情况")
_SAME = 0.6
_NAMES = 0.6


@lru_cache(maxsize=4096)
def words_of(text: str) -> frozenset[str]:
    """Returns the words that tell which problem ``text`` names: stems, and pairs of Chinese characters."""
    folded = to_simplified(text[:_LONGEST]).casefold().replace("’", "'").replace("'s ", " ")
    latin = [word for word in _LATIN.findall(folded) if len(word) > 1 or word.isdigit()]
    found = {stem(word) for word in latin if word not in _EMPTY} or {stem(word) for word in latin}
    for run in _HAN.findall(folded):
        for part in _EMPTY_HAN.split(run):
            if part:
                found.update(part[at : at + 2] for at in range(max(1, len(part) - 1)))
    return frozenset(found)


def same(one: str, other: str) -> bool:
    """True when two descriptions tell of one problem. "Knee pain" and "back pain" are two."""
    return _alike(words_of(one), words_of(other)) >= _SAME


def equal(one: str, other: str) -> bool:
    """True when two approaches are one. A walk before dinner and one after it are two, so every word counts."""
    return _all_words(one) == _all_words(other)


def named(words: str, among: Iterable[tuple[str, _T]]) -> _T | None:
    """Returns the one of ``among`` (description, thing) that ``words`` name best, the last of equal ones.

    None when no description fits, or when two different ones fit equally well.
    """
    asked = words_of(words)
    best: list[tuple[float, frozenset[str], _T]] = []
    for description, thing in among:
        described = words_of(description)
        shared = len(asked & described)
        if not shared or shared / min(len(asked), len(described)) < _NAMES:
            continue
        score = _alike(asked, described)
        if best and score < best[0][0]:
            continue
        if best and score > best[0][0]:
            best.clear()
        best.append((score, described, thing))
    if not best or len({described for _, described, _ in best}) > 1:
        return None
    return best[-1][2]


@lru_cache(maxsize=4096)
def _all_words(text: str) -> tuple[str, ...]:
    folded = to_simplified(text[:_LONGEST]).casefold()
    return tuple(stem(word) if word.isascii() else word for word in _ANY.findall(folded))


def _alike(one: frozenset[str], other: frozenset[str]) -> float:
    """Returns the share of the words of both that both have."""
    together = one | other
    return len(one & other) / len(together) if together else 0.0
