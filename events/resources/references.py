"""References, their history and their kinds; teams; and the ops that prose asked for."""

from typing import Literal
from uuid import UUID

from pydantic import AliasPath, AwareDatetime, Field

from events.resources.resource import Resource
from events.types.references import Tier

Decision = Literal["waiting", "applied", "approved", "refused"]


class Reference(Resource):
    """A reference: a named value with a version. The ETag of the answer is its version."""

    kind: str = Field(validation_alias=AliasPath("name", "kind"))
    key: str = Field(validation_alias=AliasPath("name", "key"))
    project_id: str | None = Field(validation_alias=AliasPath("name", "project_id"))
    team_id: str | None = Field(validation_alias=AliasPath("name", "team_id"))
    version: int
    tier: Tier
    tier_reason: str | None
    archived: bool
    data: object
    rendering: str = Field(description="the value as one text")
    created_at: AwareDatetime
    updated_at: AwareDatetime


class WrittenReference(Reference):
    """The reference after the command."""

    token: str = Field(description="give the token to wait_for of a recall to find the reference there")


class ReferencesPage(Resource):
    """References in the order of kind and key."""

    references: list[Reference]
    next_cursor: str | None


class ReferenceVersion(Resource):
    """One version: the op, who sent it and when, and the turns behind it. ``before`` and ``after`` on request."""

    version: int
    type: str
    op: dict[str, object] | None
    actor: str
    at: AwareDatetime
    turn_ids: list[str]
    derived: bool
    quote: str | None
    before: object = None
    after: object = None


class ReferenceHistory(Resource):
    """Versions, the latest first."""

    versions: list[ReferenceVersion]
    next_cursor: int | None


class ReferenceKind(Resource):
    """A kind with its ops and the JSON Schema of its data."""

    kind: str
    built_in: bool
    description: str
    ops: list[str]
    data_schema: object = Field(serialization_alias="schema")


class ReferenceKinds(Resource):
    """Every kind that the tenant may use."""

    kinds: list[ReferenceKind]


class DeclaredKind(Resource):
    """The kind can be used. ``changed`` is false when it was declared like this already."""

    kind: str
    changed: bool


class Team(Resource):
    """The members of the team after the command. ``changed`` is false when it changed none."""

    team_id: str
    members: list[str]
    changed: bool


class Proposal(Resource):
    """An op that prose asked for. A waiting one needs an answer."""

    proposal_id: UUID
    kind: str
    key: str
    project_id: str | None
    team_id: str | None
    op: dict[str, object]
    confidence: float
    quote: str
    turn_ids: list[str]
    status: Decision
    proposed_at: AwareDatetime
    decided_at: AwareDatetime | None
    decided_by: str | None


class ProposalsPage(Resource):
    """Proposals, the latest first."""

    proposals: list[Proposal]
    next_cursor: UUID | None


class RefusedProposal(Resource):
    """The proposal is refused, and nothing changed."""

    proposal_id: UUID
    status: Literal["refused"]


class RetractedCard(Resource):
    """The card of the proposal is retracted. ``events`` counts the statements and episodes that were withdrawn."""

    proposal_id: UUID
    status: Literal["approved"]
    card_id: UUID
    content: str
    events: int
