"""What belongs to what was found: one hop from the best cards of the other channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from psycopg import AsyncConnection

from retrieval.channels.channel import Hit, search_statement
from retrieval.query.question import Question
from retrieval.query.scope import OWNER, Scope

SEEDS = 5
SEEN = 10  # of each channel's hits: what these hold, the graph need not find
_LIMIT = 30
_RELATION = 1.0
_ENTITY = 0.5
_CONCEPT = 0.5
_BESIDE = 0.5
_IMPLIED_SHARE = 0.2  # with more than that, neighbours push out what they were found by (docs/benchmarks.md)


class GraphChannel:
    """Relations, states of the same entity or concept, and what was said just before and after.

    It knows nothing of the question and only widens what the others found. So it leaves alone what is among
    their best, a card that somebody related to one of those gets its whole vote, and one that merely stands
    near gets a small part of it.
    """

    name = "graph"

    def __init__(self, seeds: Sequence[UUID] = (), seen: Sequence[UUID] = ()) -> None:
        self._seeds = list(seeds)
        self._seen = list(seen)

    def around(self, seeds: Sequence[UUID], seen: Sequence[UUID]) -> GraphChannel:
        """This channel, looking from ``seeds``, the best first, for what is not among ``seen``."""
        return GraphChannel(seeds[:SEEDS], seen)

    def weight(self, question: Question, scope: Scope) -> float:
        """Half a vote."""
        return 0.5

    def warm(self) -> None:
        """Nothing to load."""

    def silent(self, question: Question) -> bool:
        """Whether there is nothing to look around."""
        return not self._seeds

    async def search(self, connection: AsyncConnection[Any], question: Question, scope: Scope) -> list[Hit]:
        cursor = await connection.execute(
            search_statement("graph"),
            {
                **scope.parameters(),
                "seeds": self._seeds,
                "seen": self._seen,
                "owner": OWNER,
                "relation": _RELATION,
                "entity": _ENTITY,
                "concept": _CONCEPT,
                "beside": _BESIDE,
                "limit": _LIMIT,
            },
        )
        return [
            Hit(card_id, score, 1.0 if related else _IMPLIED_SHARE)
            for card_id, score, related in await cursor.fetchall()
        ]
