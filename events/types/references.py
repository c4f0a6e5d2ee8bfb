"""The events of references: named, typed cells of mutable state.

The stream of a reference is ``reference/{scope}/{kind}/{key}``. The versions of the stream are the versions of the
reference. ``reference_id`` is the event id of its ``ReferenceCreated``. The events of a team's reference belong to the
team instead of a user (events/references/owners.py).
"""

from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from events.types.codec import event_type
from events.types.envelope import Event
from events.types.json_values import Json

Tier = Literal["pinned", "session", "archive"]
MAX_VERSION = 2**63 - 1
"""The last version that the log can count."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReferenceName:
    """What a reference is called. At most one of ``project_id`` and ``team_id`` is set.

    Without both, the reference is a user's own.
    """

    kind: str
    key: str
    project_id: str | None = None
    team_id: str | None = None


@event_type(version=1)
class ReferenceCreated:
    """A reference exists from now on. ``moved_from`` names the stream that it continues, when its scope changed."""

    name: ReferenceName
    data: Json
    rendering: str
    tier: Tier = "session"
    moved_from: str | None = None


@event_type(version=1)
class ReferenceChanged:
    """An op changed a reference. ``data`` is the complete value after the op, never a difference.

    ``derived`` is true when the op was found in prose. ``turn_ids`` name the turns it came from.
    """

    reference_id: UUID
    name: ReferenceName
    op: dict[str, Json]
    data: Json
    rendering: str
    tier: Tier
    turn_ids: tuple[str, ...] = ()
    derived: bool = False
    confidence: float | None = None
    quote: str | None = None


@event_type(version=1)
class ReferenceArchived:
    """A reference is put away by somebody. Ops are refused until a version is restored."""

    reference_id: UUID
    name: ReferenceName
    reason: str | None = None


@event_type(version=1)
class ReferenceMoved:
    """A reference has another scope from now on. This stream ends; the stream ``to_stream`` continues it."""

    reference_id: UUID
    name: ReferenceName
    to: ReferenceName
    to_stream: str


@event_type(version=1)
class ReferenceTierChanged:
    """A reference has another tier. ``reason`` says which use, or which person, moved it."""

    reference_id: UUID
    name: ReferenceName
    tier: Tier
    reason: str


@event_type(version=1)
class ReferenceProposed:
    """Prose asks for an op. The op waits for an answer, or it was applied at once when ``applied`` is true."""

    name: ReferenceName
    op: dict[str, Json]
    confidence: float
    quote: str
    turn_ids: tuple[str, ...]
    applied: bool = False


@event_type(version=1)
class ReferenceProposalAccepted:
    """Somebody approved a proposal. Its op was applied in the same transaction. ``proposal_id`` is its event id."""

    proposal_id: UUID
    by: str


@event_type(version=1)
class ReferenceProposalRefused:
    """Somebody refused a proposal. Nothing changed."""

    proposal_id: UUID
    by: str
    reason: str | None = None


@event_type(version=1)
class ReferenceKindDeclared:
    """A tenant has a kind of its own, or a new version of it. Older references keep the data they have."""

    kind: str
    description: str
    schema: dict[str, Json]
    initial: Json = None


@event_type(version=1)
class TeamMemberAdded:
    """``member``, a user id as the app knows it, may read and write the references of the team."""

    team_id: str
    member: str
    by: str


@event_type(version=1)
class TeamMemberRemoved:
    """``member`` is no longer in the team."""

    team_id: str
    member: str
    by: str


REFERENCE_TYPES = frozenset(
    cls.__name__ for cls in (ReferenceCreated, ReferenceChanged, ReferenceArchived, ReferenceMoved)
)
"""The types that put or take away the words of a reference."""


def reference_id(event: Event) -> UUID | None:
    """Returns the card that ``event`` puts or takes away. None: the event changes no words of a card."""
    payload = event.payload
    if isinstance(payload, ReferenceCreated):
        return event.event_id
    if isinstance(payload, ReferenceChanged | ReferenceArchived | ReferenceMoved):
        return payload.reference_id
    return None
