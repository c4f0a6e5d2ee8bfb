"""What people and agents say of cards and of the conflicts between them, after the turns were read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from events.types.codec import event_type

CardKind = Literal["state", "event", "knowledge"]
Verdict = Literal["keep_old", "accept_new", "coexist"]


@event_type(version=1)
@dataclass(frozen=True, slots=True, kw_only=True)
class CardVerified:
    """Somebody confirmed, at the event's ``occurred_at``, that ``card_id`` is still right.

    ``card_id`` may be any statement the card rests on. ``identity`` is what the confirmer took it to be
    about, for people; nothing is folded from it.
    """

    card_id: UUID
    kind: CardKind
    by: str
    identity: str | None = None
    note: str | None = None


@event_type(version=1)
@dataclass(frozen=True, slots=True, kw_only=True)
class ConflictRuled:
    """An arbitration was decided. ``arbitration_id`` is the event of the statement that contested a fact."""

    arbitration_id: UUID
    verdict: Verdict
    reason: str
    by: str
