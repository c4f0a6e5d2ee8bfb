"""The core document: its values, its history, the patches that wait, and the categories that may grow."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import AwareDatetime, BeforeValidator, Field

from events.resources.resource import Resource
from events.types.core import Fault

QueueKind = Literal["patch", "contradiction", "proposal"]
QueueStatus = Literal["open", "approved", "refused", "withdrawn"]
Patch = list[dict[str, object]]
Trust = Annotated[str, BeforeValidator(lambda trust: trust if isinstance(trust, str) else trust.name.lower())]


class Snippet(Resource, use_attribute_docstrings=True):
    """The value at a pointer."""

    path: str
    found: bool
    value: object
    moved_to: str | None = Field(default=None)
    """where the value is since its category was promoted or reverted"""


class Source(Resource):
    """The change that set a value: its event and its patch, whose word it was, and the turns."""

    version: int
    event_id: UUID
    kind: str
    at: AwareDatetime
    recorded_at: AwareDatetime
    actor: str
    trust: Trust
    source: str | None
    confidence: float | None
    rationale: str | None
    turn_ids: list[str]
    patch: Patch = Field(validation_alias="ops")


class Memory(Resource):
    """The document, or the values at the asked pointers. The ETag of the answer is the version."""

    user_id: str
    version: int
    updated_at: AwareDatetime | None
    document: object = None
    snippets: list[Snippet] | None = None
    explain: dict[str, Source] | None = None


class MemoryChange(Source, use_attribute_docstrings=True):
    """One version: what changed it, and how."""

    event_ids: list[UUID] = Field(validation_alias="others")
    """the events that a rollback left out or a cherry-pick applied again"""


class MemoryHistory(Resource):
    """Versions, the latest first."""

    changes: list[MemoryChange]
    next_cursor: int | None


class MemoryDiff(Resource):
    """What differs between two versions, as a JSON Patch and in words."""

    from_version: int = Field(serialization_alias="from")
    to: int
    patch: Patch
    lines: list[str]


class QueueEntry(Resource):
    """A patch that waits, or got an answer."""

    queue_id: UUID
    kind: QueueKind
    status: QueueStatus
    patch: Patch
    fault: Fault
    reason: str
    op: int
    path: str
    expected: object
    actual: object
    actor: str
    source: str | None
    confidence: float | None
    rationale: str | None
    turn_ids: list[str]
    queued_at: AwareDatetime
    decided_at: AwareDatetime | None
    decided_by: str | None
    decision_reason: str | None


class MemoryQueue(Resource):
    """Waiting patches, the latest first."""

    entries: list[QueueEntry]


class Reason(Resource):
    """A part of a score: what was counted, and the points for it."""

    reason: str
    count: int
    points: int


class PromotionDiff(Resource):
    """What a promotion under the proposed name would change, as a JSON Patch and in words."""

    patch: Patch
    lines: list[str]


class Candidate(Resource, use_attribute_docstrings=True):
    """A topic that recurs, and the category that it may become."""

    candidate: str
    proposed_name: str = Field(validation_alias="name")
    """the name of the category that it may become"""
    category_schema: dict[str, object] = Field(serialization_alias="schema")
    """the JSON Schema, inferred from the values"""
    instances: list[str] = Field(description="the pointers of what is about the topic")
    moved: dict[str, str] = Field(description="the new pointer of each old one")
    occurrences: int
    days: int = Field(description="the days on which the instances changed")
    last: AwareDatetime | None
    links: list[str] = Field(description="pointers of other values that name the topic")
    users: int = Field(description="other users of the tenant with a key of this topic")
    score: int
    reasons: list[Reason]
    above_thresholds: bool = Field(description="true: CARDLOG_SCHEMA_EVOLUTION=auto promotes it")
    proposed_at: AwareDatetime | None
    diff: PromotionDiff


class MemoryCandidates(Resource):
    """Candidates, the highest score first."""

    version: int
    candidates: list[Candidate]


class MemoryChanged(Resource):
    """The version of the document after a command. ``event_id`` is null when the document was like this already."""

    version: int
    event_id: UUID | None
    changed: bool
    duplicate: bool
    token: str = Field(description="give the token to wait_for of a recall")


class RollbackConflict(Resource):
    """A change that stood on one that is left out."""

    event_id: UUID
    version: int
    op: int
    path: str
    reason: str


class MemoryRolledBack(MemoryChanged):
    """What a rollback did, or would do. With conflicts it does nothing."""

    dry_run: bool
    event_ids: list[UUID]
    patch: Patch
    conflicts: list[RollbackConflict]


class MemoryPromoted(MemoryChanged, use_attribute_docstrings=True):
    """What a promotion did, or would do. ``patch`` holds the operations on the document; a repeat shows none."""

    dry_run: bool
    proposed_name: str
    """the name of the category"""
    category_schema: dict[str, object] = Field(serialization_alias="schema")
    """the JSON Schema of the category"""
    moved: dict[str, str] = Field(description="the new pointer of each old one")
    patch: Patch


class MemoryReverted(MemoryChanged):
    """What a reversion did."""

    patch: Patch
