"""Cards as readers return them, and the row factories that make them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar
from uuid import UUID

from psycopg.rows import AsyncRowFactory, kwargs_row

from events.resources.cards import CardStatus, CardSummary, CardUpdate, Relation
from events.types.cards import SourceSpan
from events.types.json_values import Json
from projectors.cards.card import Card
from retrieval.cards.chain import RelationEdge

_C = TypeVar("_C", bound=Card)


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedCard(Card):
    """A card of a slice, with its status at the instant of the slice."""

    status: CardStatus


@dataclass(frozen=True, slots=True)
class CardLinks:
    """The cards that belong to a card without an edge."""

    related: list[CardSummary]
    episode: list[CardSummary]
    gave_rise_to: list[CardSummary]


@dataclass(frozen=True, slots=True)
class CardHistory:
    """The cards of one identity in order of time, their updates in place, and the edges between the cards."""

    cards: list[ListedCard]
    updates: list[CardUpdate]
    relations: list[RelationEdge]


def seen_from(card: UUID, edge: RelationEdge, other: ListedCard | None) -> Relation:
    """Returns an edge as ``card`` sees it, with the card at its other end."""
    return Relation.made_from(
        edge,
        direction="out" if edge.from_card == card else "in",
        other=None if other is None else CardSummary.made_from(other),
    )


def card_row(card_class: type[_C]) -> AsyncRowFactory[_C]:
    """Returns the row factory for queries that select the fields of ``card_class`` by name."""
    make: Callable[..., _C] = card_class

    def made(*, source_span: dict[str, Json] | None, **columns: object) -> _C:
        return make(source_span=None if source_span is None else SourceSpan(**source_span), **columns)

    return kwargs_row(made)


def by_id(cards: list[_C]) -> dict[UUID, _C]:
    return {card.card_id: card for card in cards}
