"""Exact terms: every card that shares a word, tag, name or concept with the question, ranked by BM25."""

from __future__ import annotations

from typing import Any

from psycopg import AsyncConnection

from events.sql import statement
from projectors.cards.card import CONCEPT_TERM
from projectors.text.passages import BM25_B, BM25_K1
from projectors.text.terms import term_keys
from retrieval.channels.channel import Hit
from retrieval.question import Question
from retrieval.scope import Scope

_K1 = BM25_K1
_B = BM25_B
_BEFORE = 0.4  # how much a word of the turns before counts in a reply to them
_LIMIT = (
    20  # every hit is ranked and the best vote: further ones drown the other channels (R@5 .61 against .68)
)


class TagsChannel:
    """Needs no embedder and no extension; blind to what is said in other words."""

    name = "tags"

    def weight(self, question: Question) -> float:
        """Always an ordinary vote."""
        return 1.0

    def warm(self) -> None:
        """Nothing to load."""

    async def search(self, connection: AsyncConnection[Any], question: Question, scope: Scope) -> list[Hit]:
        weights = dict(question.weights) | {CONCEPT_TERM + key: 1.0 for key in question.concepts}
        terms = list(weights)
        if not terms:
            return []
        cursor = await connection.execute(
            statement("retrieval.channels", "tags"),
            {
                **scope.parameters(),
                "keys": term_keys(scope.user_id, terms),
                "weights": list(weights.values()),
                "k1": _K1,
                "b": _B,
                "before": _BEFORE,
                "limit": _LIMIT,
            },
        )
        return [Hit(*row) for row in await cursor.fetchall()]
