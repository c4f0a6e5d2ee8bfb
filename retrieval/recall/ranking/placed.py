"""A card with its place in a ranking."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Placed:
    """A card with its votes and the factors that multiply them, by reason."""

    card_id: UUID
    votes: float
    factors: Mapping[str, float]

    @property
    def score(self) -> float:
        return self.votes * prod(self.factors.values())

    def times(self, reason: str, factor: float) -> Placed:
        return replace(self, factors={**self.factors, reason: factor})

    def order(self) -> tuple[float, UUID]:
        """The sort key: best first, ties by id."""
        return -self.score, self.card_id
