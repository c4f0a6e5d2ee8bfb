"""The commands of references: create, apply an op, archive, restore, move, change the tier.

Every command runs in a transaction of the caller. It works on the end of the stream in the log, under a lock of the
stream that lasts as long as the transaction, and appends with the expected version. A command is therefore never lost
and never applied twice, whatever the projector's lag is. The caller announces the append after the commit
(:func:`events.store.log.announce`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256
from secrets import token_hex
from typing import Any

import orjson

from events.http.errors import ProblemError, invalid, missing
from events.references.kinds import batch
from events.references.kinds.custom import CustomKind, validate
from events.references.kinds.kind import Kind, Op, ReferenceInvalidError, check_size, rendering_of
from events.references.owners import checked_name, stream_of
from events.references.reference import Reference, folded
from events.references.reference_log import current, events_below, first_event, lock, version_of
from events.store import log
from events.store.log import Connection
from events.types.codec import Payload
from events.types.envelope import Event, NewEvent, uuid7
from events.types.references import (
    ReferenceArchived,
    ReferenceChanged,
    ReferenceCreated,
    ReferenceMoved,
    ReferenceName,
    ReferenceTierChanged,
    Tier,
)

_MOST_EVENTS_BETWEEN = 200
_WHOLE_VALUE = ("restore", "erase")


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Who sends a command and when. ``idempotency_key``: a repeated command returns the first answer.

    ``turn_ids``, ``derived``, ``confidence`` and ``quote`` tell where an op in prose stands.
    """

    actor: str
    at: datetime
    idempotency_key: str | None = None
    turn_ids: tuple[str, ...] = ()
    derived: bool = False
    confidence: float | None = None
    quote: str | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The reference after a command. ``changed`` is false when the wanted state already held, or for a repeat."""

    reference: Reference
    changed: bool


def create(
    connection: Connection, owner: str, name: ReferenceName, kind: Kind, data: Any, tier: Tier, origin: Origin
) -> Outcome:
    """Creates a reference. ``data`` None: the initial value of the kind.

    Raises a 409 problem with the present value when the reference exists, and 422 for data that do not fit.
    """
    with _problems():
        checked_name(name)
        at = origin.at.isoformat()
        value = kind.initial() if data is None else kind.prepare(data, at=at, new_id=_new_id)
        check_size(value)
        validate(kind, value)
        rendering = rendering_of(kind, name.key, value)
    created = ReferenceCreated(name=name, data=value, rendering=rendering, tier=tier)
    stream = stream_of(name)
    lock(connection, owner, stream)
    if (first := _repeated(connection, owner, stream, origin)) is not None:
        return Outcome(first, False)
    present = current(connection, owner, stream)
    if present is not None and present.moved_to is None:
        raise ProblemError(
            409,
            "Exists",
            f"key: there is a {name.kind} with this key; change it with PATCH, or use another key",
            field="key",
            current=value_document(present),
        )
    return Outcome(_append(connection, owner, stream, created, present, origin), True)


def apply(
    connection: Connection,
    owner: str,
    name: ReferenceName,
    kind: Kind,
    op: Op,
    origin: Origin,
    expected_version: int | None = None,
) -> Outcome:
    """Applies an op.

    Without ``expected_version``, ops on different items commute: each is applied to what it finds. A change of the same
    item since the command arrived is a 409 problem. With ``expected_version``, any other version is a 409 problem with
    the present value, unless the wanted state already holds. Raises 404 when there is no such reference, 409 for an
    archived one, and 422 for an op that does not fit.
    """
    stream = stream_of(name)
    arrived = version_of(connection, owner, stream)
    with _problems():
        completed = batch.completed(kind, op, at=origin.at.isoformat(), new_id=_new_id)
    lock(connection, owner, stream)
    if (first := _repeated(connection, owner, stream, origin, op)) is not None:
        return Outcome(first, False)
    present = _existing(current(connection, owner, stream))
    if present.archived:
        raise ProblemError(
            409,
            "Archived",
            "key: this reference is archived; restore a version of it first",
            field="key",
            current=value_document(present),
        )
    try:
        with _problems():
            data = batch.applied(kind, present.data, completed)
            check_size(data)
            if isinstance(kind, CustomKind):
                validate(kind, data)
            rendering = rendering_of(kind, name.key, data)
    except ProblemError:
        if expected_version not in (None, present.version):
            raise _moved_on(present, expected_version) from None
        raise
    if data == present.data:
        return Outcome(present, False)
    if expected_version not in (None, present.version):
        raise _moved_on(present, expected_version)
    if expected_version is None and present.version != arrived:
        _refuse_same_items(connection, kind, completed, arrived, present)
    changed = ReferenceChanged(
        reference_id=present.reference_id,
        name=name,
        op=dict(completed),
        data=data,
        rendering=rendering,
        tier="session" if present.tier == "archive" else present.tier,
        turn_ids=origin.turn_ids,
        derived=origin.derived,
        confidence=origin.confidence,
        quote=origin.quote,
    )
    return Outcome(_append(connection, owner, stream, changed, present, origin), True)


def archive(
    connection: Connection, owner: str, name: ReferenceName, reason: str | None, origin: Origin
) -> Outcome:
    """Puts a reference away. A second call changes nothing."""
    return _simple(
        connection,
        owner,
        name,
        origin,
        lambda present: (
            None
            if present.archived
            else ReferenceArchived(reference_id=present.reference_id, name=name, reason=reason)
        ),
    )


def change_tier(
    connection: Connection, owner: str, name: ReferenceName, tier: Tier, reason: str, origin: Origin
) -> Outcome:
    """Moves a reference to another tier."""
    return _simple(
        connection,
        owner,
        name,
        origin,
        lambda present: (
            None
            if present.tier == tier
            else ReferenceTierChanged(reference_id=present.reference_id, name=name, tier=tier, reason=reason)
        ),
    )


def restore(
    connection: Connection, owner: str, name: ReferenceName, kind: Kind, version: int | None, origin: Origin
) -> Outcome:
    """Brings back the value of a version, as a further change. None: the present value of an archived reference.

    Raises a 422 problem for a version that never was.
    """

    def restored(present: Reference) -> Payload | None:
        old = present if version is None else current(connection, owner, present.stream, version)
        if old is None or (version is not None and old.version != version):
            raise invalid(
                "version", f"{version} never was; use 1 to {present.version}", latest=present.version
            )
        if not present.archived and old.data == present.data:
            return None
        with _problems():
            rendering = rendering_of(kind, name.key, old.data)
        return ReferenceChanged(
            reference_id=present.reference_id,
            name=name,
            op={"op": "restore", "version": old.version, "at": origin.at.isoformat()},
            data=old.data,
            rendering=rendering,
            tier="session" if present.tier == "archive" else present.tier,
        )

    return _simple(connection, owner, name, origin, restored)


def move(
    connection: Connection, owner: str, name: ReferenceName, new_owner: str, to: ReferenceName, origin: Origin
) -> Outcome:
    """Gives a reference another scope, in one transaction. Its history stays readable under the old name.

    Raises a 409 problem when the new scope has a reference with this key.
    """
    with _problems():
        checked_name(to)
    source, target = stream_of(name), stream_of(to)
    if (owner, source) == (new_owner, target):
        return Outcome(_existing(current(connection, owner, source)), False)
    for each_owner, stream in sorted(((owner, source), (new_owner, target))):
        lock(connection, each_owner, stream)
    if (first := _repeated(connection, new_owner, target, origin)) is not None:
        return Outcome(first, False)
    present = _existing(current(connection, owner, source))
    there = current(connection, new_owner, target)
    if there is not None and there.moved_to is None:
        raise ProblemError(
            409, "Exists", "key: the new scope has a reference with this key", field="key",
            current=value_document(there),
        )  # fmt: skip
    gone = ReferenceMoved(reference_id=present.reference_id, name=name, to=to, to_stream=target)
    _append(connection, owner, source, gone, present, replace(origin, idempotency_key=None))
    created = ReferenceCreated(
        name=to, data=present.data, rendering=present.rendering, tier=present.tier, moved_from=source
    )
    return Outcome(_append(connection, new_owner, target, created, there, origin), True)


def value_document(reference: Reference) -> dict[str, Any]:
    """Returns the part of a reference that a conflict shows."""
    return {"version": reference.version, "data": reference.data, "rendering": reference.rendering}


def _simple(
    connection: Connection,
    owner: str,
    name: ReferenceName,
    origin: Origin,
    payload: Callable[[Reference], Payload | None],
) -> Outcome:
    stream = stream_of(name)
    lock(connection, owner, stream)
    if (first := _repeated(connection, owner, stream, origin)) is not None:
        return Outcome(first, False)
    present = _existing(current(connection, owner, stream))
    change = payload(present)
    if change is None:
        return Outcome(present, False)
    return Outcome(_append(connection, owner, stream, change, present, origin), True)


def _append(
    connection: Connection,
    owner: str,
    stream: str,
    payload: Payload,
    present: Reference | None,
    origin: Origin,
) -> Reference:
    event = NewEvent(
        event_id=uuid7(),
        user_id=owner,
        stream=stream,
        payload=payload,
        occurred_at=origin.at,
        actor=origin.actor,
        dedupe_key=_dedupe_key(stream, origin),
        expected_version=0 if present is None else present.version,
    )
    [place] = log.append(connection, [event])
    assert place.recorded_at is not None
    after = folded(
        Event(
            partition=place.partition,
            position=place.position,
            event_id=event.event_id,
            user_id=owner,
            stream=stream,
            version=place.version,
            type=type(payload).__name__,
            schema_version=1,
            dedupe_key=event.dedupe_key,
            occurred_at=origin.at,
            recorded_at=place.recorded_at,
            actor=origin.actor,
            causation_id=None,
            correlation_id=None,
            payload=payload,
        ),
        present,
    )
    assert after is not None, "the stream begins with a creation"
    return after


def _repeated(
    connection: Connection, owner: str, stream: str, origin: Origin, op: Op | None = None
) -> Reference | None:
    """Returns the reference as the first command with this idempotency key left it; None for a first command.

    Raises a 422 problem when the key was used for another op.
    """
    key = _dedupe_key(stream, origin)
    event = None if key is None else first_event(connection, owner, key)
    if event is None:
        return None
    if op is not None:
        kept = event.payload.op if isinstance(event.payload, ReferenceChanged) else {}
        if not batch.is_repeat(kept, op):
            raise invalid("Idempotency-Key", "was used for another op; use a new key for each command")
    return current(connection, owner, stream, event.version)


def _dedupe_key(stream: str, origin: Origin) -> str | None:
    if origin.idempotency_key is None:
        return None
    digest = sha256(orjson.dumps([stream, origin.idempotency_key])).hexdigest()
    return f"reference/{digest}"


def _refuse_same_items(connection: Connection, kind: Kind, op: Op, arrived: int, present: Reference) -> None:
    """Raises a 409 problem when an op since the version ``arrived`` changed an item that ``op`` changes, too."""
    count = min(present.version - arrived, _MOST_EVENTS_BETWEEN)
    targets = batch.targets(kind, op)
    for event in events_below(connection, present.owner, present.stream, None, count):
        if isinstance(event.payload, ReferenceChanged) and event.version > arrived:
            other = event.payload.op
            if other["op"] == "restore" or targets & batch.targets(kind, other):
                raise ProblemError(
                    409,
                    "Changed meanwhile",
                    "item_id: another command changed the same item at the same time; read it, and decide again",
                    field="item_id",
                    current=value_document(present),
                )


def _moved_on(present: Reference, expected: int | None) -> ProblemError:
    return ProblemError(
        409,
        "Version mismatch",
        f"expected_version: the reference is at version {present.version}, not {expected}; "
        "read the present value, and decide again",
        field="expected_version",
        current=value_document(present),
    )


def _existing(reference: Reference | None) -> Reference:
    if reference is None or reference.moved_to is not None:
        raise not_found()
    return reference


def not_found() -> ProblemError:
    """Returns the 404 problem of a reference that is not there, or is not the caller's."""
    return missing("reference", "key")


class _problems:
    """Turns :class:`ReferenceInvalidError` into a 422 problem."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if isinstance(error, ReferenceInvalidError):
            more: Mapping[str, Sequence[str]] = {} if error.allowed is None else {"allowed": error.allowed}
            raise invalid(error.field, error.reason, **more) from None


def _new_id() -> str:
    return token_hex(4)
