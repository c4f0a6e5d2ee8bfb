"""Search by exact terms: cards that share a word, tag, name or concept with the question, ranked by BM25."""

from collections.abc import Collection, Mapping
from uuid import UUID

from psycopg import AsyncConnection

from events.language.terms import term_keys
from projectors.cards.card_rows import CONCEPT_TERM
from retrieval.channels.channel import Channel, Hit, assistant_share, found_rows
from retrieval.query.question import Question
from retrieval.query.scope import Scope
from retrieval.query.spelling import suggest_terms

BM25_K1, BM25_B = 0.9, 0.6
"""BM25's saturation and length normalisation. Quality is flat for k1 from 0.5 to 1.5 and for b from 0.3 to 0.75, in
English and Chinese."""
_BEFORE = 0.4  # the weight of a word from the turns before, in a reply to them
_LIMIT = 60
_RANKED = 2_000  # the hits of a common word that are ranked, when no other word finds a card
CONCEPT_WEIGHT = 0.5  # of the concept that a question asks for, beside 1 for a word
_MEANT = 0.7  # the weight of a correction of a misspelt word


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
        return [hit for _, hit in sorted(best.values(), key=lambda each: each[0])][:_LIMIT]

    async def _part(
        self, connection: AsyncConnection, part: Mapping[str, float], question: Question, scope: Scope
    ) -> tuple[list[Hit], Collection[str] | None]:
        """Returns the hits, and the terms that no card holds. None: nothing was found, so the search cannot tell."""
        weights = dict(part) | {CONCEPT_TERM + key: CONCEPT_WEIGHT for key in question.concepts}
        if not weights:
            return [], ()
        keys = term_keys(scope.user_id, weights)
        rows = await found_rows(
            connection,
            "tags",
            scope,
            {
                "assistant": assistant_share(question),
                "keys": keys,
                "weights": list(weights.values()),
                "k1": BM25_K1,
                "b": BM25_B,
                "before": _BEFORE,
                "ranked": _RANKED,
                "limit": _LIMIT,
            },
        )
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
