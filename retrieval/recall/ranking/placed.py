"""A card in the ranking, with its votes and the factors that multiply them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import prod
from uuid import UUID

_JUST_ABOVE = 1.001


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

    def just_above(self, other: Placed, reason: str) -> Placed:
        """Returns the card with a score just above that of ``other``. A card without votes keeps its score."""
        return self.times(reason, other.score / self.score * _JUST_ABOVE if self.score > 0 else 1.0)

    def order(self) -> tuple[float, UUID]:
        """The sort key: best first, ties by id."""
        return -self.score, self.card_id
