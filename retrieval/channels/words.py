"""The channels of words: exact terms, misspelt words, and the words of a time.

A misspelt word of a question is corrected to the words one edit away among those of the user's cards.
"""

import re
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from string import ascii_lowercase
from uuid import UUID

from psycopg import AsyncConnection

from events.language.ngrams import probe_keys
from events.language.terms import analyse, fold, stem, term_keys
from events.platform.database import statement
from projectors.cards.card_rows import CONCEPT_TERM, pair_keys
from projectors.generations.copy_format import as_array
from retrieval.channels.channel import Channel, Hit, assistant_share, found_rows, searched
from retrieval.query.question import Question
from retrieval.query.scope import Scope

BM25_K1, BM25_B = 0.9, 0.6
"""BM25's saturation and length normalisation. Quality is flat for k1 from 0.5 to 1.5 and for b from 0.3 to 0.75, in
English and Chinese."""
_BEFORE = 0.4  # the weight of a word from the turns before, in a reply to them
_TERM_LIMIT = 60
_RANKED = 2_000  # the hits of a common word that are ranked, when no other word finds a card
CONCEPT_WEIGHT = 0.5  # of the concept that a question asks for, beside 1 for a word
_MEANT = 0.7  # the weight of a correction of a misspelt word
_WORD = re.compile(r"[a-z]{5,32}")  # an edit of a shorter word is too often another word
_CORRECTED = 8  # words of a question that are corrected at most: each has some 400 edits, which take 0.3 ms
_FUZZY_LIMIT = 20
# The least trigram similarity of two words that count as similar. Two swapped letters leave about a third.
_LEAST_WORD = 0.27
_LEAST_PAIRS = 0.25  # the least share of the question's character pairs that a card must hold
_TIME_LIMIT = 50
_EARLIEST, _LATEST = datetime(1, 1, 2, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)
# The best hits among whose terms common words are looked for, and the latest cards of a window that are read although
# they share no selective term.
_LOOKED_AT = 500


class TagsChannel(Channel):
    """Finds exact terms. It needs no embedder and no extension, and it does not find synonyms."""

    name = "tags"

    async def search(self, connection: AsyncConnection, question: Question, scope: Scope) -> list[Hit]:
        best: dict[UUID, tuple[int, Hit]] = {}
        for part in question.parts:
            hits, absent = await self._part(connection, part, question, scope)
            others = await suggest_terms(connection, scope.user_id, question, part, absent)
            if others:
                hits, _ = await self._part(connection, _with_meant(part, others), question, scope)
            # A question may ask two things. The best card of each part gets the same rank.
            for rank, hit in enumerate(hits):
                if hit.card_id not in best or rank < best[hit.card_id][0]:
                    best[hit.card_id] = (rank, hit)
        return [hit for _, hit in sorted(best.values(), key=lambda each: each[0])][:_TERM_LIMIT]

    async def _part(
        self, connection: AsyncConnection, part: Mapping[str, float], question: Question, scope: Scope
    ) -> tuple[list[Hit], Collection[str] | None]:
        """Returns the hits, and the terms that no card holds. None: nothing was found, so the search cannot tell."""
        weights = dict(part) | {CONCEPT_TERM + key: CONCEPT_WEIGHT for key in question.concepts}
        if not weights:
            return [], ()
        keys = term_keys(scope.user_id, weights)
        values = {
            "assistant": assistant_share(question),
            "keys": keys,
            "weights": list(weights.values()),
            "k1": BM25_K1,
            "b": BM25_B,
            "before": _BEFORE,
            "ranked": _RANKED,
            "looked_at": _LOOKED_AT,
            "limit": _TERM_LIMIT,
        }
        rows = await found_rows(connection, "tags", scope, values)
        rows = rows or await found_rows(connection, "common_tags", scope, values)
        if not rows:
            return [], None
        none_holds = set(rows[0][2])
        absent = [term for term, key in zip(weights, keys, strict=True) if key in none_holds]
        return [Hit(card_id, score) for card_id, score, _ in rows], absent


def _with_meant(part: Mapping[str, float], others: Mapping[str, Collection[str]]) -> Mapping[str, float]:
    """Returns the part together with the corrections of its misspelt words."""
    added = {
        other: _MEANT * weight
        for term, weight in part.items()
        for other in others.get(term, ())
        if other not in part
    }
    return {**part, **added}


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
    for word, term in unknown[:_CORRECTED]:
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


class FuzzyChannel(Channel):
    """Scores a card by its word similarity or by its share of the question's character pairs, whichever is greater."""

    name = "fuzzy"

    async def search(self, connection: AsyncConnection, question: Question, scope: Scope) -> list[Hit]:
        words = [term for term in question.terms if term.isascii() and len(term) >= 3]
        pairs = pair_keys(scope.user_id, "".join(question.terms))
        if not words and not pairs:
            return []
        return await searched(
            connection,
            "fuzzy",
            scope,
            {
                "assistant": assistant_share(question),
                "words": words,
                "word_probes": [as_array(probe_keys(scope.user_id, word, _LEAST_WORD)) for word in words],
                "pairs": pairs,
                "least_word": _LEAST_WORD,
                "least_pairs": _LEAST_PAIRS,
                "looked_at": _LOOKED_AT,
                "limit": _FUZZY_LIMIT,
            },
        )


class TimeChannel(Channel):
    """Finds cards inside the question's time window, ordered by the question's words. Silent without a time."""

    name = "time"

    def silent(self, question: Question) -> bool:
        """True when the question names no time."""
        return question.span is None

    async def search(self, connection: AsyncConnection, question: Question, scope: Scope) -> list[Hit]:
        span = question.span
        assert span is not None, "a silent channel is not searched"
        return await searched(
            connection,
            "time",
            scope,
            {
                "assistant": assistant_share(question),
                "from": span.start or _EARLIEST,
                "to": span.end or _LATEST,
                "keys": term_keys(scope.user_id, question.terms),
                "looked_at": _LOOKED_AT,
                "limit": _TIME_LIMIT,
            },
        )
