"""Selects the rules for a sentence by their trigger words, before any pattern runs."""

from __future__ import annotations

import re
from collections.abc import Iterable

from events.language.values import word_set
from ingest.extraction.rules.chinese import pattern_rules as chinese
from ingest.extraction.rules.english import pattern_rules as english
from ingest.extraction.rules.scene import Rule
from ingest.extraction.rules.sentences import Sentence

_CORRECTING = word_set("meant mean typo correction oops whoops misspoke make scratch bad mistake sorry wait")
_CORRECTING_ZH = re.compile("错|口误|笔误|更正|不对|我是|意思|不是|抱歉|不好意思")


def _by_word(rules: Iterable[Rule]) -> dict[str, tuple[int, ...]]:
    table: dict[str, list[int]] = {}
    for index, one in enumerate(rules):
        for word in one.words:
            table.setdefault(word, []).append(index)
    return {word: tuple(indexes) for word, indexes in table.items()}


_ENGLISH_BY_WORD = _by_word(english.RULES)
_CHINESE_BY_WORD = _by_word(chinese.RULES)
# Indexed by first character: a sentence has about twenty different characters, and there are ten times as many words.
_CHINESE_BY_CHARACTER = {
    first: tuple(one for one in _CHINESE_BY_WORD.items() if one[0][0] == first)
    for first in {word[0] for word in _CHINESE_BY_WORD}
}


def may_correct(sentence: Sentence) -> bool:
    """Returns True when a word of the sentence may introduce a correction."""
    if sentence.chinese:
        return _CORRECTING_ZH.search(sentence.plain) is not None
    return not _CORRECTING.isdisjoint(sentence.words)


def triggered(sentence: Sentence) -> list[int]:
    """Returns the sorted indexes, in their table, of the rules whose trigger words are in the sentence."""
    if sentence.chinese:
        text = sentence.plain
        found: set[int] = set()
        for character in _CHINESE_BY_CHARACTER.keys() & set(text):
            for word, indexes in _CHINESE_BY_CHARACTER[character]:
                if word in text:
                    found.update(indexes)
        return sorted(found)
    found = {index for word in sentence.words & _ENGLISH_BY_WORD.keys() for index in _ENGLISH_BY_WORD[word]}
    if not sentence.words.isdisjoint(_DIGITS):
        found.update(_ENGLISH_BY_WORD["#"])
    return sorted(found)


_DIGITS = frozenset("0123456789")
