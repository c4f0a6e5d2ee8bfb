"""How edges between cards are read: what is latest, what is the same, what was taken back. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

SUPERSEDING = ("update", "state_change")  # newer -> older; what is true now is at the end of the chain


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationEdge:
    """``from_card`` stands in relation ``predicate`` to ``to_card``; ``implied`` by a timeline, or said."""

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
    """The cards that say the same thing, by each of them; who is like nobody is not in it."""
    groups: dict[UUID, frozenset[UUID]] = {}
    for edge in edges:
        if edge.predicate == "same_as":
            ends = (edge.from_card, edge.to_card)
            group = frozenset(ends).union(*(groups.get(card, frozenset()) for card in ends))
            groups.update(dict.fromkeys(group, group))
    return groups


def duplicates(edges: Iterable[RelationEdge]) -> list[UUID]:
    """Of the cards that say the same thing, all but the one recorded first (ids are in order of time)."""
    return sorted({card for card, group in same(edges).items() if card != min(group)})


def latest_in_chain(
    card: UUID, edges: Iterable[RelationEdge], begun: Callable[[UUID], datetime | None]
) -> tuple[UUID, ...]:
    """The way from ``card`` to what is true now, along update and state_change; the last one is the answer.

    ``begun`` says since when a card counts, None for one that does not (not yet, retracted, unknown).
    Where several cards supersede one, the one that begins last wins. Cards that are the same stand for
    each other. Ends for any edges, cyclic ones too.
    """
    known = list(edges)
    groups = same(known)
    newer: dict[UUID, set[UUID]] = {}
    for edge in known:
        if edge.predicate in SUPERSEDING:
            newer.setdefault(edge.to_card, set()).add(edge.from_card)
    way, seen = [card], set(groups.get(card, (card,)))
    while True:
        here = way[-1]
        counting = [
            (instant, other)
            for twin in groups.get(here, (here,))
            for other in newer.get(twin, ())
            if other not in seen and (instant := begun(other)) is not None
        ]
        if not counting:
            return tuple(way)
        _, following = max(counting)
        way.append(following)
        seen.update(groups.get(following, (following,)))
