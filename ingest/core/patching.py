"""Patches of the core document: applied as a whole, or queued with the reason until somebody answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import orjson

from events.core.evolution.old_pointers import redirected
from events.core.fold import Present, hardest_mark, outweighs, trust_of
from events.core.patches import (
    Op,
    PatchConflictError,
    conflict_of,
    followed,
    guarded,
    names_items,
    same,
    shown,
)
from events.core.pointers import MISSING, index_of, split, value_at
from events.core.proposals import MAX_WAITING, approved, undone
from events.core.schema import META, check_document, check_protected
from events.core.state import CoreState, QueueEntry
from events.http.errors import conflict, missing
from events.platform.database import Connection
from events.references.reference_log import share_owner
from events.types.core import CorePatched, Fault, PatchApproved, PatchQueued, PatchRefused
from events.types.envelope import Payload
from ingest.core.aggregate import CoreDocument, Documents, as_sent, conflict_problem
from ingest.decider import Command, Decision, Outcome, decide

HOPELESS: frozenset[Fault] = frozenset(("protected", "schema"))
"""Faults that no approval removes. A patch with such a fault does not wait."""


@dataclass(frozen=True, slots=True)
class Patched:
    """The result of a patch. ``queued`` says why it waits instead.

    Without an event it does not wait: its fault is in :data:`HOPELESS`, or the queue is full.
    """

    outcome: Outcome[int]
    queued: PatchConflictError | None


def patch(document: CoreDocument, ops: Sequence[Op], expected_version: int | None = None) -> Patched:
    """Applies a checked patch, or queues it when it does not fit.

    An index means the item that it names when the command arrives. Raises a 409 problem when the document is not at
    ``expected_version``, and a 422 problem for an idempotency key of another patch.
    """
    share_owner(document.connection, document.owner)  # an erased value must not return in a guard
    arrived = document.present() if names_items(ops) else None
    meant: list[tuple[list[Op], tuple[int, ...]] | PatchConflictError] = []
    refused: list[PatchConflictError] = []

    def rule(present: Present) -> Payload | Decision | None:
        refused.clear()
        if not meant:
            meant.append(_meant((arrived or present).state, ops))
        _refuse_other_version(present.state, expected_version, ops)
        made, error = _decided(present.state, ops, meant[0], document.command)
        if error is None:
            return made
        refused.append(error)
        if error.fault in HOPELESS:
            return Decision(payload=None)
        held = document.present(entries=[UUID(int=0)])
        waiting = sum(1 for _ in undone(held.state.document, held.fold.waiting))
        return Decision(payload=None if waiting >= MAX_WAITING else made)

    def is_repeat(first: Payload) -> bool:
        return _is_repeat(first, ops) or _is_repeat(first, redirected(document.present().state.document, ops))

    outcome = decide(document, rule, is_repeat)
    if outcome.event is not None and isinstance(first := outcome.event.payload, PatchQueued):
        return Patched(outcome, as_sent(conflict_of(first), first.guards))
    return Patched(outcome, refused[0] if refused else None)


def _meant(state: CoreState, ops: Sequence[Op]) -> tuple[list[Op], tuple[int, ...]] | PatchConflictError:
    """Returns (the operations with guards of the items that they name, the places of the guards), or the conflict."""
    try:
        _, stored, guards = guarded(
            state.document, check_protected(redirected(state.document, _checked(state, ops)))
        )
    except PatchConflictError as error:
        return error
    return stored, guards


def _decided(
    state: CoreState,
    ops: Sequence[Op],
    meant: tuple[list[Op], tuple[int, ...]] | PatchConflictError,
    command: Command,
) -> tuple[Payload | None, PatchConflictError | None]:
    """Returns the event of a patch and why it is queued. No event: the document is like this already."""
    if isinstance(meant, PatchConflictError):
        return _queued(ops, (), command, meant), meant
    stored, guards = redirected(state.document, meant[0]), meant[1]
    try:
        _check_trust(state, stored, guards, command)
        document, done = followed(state.document, stored, guards)
        check_document(document, done)
    except PatchConflictError as error:
        return _queued(stored, guards, command, error), as_sent(error, guards)
    if same(document, state.document):
        return None, None
    patched = CorePatched(
        patch=tuple(dict(op) for op in done),
        guards=guards,
        **_rests_on(command),
    )
    return patched, None


def _checked(state: CoreState, ops: Sequence[Op]) -> list[Op]:
    """Returns ``ops`` without tests of ``_meta``, which hold now. Raises :class:`PatchConflictError`."""
    whole: object = None
    for index, op in enumerate(ops):
        tokens = split(op["path"])
        if op["op"] == "test" and tokens[:1] == (META,):
            whole = orjson.loads(orjson.dumps(state.whole())) if whole is None else whole
            actual = value_at(whole, tokens)
            if actual is MISSING or not same(actual, op["value"]):
                raise PatchConflictError(
                    "test", index, op["path"], "the value is another one", op["value"], shown(actual)
                )
    return check_protected(list(ops))


def _check_trust(state: CoreState, ops: Sequence[Op], guards: Sequence[int], command: Command) -> None:
    """Raises :class:`PatchConflictError` for an operation that replaces a value that is trusted more."""
    trust = trust_of(command.by, command.source)
    confidence = 1.0 if command.confidence is None else command.confidence
    for index, op in enumerate(ops):
        if op["op"] in ("test", "copy") or index in guards:
            continue
        tokens = split(op["from"] if op["op"] == "move" else op["path"])
        inserts = op["op"] == "add" and isinstance(value_at(state.document, tokens[:-1]), list)
        held = MISSING if inserts else value_at(state.document, tokens)
        if held is MISSING or ("value" in op and same(held, op["value"])):
            continue
        mark = hardest_mark(value_at(state.marks, tokens))
        if mark is not None and not outweighs(trust, confidence, mark):
            raise PatchConflictError(
                "contradiction",
                index,
                op["path"],
                f"version {mark.version} set this value, and it is trusted more (trust {mark.trust.name.lower()}, "
                f"confidence {mark.confidence:g}); the user decides about the waiting patch",
                expected=shown(op.get("value")),
                actual=shown(held),
            )


def _queued(
    ops: Sequence[Op], guards: tuple[int, ...], command: Command, error: PatchConflictError
) -> PatchQueued:
    return PatchQueued(
        patch=tuple(dict(op) for op in ops),
        guards=guards,
        fault=error.fault,
        reason=error.reason,
        op=error.op,
        path=error.path,
        expected=error.expected,
        actual=error.actual,
        **_rests_on(command),
    )


def _rests_on(command: Command) -> dict[str, Any]:
    return {name: getattr(command, name) for name in ("by", "source", "confidence", "rationale", "turn_ids")}


def _refuse_other_version(state: CoreState, expected: int | None, ops: Sequence[Op]) -> None:
    if expected not in (None, state.version):
        raise conflict(
            "Version mismatch",
            "expected_version",
            f"the document is at version {state.version}, not {expected}; read it, and decide again",
            version=state.version,
            op=0,
            path=ops[0]["path"] if ops else "",
        )


def _is_repeat(first: Payload, ops: Sequence[Op]) -> bool:
    """True when ``ops`` may have become the event of an earlier patch: indexes follow their items, the rest stays."""
    if not isinstance(first, CorePatched | PatchQueued):
        return False
    sent = [op for op in ops if op["op"] != "test"]
    kept = [op for index, op in enumerate(first.patch) if op["op"] != "test" and index not in first.guards]
    return len(sent) == len(kept) and all(
        one["op"] == other["op"]
        and same(one.get("value"), other.get("value"))
        and all(
            _without_indexes(one.get(each)) == _without_indexes(other.get(each)) for each in ("path", "from")
        )
        for one, other in zip(sent, kept, strict=True)
    )


def _without_indexes(pointer: str | None) -> list[str | None]:
    return [None if index_of(token) is not None else token for token in split(pointer or "")]


class WaitingPatch(CoreDocument):
    """The document of a user with a patch that waits in its queue."""

    def __init__(
        self, connection: Connection, documents: Documents, command: Command, queue_id: UUID
    ) -> None:
        super().__init__(connection, documents, command)
        self.queue_id = queue_id
        self.entries = [queue_id]


def approve(patch: WaitingPatch, ops: Sequence[Op] | None, reason: str | None) -> Outcome[int]:
    """Applies a waiting patch without the tests of its author, or ``ops`` in its place.

    Raises a 404 problem for an unknown entry, and 409 for one that has an answer or a patch that still does not fit.
    """

    def approval(present: Present, entry: QueueEntry) -> Payload:
        held = present.state.document
        waiting = redirected(held, entry.patch)
        try:
            if ops is None:
                wanted = approved(held, entry) if entry.kind == "proposal" else waiting
                stored, guards = _without_tests(check_protected([dict(op) for op in wanted]), entry.guards)
                if not guards:
                    _, stored, guards = guarded(held, stored)
            else:
                _, stored, guards = guarded(held, check_protected(redirected(held, ops)))
            changed, done = followed(held, stored, guards)
            check_document(changed, done)
        except PatchConflictError as error:
            raise conflict_problem(error, present.state.version) from None
        return PatchApproved(
            queue_id=patch.queue_id,
            patch=tuple(dict(op) for op in done),
            guards=guards,
            by=patch.command.actor,
            reason=reason,
            confidence=entry.confidence,
            turn_ids=entry.turn_ids,
        )

    return _answer(patch, approval)


def refuse(patch: WaitingPatch, reason: str | None) -> Outcome[int]:
    """Refuses a waiting patch. Raises the problems of :func:`approve`."""

    def refusal(_: Present, __: QueueEntry) -> Payload:
        return PatchRefused(queue_id=patch.queue_id, by=patch.command.actor, reason=reason)

    return _answer(patch, refusal)


def _answer(patch: WaitingPatch, answer: Callable[[Present, QueueEntry], Payload]) -> Outcome[int]:
    def rule(present: Present) -> Decision:
        payload = answer(present, _open(present, patch.queue_id))
        return Decision(payload=payload, key=f"core-answer/{patch.queue_id}")

    return decide(patch, rule)


def _without_tests(ops: Sequence[Op], guards: Sequence[int]) -> tuple[list[Op], tuple[int, ...]]:
    kept = [index for index, op in enumerate(ops) if index in guards or op["op"] != "test"]
    return [ops[index] for index in kept], tuple(
        number for number, index in enumerate(kept) if index in guards
    )


def _open(present: Present, queue_id: UUID) -> QueueEntry:
    entry = present.fold.entry(queue_id)
    if entry is None:
        raise missing("waiting patch", "queue_id")
    if entry.status != "open":
        raise conflict("Answered", "queue_id", f"this patch is {entry.status} already", settled=entry.status)
    return entry
