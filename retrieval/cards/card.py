"""Cards as readers return them, and the row factories that make them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any, Literal, TypeVar
from uuid import UUID

from psycopg.rows import AsyncRowFactory, kwargs_row

from events.types.cards import SourceSpan
from projectors.cards.arbitration import Status
from projectors.cards.card import Card, Kind
from retrieval.cards.chain import RelationEdge

CardStatus = Literal["current", "future", "superseded", "contested", "retracted"]
_C = TypeVar("_C", bound=Card)
_EDGE_FIELDS = tuple(field.name for field in fields(RelationEdge))


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedCard(Card):
    """A card of a slice, with its status at the instant of the slice."""

    status: CardStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class CardBrief:
    """One side of a contradiction."""

    card_id: UUID
    kind: Kind
    content: str
    value: str | None
    effective_at: datetime | None
    occurred_at: datetime | None
    turn_ids: list[str]


def brief(card: Card) -> CardBrief:
    """Returns the card as a side of a contradiction."""
    return CardBrief(
        card_id=card.card_id,
        kind=card.kind,
        content=card.content,
        value=card.value,
        effective_at=card.effective_at,
        occurred_at=card.occurred_at,
        turn_ids=card.turn_ids,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CardSummary:
    """A card in short, as the neighbour of another card."""

    card_id: UUID
    kind: Kind
    content: str
    entity: str | None
    concept_key: str | None
    value: str | None
    status: CardStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class RelationOfCard(RelationEdge):
    """An edge as one of its cards sees it. ``other`` is None when the other card is unknown."""

    direction: Literal["out", "in"]
    other: CardSummary | None


@dataclass(frozen=True, slots=True)
class CardLinks:
    """The cards that belong to a card without an edge."""

    related: list[CardSummary]
    episode: list[CardSummary]
    gave_rise_to: list[CardSummary]


@dataclass(frozen=True, slots=True, kw_only=True)
class CardUpdate:
    """A card whose value or content a later statement overwrote in place."""

    card_id: UUID
    changed_at: datetime
    old_value: str
    new_value: str
    old_content: str
    reason: str
    event_id: UUID


@dataclass(frozen=True, slots=True)
class CardHistory:
    """The cards of one identity in order of time, their updates in place, and the edges between the cards."""

    cards: list[ListedCard]
    updates: list[CardUpdate]
    relations: list[RelationEdge]


@dataclass(frozen=True, slots=True, kw_only=True)
class Arbitration:
    """A conflict, open or settled. ``evidence`` holds the turns and quotes of both sides."""

    arbitration_id: UUID
    project_id: str
    entity: str
    concept_key: str
    old_card: UUID
    new_card: UUID
    old_value: str
    new_value: str
    reason: str
    evidence: dict[str, Any]
    status: Status
    opened_at: datetime
    settled_at: datetime | None


def summary(card: ListedCard) -> CardSummary:
    """Returns a card in short."""
    return CardSummary(
        card_id=card.card_id,
        kind=card.kind,
        content=card.content,
        entity=card.entity,
        concept_key=card.concept_key,
        value=card.value,
        status=card.status,
    )


def seen_from(card: UUID, edge: RelationEdge, other: ListedCard | None) -> RelationOfCard:
    """Returns an edge as ``card`` sees it, with the card at its other end."""
    return RelationOfCard(
        **{name: getattr(edge, name) for name in _EDGE_FIELDS},
        direction="out" if edge.from_card == card else "in",
        other=None if other is None else summary(other),
    )


def card_row(card_class: type[_C]) -> AsyncRowFactory[_C]:
    """Returns the row factory for queries that select the fields of ``card_class`` by name."""
    make: Callable[..., _C] = card_class

    def made(*, source_span: dict[str, Any] | None, **columns: Any) -> _C:
        return make(source_span=None if source_span is None else SourceSpan(**source_span), **columns)

    return kwargs_row(made)


def by_id(cards: list[_C]) -> dict[UUID, _C]:
    return {card.card_id: card for card in cards}
