"""Graph search: one hop from the best cards of the other channels."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import islice
from uuid import UUID

from psycopg import AsyncConnection

from retrieval.channels.channel import Channel, Hit, searched
from retrieval.query.question import Question
from retrieval.query.scope import OWNER, Scope

SEEDS = 12
_LIMIT = 60
_ENTITY = 0.5  # strengths beside the 1 of a stated relation
_CONCEPT = 0.5


class GraphChannel(Channel):
    """Finds related cards, states of the same entity or concept, and the turns just before and after.

    The channel does not read the question. It looks around the best hits of the other channels, its seeds. A link
    counts its own strength times the strength of its seed. A turn that stands two turns from its seed counts half.
    """

    name = "graph"

    def __init__(self, seeds: Mapping[UUID, float] | None = None) -> None:
        self._seeds = dict(seeds or {})

    def around(self, seeds: Mapping[UUID, float]) -> GraphChannel:
        """Returns this channel with the cards to start from and their strengths (0 to 1), the best first."""
        return GraphChannel(dict(islice(seeds.items(), SEEDS)))

    def silent(self, question: Question) -> bool:
        """True when there is no seed."""
        return not self._seeds

    async def search(self, connection: AsyncConnection, question: Question, scope: Scope) -> list[Hit]:
        return await searched(
            connection,
            "graph",
            scope,
            {
                "seeds": list(self._seeds),
                "strengths": list(self._seeds.values()),
                "owner": OWNER,
                "entity": _ENTITY,
                "concept": _CONCEPT,
                "limit": _LIMIT,
            },
        )
