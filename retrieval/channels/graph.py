"""Graph search: one hop from the best cards of the other channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from psycopg import AsyncConnection

from retrieval.channels.channel import Hit, search_statement
from retrieval.query.question import Question
from retrieval.query.scope import OWNER, Scope

SEEDS = 5
SEEN = 10  # the best hits of each channel, which the graph does not return again
_LIMIT = 30
_RELATION = 1.0
_ENTITY = 0.5
_CONCEPT = 0.5
_BESIDE = 0.5
_IMPLIED_SHARE = (
    0.2  # with a greater share, neighbours push out the cards that led to them (docs/benchmarks.md)
)


class GraphChannel:
    """Finds related cards, states of the same entity or concept, and the turns just before and after.

    The channel does not read the question. It only widens the results of the other channels, so it skips their best
    hits. A card with a stated relation to a seed gets the whole vote. A card that is only near a seed gets a small
    part of the vote.
    """

    name = "graph"

    def __init__(self, seeds: Sequence[UUID] = (), seen: Sequence[UUID] = ()) -> None:
        self._seeds = list(seeds)
        self._seen = list(seen)

    def around(self, seeds: Sequence[UUID], seen: Sequence[UUID]) -> GraphChannel:
        """Returns this channel with ``seeds`` (the best first) to start from and ``seen`` to skip."""
        return GraphChannel(seeds[:SEEDS], seen)

    def weight(self, question: Question, scope: Scope) -> float:
        """Half a vote."""
        return 0.5

    def warm(self) -> None:
        """Does nothing: there is nothing to load."""

    def close(self) -> None:
        """Does nothing: there is nothing to let go."""

    def silent(self, question: Question) -> bool:
        """True when there is no seed."""
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
