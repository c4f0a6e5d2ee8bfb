"""Patches of the core document: applied as a whole, or queued with the reason."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import orjson

from events.core.evolution.old_pointers import redirected
from events.core.fold import CORRECTED, Present, hardest_mark, outweighs, trust_of
from events.core.patches import Op, PatchConflictError, followed, guarded, names_items, same, shown
from events.core.pointers import MISSING, split, value_at
from events.core.proposals import MAX_WAITING
from events.core.schema import META, check_document, check_protected
from events.core.state import CoreState, QueueEntry
from events.http.errors import ProblemError
from events.references.reference_log import first_event, lock, share_owner
from events.store.log import Connection
from events.types.codec import Payload
from events.types.core import (
    STREAM,
    CorePatched,
    PatchQueued,
)
from ingest.core.appending import (
    Origin,
    Outcome,
    appended,
    as_sent,
    dedupe_key,
    other_command,
    outcome_of,
)
from ingest.core.documents import Documents


def patch(
    connection: Connection,
    documents: Documents,
    owner: str,
    ops: Sequence[dict[str, Any]],
    origin: Origin,
    expected_version: int | None = None,
) -> Outcome:
    """Applies a checked patch, or queues it when it does not fit.

    An index means the item that it names when the command arrives. Raises a 409 problem when the document is not at
    ``expected_version``, and a 422 problem for an idempotency key of another patch.
    """
    share_owner(connection, owner)  # an erased value must not return in a guard
    arrived = documents.present(connection, owner) if names_items(ops) else None
    lock(connection, owner, STREAM)
    if (repeated := _repeated(connection, documents, owner, origin, ops)) is not None:
        return repeated
    present = documents.present(connection, owner)
    resolved: tuple[list[dict[str, Any]], tuple[int, ...]] | None = None
    conflict: PatchConflictError | None = None
    try:
        meant = (arrived or present).state
        sent = check_protected(redirected(meant.document, _checked(meant, ops)))
        _, stored, guards = guarded(meant.document, sent)
        resolved = stored, guards
    except PatchConflictError as error:
        conflict = error

    def decide(present: Present) -> tuple[Payload | None, PatchConflictError | None]:
        _refuse_other_version(present.state, expected_version, ops)
        if resolved is None:
            assert conflict is not None
            return _queued(ops, (), origin, conflict), conflict
        stored, guards = redirected(present.state.document, resolved[0]), resolved[1]
        try:
            _check_trust(present.state, stored, guards, origin)
            document, done = followed(present.state.document, stored, guards)
            check_document(document, done)
        except PatchConflictError as error:
            return _queued(stored, guards, origin, error), as_sent(error, guards)
        if same(document, present.state.document):
            return None, None
        return (
            CorePatched(
                patch=tuple(dict(op) for op in done),
                guards=guards,
                by=origin.by,
                source=origin.source,
                confidence=origin.confidence,
                rationale=origin.rationale,
                turn_ids=origin.turn_ids,
            ),
            None,
        )

    refused: list[PatchConflictError] = []

    def payload(present: Present) -> Payload | None:
        made, error = decide(present)
        refused[:] = [] if error is None else [error]
        full = isinstance(made, PatchQueued) and len(_waiting(connection, documents, owner)) >= MAX_WAITING
        return None if full else made

    outcome = appended(connection, documents, owner, present, payload, origin)
    if not refused:
        return outcome
    return Outcome(
        version=outcome.version, position=outcome.position, event_id=outcome.event_id, queued=refused[0]
    )


def _checked(state: CoreState, ops: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns ``ops`` without tests of ``_meta``, which hold now. Raises :class:`PatchConflictError`."""
    whole: Any = None
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


def _check_trust(state: CoreState, ops: Sequence[Op], guards: Sequence[int], origin: Origin) -> None:
    """Raises :class:`PatchConflictError` for an operation that replaces a value that is trusted more."""
    trust = trust_of(origin.by, origin.source)
    confidence = 1.0 if origin.confidence is None else origin.confidence
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
                f"confidence {mark.confidence:g}); a person decides, or send the source {CORRECTED}",
                expected=shown(op.get("value")),
                actual=shown(held),
            )


def _queued(
    ops: Sequence[Op], guards: tuple[int, ...], origin: Origin, error: PatchConflictError
) -> PatchQueued:
    return PatchQueued(
        patch=tuple(dict(op) for op in ops),
        guards=guards,
        by=origin.by,
        fault=error.fault,
        reason=error.reason,
        op=error.op,
        path=error.path,
        expected=error.expected,
        actual=error.actual,
        source=origin.source,
        confidence=origin.confidence,
        rationale=origin.rationale,
        turn_ids=origin.turn_ids,
    )


def _waiting(connection: Connection, documents: Documents, owner: str) -> list[QueueEntry]:
    return documents.present(connection, owner, entries=[UUID(int=0)]).fold.waiting


def _refuse_other_version(state: CoreState, expected: int | None, ops: Sequence[dict[str, Any]]) -> None:
    if expected not in (None, state.version):
        raise ProblemError(
            409,
            "Version mismatch",
            f"expected_version: the document is at version {state.version}, not {expected}; read it, and decide again",
            field="expected_version",
            version=state.version,
            op=0,
            path=ops[0]["path"] if ops else "",
        )


def _repeated(
    connection: Connection, documents: Documents, owner: str, origin: Origin, ops: Sequence[Op]
) -> Outcome | None:
    """Returns the outcome of the first patch with this idempotency key; None for a first one."""
    if origin.idempotency_key is None:
        return None
    event = first_event(connection, owner, dedupe_key(origin.idempotency_key))
    if event is None:
        return None
    payload = event.payload
    if not isinstance(payload, CorePatched | PatchQueued):
        raise other_command()
    sent = [op for op in ops if op["op"] != "test"]
    kept = [
        op for index, op in enumerate(payload.patch) if op["op"] != "test" and index not in payload.guards
    ]
    if len(sent) != len(kept):
        raise other_command()
    return outcome_of(connection, documents, owner, event)
