"""N-grams of words, for fuzzy search: they find misspelt, truncated and joined words.

Latin words give padded trigrams as in pg_trgm ("cat": "  c", " ca", "cat", "at "). Writing without spaces gives pairs
of characters. Cards and questions are folded like terms, so 臺灣 and 台湾 share pairs.
"""

import re
from functools import lru_cache
from math import ceil

from events.language.terms import GRAMS, RUNS, USERS, fold

_WORD = re.compile(r"[^\W_]+")
_LONGEST = 64


def grams(text: str, *, spaced: bool = True) -> set[str]:
    """Returns the distinct n-grams of a text. A lone character of writing without spaces is an n-gram.

    Without ``spaced`` the n-grams of words between spaces are left out.
    """
    found: set[str] = set()
    for han, unspaced, words in RUNS.findall(fold(text)):
        run = han or unspaced
        found.update([run[index : index + 2] for index in range(len(run) - 1)] if len(run) > 1 else run)
        for word in _WORD.findall(words) if spaced else ():
            found.update(_trigrams(word) if len(word) <= _LONGEST else _cut(word))
    return found


@lru_cache(maxsize=16384)
def _trigrams(word: str) -> tuple[str, ...]:
    return _cut(word)


def _cut(word: str) -> tuple[str, ...]:
    padded = f"  {word} "
    return tuple(padded[index : index + 3] for index in range(len(padded) - 2))


def probe_keys(user_id: str, word: str, least: float) -> list[int]:
    """Returns the keys of some trigrams of ``word``. Every word of at least the similarity ``least`` has one of them.

    Such a word shares at least ``least * n`` of the ``n`` trigrams. The function can therefore leave out
    ``least * n - 1`` trigrams. It leaves out those at the ends, which are the most frequent.
    """
    cut = tuple(dict.fromkeys(_trigrams(word)))
    wanted = grams(word)
    if wanted == set(cut):
        spare = max(0, ceil(least * len(cut)) - 1)
        wanted = wanted.difference((cut[0], cut[-1], cut[1])[:spare])
    scope = USERS[user_id]
    return sorted({scope ^ GRAMS[gram] for gram in wanted})
