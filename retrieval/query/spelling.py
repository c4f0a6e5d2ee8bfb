"""Misspelt words of a question: what they may have been, among the words the user's cards have."""

from __future__ import annotations

import re
from collections.abc import Collection
from string import ascii_lowercase
from typing import Any

from psycopg import AsyncConnection

from events.language.terms import analyse, fold, stem
from events.platform.sql import statement
from retrieval.query.question import Question

_WORD = re.compile(r"[a-z]{5,32}")  # an edit of a shorter word gives another word too often
_MOST = 8  # words of a question that are looked into: each has some 400 edits, which takes 0.3 ms


def edits1(word: str) -> set[str]:
    """The spellings one edit away: two letters swapped, one too many, one mistaken for another, one left out."""
    cuts = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    found = {a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1}
    found |= {a + b[1:] for a, b in cuts if b}
    found |= {a + letter + b[1:] for a, b in cuts if b for letter in ascii_lowercase}
    found |= {a + letter + b for a, b in cuts for letter in ascii_lowercase}
    return found - {word}


async def suggest_terms(
    connection: AsyncConnection[Any], user_id: str, question: Question
) -> dict[str, Collection[str]]:
    """For each term of a question that no card of the user has, the terms they have that it is one edit away from.

    Two look-ups in the user's words, the second only where a word is unknown.
    """
    spelt = {
        word: terms[0] for word in _WORD.findall(fold(question.text)) if len(terms := analyse(word)) == 1
    }
    spelt = {word: term for word, term in spelt.items() if term in question.weights}
    known = await _known(connection, user_id, spelt.values())
    unknown = [(word, term) for word, term in spelt.items() if term not in known]
    near: dict[str, set[str]] = {}
    for word, term in unknown[:_MOST]:
        near.setdefault(term, set()).update(map(stem, edits1(word)))
    known = await _known(connection, user_id, set().union(*near.values()))
    return {term: sorted(others & known) for term, others in near.items() if others & known}


async def _known(connection: AsyncConnection[Any], user_id: str, words: Collection[str]) -> set[str]:
    if not words:
        return set()
    cursor = await connection.execute(
        statement("retrieval.query", "known_words"), {"user_id": user_id, "words": list(words)}
    )
    return {row[0] for row in await cursor.fetchall()}
