"""The migration of another memory: what became of its sentences."""

from uuid import UUID

from pydantic import Field

from events.resources.resource import Resource


class AppliedPatch(Resource):
    """A change of the document that rests on migrated sentences."""

    version: int
    event_id: UUID
    patch: list[dict[str, object]] = Field(validation_alias="ops")
    confidence: float | None
    rationale: str | None
    turn_ids: list[str]


class QueuedPatch(Resource):
    """A patch that waits for an approval."""

    queue_id: UUID
    kind: str
    path: str
    patch: list[dict[str, object]]
    reason: str
    confidence: float | None
    rationale: str | None
    turn_ids: list[str]


class KeptSentence(Resource):
    """A sentence that is an episode, with the places of the document that it touches."""

    turn_id: str
    text: str
    related_paths: list[str]


class MigrationReport(Resource):
    """What became of the sentences up to now."""

    pending: int = Field(description="sentences that wait for their extraction")
    failed: list[str] = Field(description="turn ids of sentences that the extractor gave up")
    erased: list[str] = Field(description="turn ids of sentences that were erased; they are not taken again")
    applied: list[AppliedPatch]
    queued: list[QueuedPatch]
    kept: list[KeptSentence]
    version: int


class MemoryMigration(MigrationReport):
    """What became of the sentences up to now. The same request later tells what became of the rest."""

    migration_id: str
    format: str
    dry_run: bool
    sentences: int = Field(description="different sentences of the text")
    taken: int = Field(description="sentences that this request took; the others were there already")
    remarks: list[str]
    token: str = Field(description="give the token to wait_for of a recall")
