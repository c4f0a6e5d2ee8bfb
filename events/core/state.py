"""The document of one user at one version, and the step from one version to the next."""

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, get_args
from uuid import UUID

from events.core.evolution.migration import EvolutionKind, migration
from events.core.feed import CardValue, Trust
from events.core.patches import Op, PatchConflictError, applied_one, followed
from events.core.pointers import Tokens, join, split, value_at
from events.core.schema import DYNAMIC, EVOLUTION, META, empty_document, evolution_log
from events.resources.core import QueueKind, QueueStatus
from events.types.core import Fault, PatchQueued
from events.types.envelope import Event
from events.types.json_values import Json

SNAPSHOT_EVERY = 32
"""A snapshot is kept of every so many versions, so a read replays fewer changes than this."""

ChangeKind = Literal["patch", "approval", "cherry_pick", "rollback", "card"] | EvolutionKind
EVOLUTION_KINDS: frozenset[str] = frozenset(get_args(EvolutionKind))
"""Changes of the schema. Their last operation logs the change; the others are made anew at every replay."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CoreState:
    """The document without ``_meta``. ``marks`` has the form of the document, and a mark in the place of each value.

    ``position`` is the last event of the user that was folded. ``updated_at`` is when the last change was recorded.
    """

    document: Json = field(default_factory=empty_document)
    marks: Json = field(default_factory=empty_document)
    version: int = 0
    position: int = 0
    updated_at: datetime | None = None

    def whole(self) -> dict[str, object]:
        """Returns the document with ``_meta``."""
        meta: dict[str, object] = {
            "version": self.version,
            "lastUpdated": self.updated_at,
            EVOLUTION: evolution_log(self.document),
        }
        return {**self.document, META: meta}


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """The effect of one event on the document. ``version`` is the version after it.

    ``ops`` are the operations as they were applied; ``guards`` are the numbers of the tests that the service added. The
    operations of a rollback are the difference that it made. ``at`` is when the change took place by the clock of its
    event, and ``recorded_at`` when the log got it. ``others`` are the events that a rollback leaves out or
    that a cherry-pick applies again.
    """

    version: int
    event_id: UUID
    position: int
    kind: ChangeKind
    ops: Sequence[Op]
    guards: tuple[int, ...]
    at: datetime
    recorded_at: datetime
    actor: str
    trust: Trust
    source: str | None = None
    confidence: float | None = None
    rationale: str | None = None
    turn_ids: tuple[str, ...] = ()
    others: tuple[UUID, ...] = ()

    @property
    def mark(self) -> str:
        confidence = 1.0 if self.confidence is None else self.confidence
        return f"{self.version} {self.trust:d} {confidence:g} {self.at.timestamp():.6f}"


@dataclass(frozen=True, slots=True)
class Mark:
    """Which change set a value, whose word it is, how sure that was, and when it was said, in seconds since 1970."""

    version: int
    trust: Trust
    confidence: float
    at: float


def mark_of(text: str) -> Mark:
    version, trust, confidence, at = text.split(" ")
    return Mark(int(version), Trust(int(trust)), float(confidence), float(at))


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueEntry:
    """A patch that waits for an answer, or got one.

    ``queue_id`` is the id of the event that brought it. Another entry of the same event has other first bytes, so an
    import that gives the event a new id knows the new ids of its entries too.
    """

    queue_id: UUID
    kind: QueueKind
    status: QueueStatus
    patch: Sequence[Op]
    guards: tuple[int, ...]
    actor: str
    fault: Fault
    reason: str
    op: int
    path: str
    expected: Json
    actual: Json
    position: int
    queued_at: datetime
    source: str | None = None
    confidence: float | None = None
    rationale: str | None = None
    turn_ids: tuple[str, ...] = ()
    decided_at: datetime | None = None
    decided_by: str | None = None
    decision_reason: str | None = None


def queued(
    event: Event,
    patch: Sequence[Op],
    conflict: PatchConflictError,
    basis: PatchQueued | Change | CardValue,
    *,
    kind: QueueKind = "patch",
    guards: tuple[int, ...] = (),
    taken: Container[UUID] = (),
) -> QueueEntry:
    """Returns the open entry that ``event`` brings: a patch, and the ``conflict`` because of which it waits.

    ``basis`` tells the source, the confidence, the reason and the turns of the patch. ``taken`` are the ids of entries.
    """
    ids = (UUID(int=event.event_id.int ^ number << 112) for number in range(1 << 16))
    return QueueEntry(
        queue_id=next(each for each in ids if each not in taken),
        kind=kind,
        status="open",
        patch=patch,
        guards=guards,
        actor=event.actor,
        fault=conflict.fault,
        reason=conflict.reason,
        op=conflict.op,
        path=conflict.path,
        expected=conflict.expected,
        actual=conflict.actual,
        position=event.position,
        queued_at=event.recorded_at,
        source=basis.source,
        confidence=basis.confidence,
        rationale=basis.rationale,
        turn_ids=basis.turn_ids,
    )


def stepped(document: Json, marks: Json, change: Change) -> tuple[Json, Json, Sequence[Op]]:
    """Returns document and marks after the operations of ``change``, and the operations as they were applied.

    Raises :class:`events.core.patches.PatchConflictError`, and changes nothing then.
    """
    if change.kind in EVOLUTION_KINDS:
        document, ops = followed(document, migration(document, change.ops[-1]["value"]), ())
        return document, marked_by(marks, ops, change.mark), ops
    before = document
    document, ops = followed(document, change.ops, change.guards)
    mark = change.mark
    marks = marked_by(marks, ops, mark)
    for name in _categories_touched(ops, before, document):
        for op in _kept_up(name, before, document, change):
            document = applied_one(document, op)
            marks = marked_by(marks, [op], mark)
    return document, marks, ops


def marked_by(marks: Json, ops: Iterable[Op], mark: str) -> Json:
    """Returns the marks after ``ops``, which were applied to the document."""
    for op in ops:
        name = op["op"]
        if name in ("add", "replace"):
            marks = applied_one(marks, {**op, "value": _marked(op["value"], mark)})
        elif name != "test":
            marks = applied_one(marks, op)
    return marks


def _marked(value: Json, mark: str) -> Json:
    if isinstance(value, dict):
        return {name: _marked(each, mark) for name, each in value.items()}
    if isinstance(value, list):
        return [_marked(each, mark) for each in value]
    return mark


def _categories_touched(ops: Iterable[Op], before: Json, after: Json) -> Iterable[str]:
    touched: dict[str, None] = {}
    for op in ops:
        if op["op"] == "test" or not op["path"].startswith(f"/{DYNAMIC}"):
            continue
        tokens: Tokens = split(op["path"])
        if len(tokens) > 1:
            touched[tokens[1]] = None
        elif isinstance(here := after.get(DYNAMIC), dict):
            touched |= dict.fromkeys(here)
    return [name for name in touched if isinstance(value_at(after, (DYNAMIC, name)), dict)]


def _kept_up(name: str, before: Json, after: Json, change: Change) -> Iterable[Op]:
    """The members of a dynamic category that the service keeps: when it was made, and how often it was used."""
    category = after[DYNAMIC][name]
    count = value_at(before, (DYNAMIC, name, "usageCount"))
    members: dict[str, object] = {"usageCount": count + 1 if isinstance(count, int) else 1}
    if "createdAt" not in category:
        members["createdAt"] = change.at.isoformat()
    if "confidence" not in category and change.confidence is not None:
        members["confidence"] = change.confidence
    if "description" not in category:
        members["description"] = ""
    for member, value in members.items():
        yield {"op": "add", "path": join((DYNAMIC, name, member)), "value": value}
