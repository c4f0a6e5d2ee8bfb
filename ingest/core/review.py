"""Answers to patches that wait."""

from collections.abc import Callable, Sequence
from uuid import UUID

from events.core.evolution.old_pointers import redirected
from events.core.fold import Present
from events.core.patches import Op, PatchConflictError, followed, guarded
from events.core.proposals import approved
from events.core.schema import check_document, check_protected
from events.core.state import QueueEntry
from events.http.errors import conflict, missing
from events.platform.database import Connection
from events.types.core import PatchApproved, PatchRefused
from events.types.envelope import Payload
from ingest.core.aggregate import CoreDocument, conflict_problem
from ingest.core.documents import Documents
from ingest.decider import Command, Decision, Outcome, decide


class WaitingPatch(CoreDocument):
    """The document of a user with a patch that waits in its queue."""

    def __init__(
        self, connection: Connection, documents: Documents, owner: str, command: Command, queue_id: UUID
    ) -> None:
        super().__init__(connection, documents, owner, command)
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
