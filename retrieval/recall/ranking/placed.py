"""A card in the ranking, with what each feature adds to its score."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from uuid import UUID


@dataclass(frozen=True, slots=True)
class Placed:
    """A card with the contributions to its score, by name. The score is their sum."""

    card_id: UUID
    contributions: Mapping[str, float]
    score: float

    @classmethod
    def of(cls, card_id: UUID, contributions: Mapping[str, float]) -> Placed:
        return cls(card_id, contributions, sum(contributions.values()))

    def plus(self, reason: str, amount: float) -> Placed:
        """Returns the card with ``amount`` added to its score for ``reason``."""
        return replace(
            self,
            contributions={**self.contributions, reason: self.contributions.get(reason, 0.0) + amount},
            score=self.score + amount,
        )

    def order(self) -> tuple[float, UUID]:
        """The sort key: best first, ties by id."""
        return -self.score, self.card_id
