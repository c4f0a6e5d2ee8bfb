"""The events that add and withdraw relations between cards."""

from dataclasses import dataclass
from hashlib import sha256
from typing import Literal
from uuid import UUID, uuid5

from events.types.codec import event_type

Predicate = Literal[
    "update", "state_change", "expands", "qualifies", "contradicts", "retracts", "same_as",
    "parent_of", "related_to", "affects_state",
]  # fmt: skip


def relation_stream(from_card: UUID, predicate: Predicate, to_card: UUID) -> str:
    """Returns the stream of the events about a relation."""
    ends = f"{from_card}/{predicate}/{to_card}"
    return f"relation/{sha256(ends.encode()).hexdigest()[:32]}"


def retraction_of(card_id: UUID) -> UUID:
    """Returns the id that stands for who retracts a card when no other card takes its place."""
    return uuid5(card_id, "retraction")


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """What the events about a relation share."""

    from_card: UUID
    to_card: UUID
    predicate: Predicate
    reason: str

    @property
    def stream(self) -> str:
        """The stream of the events about this relation."""
        return relation_stream(self.from_card, self.predicate, self.to_card)


@event_type(version=1)
class CardsConnected(Relation):
    """``from_card`` has the relation ``predicate`` to ``to_card``. The event changes neither card."""

    confidence: float = 1.0


@event_type(version=1)
class ConnectionWithdrawn(Relation):
    """An earlier relation no longer holds. Its event stays in the log. ``reason`` says why the relation ended."""
