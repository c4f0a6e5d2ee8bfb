"""Cards as readers return them, and the row factories that make them."""

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any, TypeVar
from uuid import UUID

from psycopg import AsyncCursor
from psycopg.rows import AsyncRowFactory

from events.resources.cards import CardStatus, CardSummary, Relation
from events.types.cards import SourceSpan
from events.types.records import record
from projectors.cards.card import Card
from retrieval.cards.chain import RelationEdge

_C = TypeVar("_C", bound=Card)


@record
class ListedCard(Card):
    """A card of a slice, with its status at the instant of the slice."""

    status: CardStatus


def seen_from(card: UUID, edge: RelationEdge, other: ListedCard | None) -> Relation:
    """Returns an edge as ``card`` sees it, with the card at its other end."""
    return Relation.made_from(
        edge,
        direction="out" if edge.from_card == card else "in",
        other=None if other is None else CardSummary.made_from(other),
    )


def card_row(card_class: type[_C]) -> AsyncRowFactory[_C]:
    """Returns the row factory for queries that select all fields of ``card_class`` by name.

    The fields of a card are set one by one: a call with fifty keyword arguments takes three times as long.
    """
    setters = {field.name: getattr(card_class, field.name).__set__ for field in fields(card_class)}

    def factory(cursor: AsyncCursor[Any]) -> Callable[[Sequence[Any]], _C]:
        result = cursor.pgresult  # its description would make an object for each column
        names = [] if result is None else [(result.fname(at) or b"").decode() for at in range(result.nfields)]
        if missing := setters.keys() - names:
            raise TypeError(f"the query selects no {', '.join(sorted(missing))}")
        put = [setters[name] for name in names]
        span = names.index("source_span")

        def made(values: Sequence[Any]) -> _C:
            card = object.__new__(card_class)
            for set_field, value in zip(put, values, strict=True):
                set_field(card, value)
            if values[span] is not None:
                setters["source_span"](card, SourceSpan(**values[span]))
            return card

        return made

    return factory


def by_id(cards: list[_C]) -> dict[UUID, _C]:
    return {card.card_id: card for card in cards}
