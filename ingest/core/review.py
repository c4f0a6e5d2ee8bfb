"""Answers to patches that wait."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from events.core.evolution.old_pointers import redirected
from events.core.fold import Present
from events.core.patches import PatchConflictError, followed, guarded
from events.core.proposals import approved
from events.core.schema import check_document, check_protected
from events.core.state import QueueEntry
from events.http.errors import ProblemError, missing
from events.references.reference_log import lock
from events.store.log import Connection
from events.types.codec import Payload
from events.types.core import (
    STREAM,
    PatchApproved,
    PatchRefused,
)
from ingest.core.appending import (
    Origin,
    Outcome,
    appended,
    conflict_problem,
)
from ingest.core.documents import Documents


def approve(
    connection: Connection,
    documents: Documents,
    owner: str,
    queue_id: UUID,
    ops: Sequence[dict[str, Any]] | None,
    reason: str | None,
    origin: Origin,
) -> Outcome:
    """Applies a waiting patch without the tests of its author, or ``ops`` in its place.

    Raises a 404 problem for an unknown entry, and 409 for one that has an answer or a patch that still does not fit.
    """
    lock(connection, owner, STREAM)

    def payload(present: Present) -> Payload:
        entry = _open(present, queue_id)
        waiting = redirected(present.state.document, entry.patch)
        try:
            if ops is None:
                held = present.state.document
                wanted = approved(held, entry) if entry.kind == "proposal" else waiting
                stored, guards = _without_tests(check_protected([dict(op) for op in wanted]), entry.guards)
                if not guards:
                    _, stored, guards = guarded(present.state.document, stored)
            else:
                _, stored, guards = guarded(
                    present.state.document, check_protected(redirected(present.state.document, ops))
                )
            document, done = followed(present.state.document, stored, guards)
            check_document(document, done)
        except PatchConflictError as error:
            raise conflict_problem(error, present.state.version) from None
        return PatchApproved(
            queue_id=queue_id,
            patch=tuple(dict(op) for op in done),
            guards=guards,
            by=origin.actor,
            reason=reason,
            confidence=entry.confidence,
            turn_ids=entry.turn_ids,
        )

    present = documents.present(connection, owner, entries=[queue_id])
    return appended(
        connection,
        documents,
        owner,
        present,
        payload,
        origin,
        key=f"core-answer/{queue_id}",
        entries=[queue_id],
    )


def refuse(
    connection: Connection,
    documents: Documents,
    owner: str,
    queue_id: UUID,
    reason: str | None,
    origin: Origin,
) -> Outcome:
    """Refuses a waiting patch. Raises the problems of :func:`approve`."""
    lock(connection, owner, STREAM)

    def payload(present: Present) -> Payload:
        _open(present, queue_id)
        return PatchRefused(queue_id=queue_id, by=origin.actor, reason=reason)

    present = documents.present(connection, owner, entries=[queue_id])
    return appended(
        connection,
        documents,
        owner,
        present,
        payload,
        origin,
        key=f"core-answer/{queue_id}",
        entries=[queue_id],
    )


def _without_tests(
    ops: Sequence[dict[str, Any]], guards: Sequence[int]
) -> tuple[list[dict[str, Any]], tuple[int, ...]]:
    kept = [index for index, op in enumerate(ops) if index in guards or op["op"] != "test"]
    return [ops[index] for index in kept], tuple(
        number for number, index in enumerate(kept) if index in guards
    )


def _open(present: Present, queue_id: UUID) -> QueueEntry:
    entry = present.fold.entry(queue_id)
    if entry is None:
        raise missing("waiting patch", "queue_id")
    if entry.status != "open":
        raise ProblemError(
            409,
            "Answered",
            f"queue_id: this patch is {entry.status} already",
            field="queue_id",
            settled=entry.status,
        )
    return entry
