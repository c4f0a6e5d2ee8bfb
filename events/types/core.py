"""The events of the core document: one JSON document of durable facts for each user.

All of them are in the stream ``core`` of their user. A patch is a JSON Patch (RFC 6902). Its ``guards`` are the numbers
of the ``test`` operations that the service added: each names the item that the next operation means.
"""

from typing import Literal
from uuid import UUID

from events.types.codec import event_type
from events.types.json_values import Json

STREAM = "core"
Author = Literal["user", "agent", "system"]
Fault = Literal["test", "path", "schema", "protected", "size", "contradiction", "confidence"]
"""Why a patch does not apply: a failed test, a missing place, the schema of a category, a protected place, a bound,
a value that is trusted more, or too little confidence."""


@event_type(version=1)
class CorePatched:
    """A patch was applied to the document. It fitted the document at its place in the log."""

    patch: tuple[dict[str, Json], ...]
    guards: tuple[int, ...]
    by: Author
    source: str | None = None
    confidence: float | None = None
    rationale: str | None = None
    turn_ids: tuple[str, ...] = ()


@event_type(version=1)
class CoreRolledBack:
    """The document is from now on what the other events make of it, without the events ``event_ids``.

    An event of this type may itself be left out by a later one. ``to_version`` is what the caller asked for, if it did.
    """

    event_ids: tuple[UUID, ...]
    by: Author
    rationale: str | None = None
    to_version: int | None = None


@event_type(version=1)
class CoreCherryPicked:
    """The patches of ``event_ids``, which were left out, are applied again, in the order of the log."""

    event_ids: tuple[UUID, ...]
    by: Author
    rationale: str | None = None


@event_type(version=1)
class PatchQueued:
    """A patch did not fit and waits for an answer. The document did not change. The id is the event id.

    ``fault`` says why, ``op`` is the number of the operation at fault, and ``path`` its pointer.
    """

    patch: tuple[dict[str, Json], ...]
    guards: tuple[int, ...]
    by: Author
    fault: Fault
    reason: str
    op: int
    path: str
    expected: Json = None
    actual: Json = None
    source: str | None = None
    confidence: float | None = None
    rationale: str | None = None
    turn_ids: tuple[str, ...] = ()


@event_type(version=1)
class PatchApproved:
    """Somebody approved a waiting patch. ``patch`` is what was applied."""

    queue_id: UUID
    patch: tuple[dict[str, Json], ...]
    guards: tuple[int, ...]
    by: str
    reason: str | None = None
    confidence: float | None = None
    turn_ids: tuple[str, ...] = ()


@event_type(version=1)
class PatchRefused:
    """Somebody refused a waiting patch. Nothing changed."""

    queue_id: UUID
    by: str
    reason: str | None = None


@event_type(version=1)
class SchemaProposed:
    """A topic of the document recurs so often that it may become a category ``name``. Nothing moved.

    ``instances`` are the pointers of what is about the topic. ``turn_ids`` are the turns that these rest on.
    """

    candidate: str
    name: str
    instances: tuple[str, ...]
    occurrences: int
    score: int
    by: Author
    rationale: str | None = None
    turn_ids: tuple[str, ...] = ()


@event_type(version=1)
class SchemaPromoted:
    """The document has a category ``name`` from now on, with the JSON Schema ``schema``.

    ``moved`` gives the new pointer of each old one. A value that is not there any more is left out.
    ``turn_ids`` are the turns that the moved values rest on.
    """

    candidate: str
    name: str
    schema: dict[str, Json]
    moved: dict[str, str]
    by: Author
    rationale: str | None = None
    turn_ids: tuple[str, ...] = ()


@event_type(version=1)
class SchemaReverted:
    """The category ``name`` is gone. Its values are where they were, and later ones in a dynamic category."""

    name: str
    by: Author
    rationale: str | None = None
    turn_ids: tuple[str, ...] = ()


SCHEMA_EVENTS = (SchemaProposed, SchemaPromoted, SchemaReverted)

CORE_EVENTS = (
    CorePatched,
    CoreRolledBack,
    CoreCherryPicked,
    PatchQueued,
    PatchApproved,
    PatchRefused,
    *SCHEMA_EVENTS,
)
CORE_TYPES = frozenset(cls.__name__ for cls in CORE_EVENTS)
"""The types of the stream of the document. State cards change the document too."""
