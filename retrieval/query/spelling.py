"""Finds corrections for misspelt words of a question, among the words of the user's cards."""

import re
from collections.abc import Collection
from string import ascii_lowercase

from psycopg import AsyncConnection

from events.language.terms import analyse, fold, stem
from events.platform.database import statement
from retrieval.query.question import Question

_WORD = re.compile(r"[a-z]{5,32}")  # an edit of a shorter word is too often another word
_MOST = 8  # the words of a question that are corrected at most: each has some 400 edits, which take 0.3 ms


def edits1(word: str) -> set[str]:
    """Returns the spellings one edit away: two letters swapped, one removed, one replaced, or one added."""
    cuts = [(word[:place], word[place:]) for place in range(len(word) + 1)]
    found = {a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1}
    found |= {a + b[1:] for a, b in cuts if b}
    found |= {a + letter + b[1:] for a, b in cuts if b for letter in ascii_lowercase}
    found |= {a + letter + b for a, b in cuts for letter in ascii_lowercase}
    return found - {word}


async def suggest_terms(
    connection: AsyncConnection,
    user_id: str,
    question: Question,
    asked: Collection[str],
    absent: Collection[str] | None,
) -> dict[str, Collection[str]]:
    """Returns, for each ``absent`` term among those ``asked``, the user's terms that are one edit away.

    No card of the user holds an absent term; None: this is not known, and takes a lookup in the user's words.
    """
    if absent is None:
        absent = set(asked) - await _known(connection, user_id, asked)
    unknown = [
        (word, terms[0])
        for word in (dict.fromkeys(_WORD.findall(fold(question.text))) if absent else ())
        if len(terms := analyse(word)) == 1 and terms[0] in absent
    ]
    near: dict[str, set[str]] = {}
    for word, term in unknown[:_MOST]:
        near.setdefault(term, set()).update(map(stem, edits1(word)))
    known = await _known(connection, user_id, set().union(*near.values()))
    return {term: sorted(others & known) for term, others in near.items() if others & known}


async def _known(connection: AsyncConnection, user_id: str, words: Collection[str]) -> set[str]:
    if not words:
        return set()
    cursor = await connection.execute(
        statement("retrieval.query", "known_words"), {"user_id": user_id, "words": list(words)}
    )
    return {row[0] for row in await cursor.fetchall()}
