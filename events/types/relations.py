"""The events that add and withdraw relations between cards."""

from hashlib import sha256
from typing import Literal
from uuid import UUID

from events.types.codec import event_type

Predicate = Literal[
    "update", "state_change", "expands", "qualifies", "contradicts", "retracts", "same_as",
    "parent_of", "related_to", "affects_state",
]  # fmt: skip


def relation_stream(from_card: UUID, predicate: Predicate, to_card: UUID) -> str:
    return f"relation/{sha256(f'{from_card}/{predicate}/{to_card}'.encode()).hexdigest()[:32]}"


@event_type(version=1)
class CardsConnected:
    """``from_card`` has the relation ``predicate`` to ``to_card``. The event changes neither card."""

    from_card: UUID
    to_card: UUID
    predicate: Predicate
    reason: str
    confidence: float = 1.0


@event_type(version=1)
class ConnectionWithdrawn:
    """An earlier relation no longer holds. Its event stays in the log. ``reason`` says why the relation ended."""

    from_card: UUID
    to_card: UUID
    predicate: Predicate
    reason: str
