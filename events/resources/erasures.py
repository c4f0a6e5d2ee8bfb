"""Erasures: what went, and the receipt of it."""

from uuid import UUID

from pydantic import Field

from events.resources.people import SharedName
from events.resources.resource import Resource


class Erasure(Resource, use_attribute_docstrings=True):
    """What was erased. A dry run has only ``dry_run``, ``users``, ``counts``, ``names`` and ``shared_names``."""

    kind: str | None = None
    format: int | None = None
    erasure_id: UUID | None = None
    erased: str | None = Field(None, description="user, person, turn or before")
    subject: str | None = Field(None, description="digest of the name of the subject")
    by: str | None = None
    reason: str | None = None
    began_at: str | None = None
    steps: dict[str, str | None] | None = Field(
        None,
        description="when each step was done; null: not yet. erased: the words cannot be read any more, and no table "
        "holds what was made of them. queue: no turn waits. scrubbed: the bytes are gone from the servers' files",
    )
    users: int = Field(description="number of users in whose memory something went")
    counts: dict[str, int] = Field(description="what went, by name of the table")
    log: list[dict[str, object]] | None = None
    """the tombstones in the log, with the digests around them"""
    public_key: str | None = None
    signature: str | None = None
    names: list[str] | None = Field(None, description="the names of the person that were looked for")
    shared_names: list[SharedName] | None = Field(
        None, description="those of the names that mean several people; the id of one of them erases that one"
    )
    dry_run: bool = False
