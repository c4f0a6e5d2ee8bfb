"""The edges between cards: the latest card of a chain, and cards that are the same. Pure functions."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from projectors.cards.connections import SUPERSEDING


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationEdge:
    """``from_card`` stands in relation ``predicate`` to ``to_card``. Implied by a timeline, or stated by an actor."""

    from_card: UUID
    to_card: UUID
    predicate: str
    reason: str = ""
    confidence: float = 1.0
    implied: bool = False
    refused: bool = False
    actor: str = ""
    event_id: UUID | None = None
    created_at: datetime | None = None


def same(edges: Iterable[RelationEdge]) -> dict[UUID, frozenset[UUID]]:
    """Returns the groups of cards that say the same, by card. A card without an equal is absent."""
    groups: dict[UUID, frozenset[UUID]] = {}
    for edge in edges:
        if edge.predicate == "same_as":
            ends = (edge.from_card, edge.to_card)
            group = frozenset(ends).union(*(groups.get(card, frozenset()) for card in ends))
            groups.update(dict.fromkeys(group, group))
    return groups


def duplicates(edges: Iterable[RelationEdge]) -> list[UUID]:
    """Returns every card that repeats an earlier card. Ids are in order of time."""
    return sorted({card for card, group in same(edges).items() if card != min(group)})


class Chains:
    """The chains of ``edges`` along update and state_change."""

    def __init__(self, edges: Iterable[RelationEdge]) -> None:
        known = list(edges)
        self._groups = same(known)
        self._newer: dict[UUID, set[UUID]] = {}
        for edge in known:
            if edge.predicate in SUPERSEDING:
                self._newer.setdefault(edge.to_card, set()).add(edge.from_card)

    def latest(self, card: UUID, begun: Callable[[UUID], datetime | None]) -> tuple[UUID, ...]:
        """Returns the chain from ``card`` to the card that is true now.

        ``begun`` returns the instant from which a card counts, or None for a card that does not count (future,
        retracted, unknown). Of several superseding cards, the one that begins last is next. Cards that are the same
        stand for each other. The method ends for cyclic edges too.
        """
        way, seen = [card], set(self._groups.get(card, (card,)))
        while True:
            here = way[-1]
            counting = [
                (instant, other)
                for twin in self._groups.get(here, (here,))
                for other in self._newer.get(twin, ())
                if other not in seen and (instant := begun(other)) is not None
            ]
            if not counting:
                return tuple(way)
            _, following = max(counting)
            way.append(following)
            seen.update(self._groups.get(following, (following,)))
