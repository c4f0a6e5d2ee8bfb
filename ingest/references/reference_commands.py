"""The commands of references: create, apply an op, archive, restore, move, change the tier.

Every command is decided under a lock of the stream and appends with the expected version (:mod:`ingest.decider`). A
command is therefore never lost and never applied twice, whatever the projector's lag is.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from hashlib import sha256
from itertools import count
from secrets import token_hex
from typing import Any
from uuid import UUID

import orjson

from events.core.patches import same
from events.http.errors import ProblemError, conflict, invalid, missing
from events.platform.database import Connection
from events.references.kinds import batch
from events.references.kinds.custom import CustomKind, validate
from events.references.kinds.kind import Kind, Op, ReferenceInvalidError, check_size, rendering_of
from events.references.owners import checked_name, stream_of
from events.references.reference import Reference, folded
from events.references.reference_log import current, lock, version_of
from events.store.asking import latest_events
from events.types.commands import CommandAnswered
from events.types.envelope import Event, NewEvent, Payload, uuid7
from events.types.json_values import Json
from events.types.references import (
    ReferenceArchived,
    ReferenceChanged,
    ReferenceCreated,
    ReferenceMoved,
    ReferenceName,
    ReferenceTierChanged,
    Tier,
)
from ingest.decider import Aggregate, Command, Decision, Outcome, decide

_MOST_EVENTS_BETWEEN = 200
_MADE = "\0"
"""Begins what stands for an id or a time that the service makes. No text that is given holds it."""
MOVE = "move"
"""The op of the version that a move makes. It tells the scope that the reference comes from."""
MOST_CARRIED = 200
"""The versions that a moved reference keeps under its new name."""
_CARRIED = ReferenceCreated | ReferenceChanged | ReferenceArchived | ReferenceTierChanged


class ReferenceStream(Aggregate[Reference | None, Reference]):
    """The events of one reference."""

    def __init__(self, connection: Connection, name: ReferenceName, command: Command) -> None:
        super().__init__(connection, stream_of(name), command)
        self.name = name

    def hold(self) -> None:
        lock(self.connection, self.owner, self.stream)

    def load(self, version: int | None = None) -> Reference | None:
        return current(self.connection, self.owner, self.stream, version)

    def answer(self, state: Reference | None, event: Event | None) -> Reference:
        after = state if event is None else folded(event, state)
        assert after is not None, "the stream begins with a creation"
        return after

    def first_answer(self, event: Event) -> Reference:
        unchanged = isinstance(event.payload, CommandAnswered)
        return _existing(self.load(event.payload.version if unchanged else event.version))

    def key(self) -> str | None:
        if self.command.idempotency_key is None:
            return None
        digest = sha256(orjson.dumps([self.stream, self.command.idempotency_key])).hexdigest()
        return f"reference/{digest}"

    def expected_version(self, state: Reference | None) -> int:
        return 0 if state is None else state.version

    def position(self, state: Reference | None) -> int:
        return 0 if state is None else state.position


@contextmanager
def _problems() -> Iterator[None]:
    try:
        yield
    except ReferenceInvalidError as error:
        more: Mapping[str, Sequence[str]] = {} if error.allowed is None else {"allowed": error.allowed}
        raise invalid(error.field, error.reason, **more) from None


@_problems()
def create(stream: ReferenceStream, kind: Kind, data: object, tier: Tier) -> Outcome[Reference]:
    """Creates a reference. ``data`` None: the initial value of the kind.

    Raises a 409 problem with the present value when the reference exists, and 422 for data that do not fit.
    """
    name = stream.name
    checked_name(name)
    at = stream.command.at.isoformat()
    value = kind.initial() if data is None else kind.prepare(data, at=at, new_id=_new_id)
    check_size(value)
    validate(kind, value)
    rendering = rendering_of(kind, name.key, value)

    def created(present: Reference | None) -> Payload:
        _refuse_existing(
            present,
            f"there is a {name.kind} with this key; change it (PATCH, or `cardlog ref apply`), or use another key",
        )
        return ReferenceCreated(name=name, data=value, rendering=rendering, tier=tier)

    ids = count()
    asked = value if data is None else kind.prepare(data, at=_MADE, new_id=lambda: f"{_MADE}{next(ids)}")

    def is_repeat(first: Payload) -> bool:
        return isinstance(first, ReferenceCreated) and first.tier == tier and _became(asked, first.data)

    return decide(stream, created, is_repeat)


@_problems()
def apply(
    stream: ReferenceStream, kind: Kind, op: Op, expected_version: int | None = None
) -> Outcome[Reference]:
    """Applies an op.

    Without ``expected_version``, ops on different items commute: each is applied to what it finds. A change of the same
    item since the command arrived is a 409 problem. With ``expected_version``, any other version is a 409 problem with
    the present value, unless the wanted state already holds. Raises 404 when there is no such reference, 409 for an
    archived one, and 422 for an op that does not fit.
    """
    name, command = stream.name, stream.command
    arrived = version_of(stream.connection, stream.owner, stream.stream)
    completed = batch.completed(kind, op, at=command.at.isoformat(), new_id=_new_id)

    def changed(found: Reference | None) -> Payload | None:
        present = _existing(found)
        if present.archived:
            raise _conflict(
                "Archived", "key", "this reference is archived; restore a version of it first", present
            )
        moved_on = expected_version not in (None, present.version)
        try:
            data = batch.applied(kind, present.data, completed)
            check_size(data)
            if isinstance(kind, CustomKind):
                validate(kind, data)
            rendering = rendering_of(kind, name.key, data)
        except (ProblemError, ReferenceInvalidError):
            if moved_on:
                raise _moved_on(present, expected_version) from None
            raise
        if data == present.data:
            return None
        if moved_on:
            raise _moved_on(present, expected_version)
        if expected_version is None and present.version != arrived:
            _refuse_same_items(stream, kind, completed, arrived, present)
        return ReferenceChanged(
            reference_id=present.reference_id,
            name=name,
            op=dict(completed),
            data=data,
            rendering=rendering,
            tier=_unarchived(present.tier),
            turn_ids=command.turn_ids,
            derived=command.derived,
            confidence=command.confidence,
            quote=command.quote,
        )

    def is_repeat(first: Payload) -> bool:
        return batch.is_repeat(first.op if isinstance(first, ReferenceChanged) else {}, op)

    return decide(stream, changed, is_repeat)


def archive(stream: ReferenceStream, reason: str | None) -> Outcome[Reference]:
    """Puts a reference away. A second call changes nothing."""

    def archived(found: Reference | None) -> Payload | None:
        present = _existing(found)
        if present.archived:
            return None
        return ReferenceArchived(reference_id=present.reference_id, name=stream.name, reason=reason)

    return decide(stream, archived, lambda first: isinstance(first, ReferenceArchived))


def change_tier(stream: ReferenceStream, tier: Tier, reason: str) -> Outcome[Reference]:
    """Moves a reference to another tier."""

    def changed(found: Reference | None) -> Payload | None:
        present = _existing(found)
        if present.tier == tier:
            return None
        return ReferenceTierChanged(
            reference_id=present.reference_id, name=stream.name, tier=tier, reason=reason
        )

    return decide(
        stream, changed, lambda first: isinstance(first, ReferenceTierChanged) and first.tier == tier
    )


@_problems()
def restore(stream: ReferenceStream, kind: Kind, version: int | None) -> Outcome[Reference]:
    """Brings back the value of a version, as a further change. None: the present value of an archived reference.

    Raises a 422 problem for a version that never was.
    """

    def restored(found: Reference | None) -> Payload | None:
        present = _existing(found)
        old = present if version is None else stream.load(version)
        if old is None or (version is not None and old.version != version):
            raise invalid(
                "version", f"{version} never was; use 1 to {present.version}", latest=present.version
            )
        if not present.archived and old.data == present.data:
            return None
        return ReferenceChanged(
            reference_id=present.reference_id,
            name=stream.name,
            op={"op": "restore", "version": old.version, "at": stream.command.at.isoformat()},
            data=old.data,
            rendering=rendering_of(kind, stream.name.key, old.data),
            tier=_unarchived(present.tier),
        )

    def is_repeat(first: Payload) -> bool:
        op = first.op if isinstance(first, ReferenceChanged) else {}
        return op.get("op") == "restore" and version in (None, op["version"])

    return decide(stream, restored, is_repeat)


class _Moved(ReferenceStream):
    """The events of the name that a reference gets. Nobody else writes to either name meanwhile."""

    def __init__(self, source: ReferenceStream, new_owner: str, to: ReferenceName) -> None:
        super().__init__(source.connection, to, replace(source.command, owner=new_owner))
        self._source = source

    def answer(self, state: Reference | None, event: Event | None) -> Reference:
        return _existing(self.load())

    def carried(self, there: Reference | None, reference_id: UUID) -> list[NewEvent]:
        """Returns the latest versions of the source, with their times and actors, as events of this stream."""
        source = self._source
        latest = latest_events(source.connection, source.owner, source.stream, MOST_CARRIED)
        told = [event for event in reversed(latest) if isinstance(event.payload, _CARRIED)]
        begun = [place for place, event in enumerate(told) if isinstance(event.payload, ReferenceCreated)]
        told = told[begun[-1] :] if begun else told
        while not isinstance(told[0].payload, ReferenceCreated | ReferenceChanged):
            del told[0]
        first = told[0]
        further = self.expected_version(there) + 1 - first.version
        created = ReferenceCreated(
            name=self.name,
            data=first.payload.data,
            rendering=first.payload.rendering,
            tier=first.payload.tier,
            moved_from=source.stream,
        )
        payloads = [created, *(self._renamed(event.payload, reference_id, further) for event in told[1:])]
        return [
            self.command.event(
                self.stream,
                payload,
                event_id=reference_id if payload is created else uuid7(),
                occurred_at=event.occurred_at,
                actor=event.actor,
            )
            for event, payload in zip(told, payloads, strict=True)
        ]

    def _renamed(self, payload: Any, reference_id: UUID, further: int) -> Payload:
        renamed: Payload = replace(payload, name=self.name, reference_id=reference_id)
        if (
            isinstance(renamed, ReferenceChanged)
            and renamed.op["op"] == "restore"
            and "version" in renamed.op
        ):
            return replace(renamed, op={**renamed.op, "version": payload.op["version"] + further})
        return renamed

    def hold(self) -> None:
        for each in sorted((self._source, self), key=lambda each: (each.owner, each.stream)):
            lock(each.connection, each.owner, each.stream)


@_problems()
def move(source: ReferenceStream, new_owner: str, to: ReferenceName) -> Outcome[Reference]:
    """Gives a reference another scope, in one transaction, with its latest :data:`MOST_CARRIED` versions.

    All of its history stays readable under the old name. Raises a 409 problem when the new scope has a reference with
    this key.
    """
    checked_name(to)
    target = _Moved(source, new_owner, to)
    if (source.owner, source.stream) == (target.owner, target.stream):
        present = _existing(source.load())
        return Outcome(present, present.position)

    op = {"op": MOVE, "project_id": source.name.project_id, "team_id": source.name.team_id}

    def moved(there: Reference | None) -> Decision:
        present = _existing(source.load())
        _refuse_existing(there, "the new scope has a reference with this key")
        gone = ReferenceMoved(
            reference_id=present.reference_id, name=source.name, to=to, to_stream=target.stream
        )
        leaves = source.command.event(source.stream, gone, expected_version=present.version)
        reference_id = uuid7()
        carried = target.carried(there, reference_id)
        arrived = ReferenceChanged(
            reference_id=reference_id,
            name=to,
            op=op,
            data=present.data,
            rendering=present.rendering,
            tier=present.tier,
        )
        return Decision(payload=arrived, before=[leaves, *carried])

    return decide(target, moved, lambda first: isinstance(first, ReferenceChanged) and first.op == op)


def _refuse_same_items(stream: ReferenceStream, kind: Kind, op: Op, arrived: int, present: Reference) -> None:
    """Raises a 409 problem when an op since the version ``arrived`` changed an item that ``op`` changes, too."""
    most = min(present.version - arrived, _MOST_EVENTS_BETWEEN)
    targets = batch.targets(kind, op)
    for event in latest_events(stream.connection, stream.owner, stream.stream, most):
        if isinstance(event.payload, ReferenceChanged) and event.version > arrived:
            other = event.payload.op
            if other["op"] in ("restore", MOVE) or targets & batch.targets(kind, other):
                reason = "another command changed the same item at the same time; read it, and decide again"
                raise _conflict("Changed meanwhile", "item_id", reason, present)


def _refuse_existing(present: Reference | None, reason: str) -> None:
    if present is not None and present.moved_to is None:
        raise _conflict("Exists", "key", reason, present)


def _moved_on(present: Reference, expected: int | None) -> ProblemError:
    reason = f"the reference is at version {present.version}, not {expected}; read the present value, and decide again"
    return _conflict("Version mismatch", "expected_version", reason, present)


def _conflict(title: str, field: str, reason: str, present: Reference) -> ProblemError:
    shown = {"version": present.version, "data": present.data, "rendering": present.rendering}
    return conflict(title, field, reason, current=shown)


def _existing(reference: Reference | None) -> Reference:
    if reference is None or reference.moved_to is not None:
        raise not_found()
    return reference


def not_found() -> ProblemError:
    """Returns the 404 problem of a reference that is not there, or is not the caller's."""
    return missing("reference", "key")


def _became(asked: Json, kept: Json) -> bool:
    """True when ``asked`` may have become ``kept``: they differ only in ids and times that the service made."""
    if isinstance(asked, dict) and isinstance(kept, dict):
        return asked.keys() == kept.keys() and all(_became(asked[each], kept[each]) for each in asked)
    if isinstance(asked, list) and isinstance(kept, list):
        return len(asked) == len(kept) and all(map(_became, asked, kept))
    return same(asked, kept) or (isinstance(asked, str) and asked.startswith(_MADE))


def _unarchived(tier: Tier) -> Tier:
    return "session" if tier == "archive" else tier


def _new_id() -> str:
    return token_hex(4)
