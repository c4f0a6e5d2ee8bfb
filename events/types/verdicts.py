"""The events in which people and agents verify cards and decide arbitrations."""

from typing import Literal
from uuid import UUID

from events.types.codec import event_type

CardKind = Literal["state", "event", "knowledge"]
Verdict = Literal["keep_old", "accept_new", "coexist"]


@event_type(version=1)
class CardVerified:
    """A person or an agent confirmed at the event's ``occurred_at`` that the card ``card_id`` is still right.

    ``card_id`` may be any statement that the card rests on. ``identity`` is a description for people; projections
    do not use it.
    """

    card_id: UUID
    kind: CardKind
    by: str
    identity: str | None = None
    note: str | None = None


@event_type(version=1)
class ConflictRuled:
    """An arbitration was decided. ``arbitration_id`` is the event id of the contested statement."""

    arbitration_id: UUID
    verdict: Verdict
    reason: str
    by: str
