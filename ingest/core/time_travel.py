"""Rollbacks and cherry-picks of the core document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from events.core.evolution.old_pointers import redirected
from events.core.fold import Present
from events.core.patches import Op, PatchConflictError, followed
from events.core.replay import Conflict, difference, in_force, picked, replayed
from events.core.schema import check_document
from events.core.state import EVOLUTION_KINDS, Change
from events.http.errors import invalid, missing
from events.references.reference_log import first_event, lock
from events.store.log import Connection
from events.types.codec import Payload
from events.types.core import (
    STREAM,
    CoreCherryPicked,
    CoreRolledBack,
)
from ingest.core.appending import (
    Origin,
    Outcome,
    appended,
    conflict_problem,
    dedupe_key,
    other_command,
    outcome_of,
)
from ingest.core.documents import Documents


@dataclass(frozen=True, slots=True)
class RolledBack:
    """A rollback that was done, or would be. With ``conflicts`` nothing is done."""

    event_ids: tuple[UUID, ...]
    ops: Sequence[Op]
    conflicts: Sequence[Conflict]
    outcome: Outcome


def roll_back(
    connection: Connection,
    documents: Documents,
    owner: str,
    event_ids: Sequence[UUID] | None,
    to_version: int | None,
    origin: Origin,
    *,
    dry_run: bool = False,
) -> RolledBack:
    """Leaves events out of the document, or everything after a version. Changes that stood on them are conflicts.

    With a conflict nothing is appended. Raises a 404 problem for an event that did not change the document.
    """
    lock(connection, owner, STREAM)
    found: list[RolledBack] = []

    def payload(present: Present) -> Payload | None:
        ids = _left_out(present, event_ids, to_version)
        made = replayed(in_force(present.history, ids))
        conflicts = list(made.conflicts)
        if not conflicts:
            try:
                check_document(made.document, [])
            except PatchConflictError as error:
                conflicts.append(Conflict(present.history[-1], error))
        ops = difference(present.state.document, made.document)
        outcome = Outcome(version=present.state.version, position=present.folded_to)
        found[:] = [RolledBack(ids, ops, conflicts, outcome)]
        if conflicts or dry_run or not ids:
            return None
        return CoreRolledBack(event_ids=ids, by=origin.by, rationale=origin.rationale, to_version=to_version)

    if origin.idempotency_key is not None and not dry_run:
        before = first_event(connection, owner, dedupe_key(origin.idempotency_key))
        if before is not None:
            if not isinstance(before.payload, CoreRolledBack):
                raise other_command()
            outcome = outcome_of(connection, documents, owner, before)
            return RolledBack(before.payload.event_ids, (), (), outcome)
    present = documents.present(connection, owner, history=True)
    if present.state.version == 0:
        raise missing("document", "user_id")
    outcome = appended(connection, documents, owner, present, payload, origin, history=True)
    return RolledBack(found[0].event_ids, found[0].ops, found[0].conflicts, outcome)


def cherry_pick(
    connection: Connection, documents: Documents, owner: str, event_ids: Sequence[UUID], origin: Origin
) -> Outcome:
    """Applies changes again that were left out, in the order of the log, all or none.

    Raises a 404 problem for an unknown event, 422 for one that is in force or is a rollback, and 409 with the operation
    that does not fit.
    """
    lock(connection, owner, STREAM)

    def payload(present: Present) -> Payload:
        wanted = set(event_ids)
        known = {each.event_id: each for each in present.history}
        for each in event_ids:
            if each not in known:
                raise missing("change", "event_ids", event_id=str(each))
            if known[each].kind == "rollback":
                raise invalid("event_ids", f"{each} is a rollback; roll it back to undo it")
            if known[each].kind in EVOLUTION_KINDS:
                raise invalid(
                    "event_ids",
                    f"{each} is a change of the schema; roll back what left it out, or promote again",
                )
        for change in in_force(present.history):
            if change.event_id in wanted:
                raise invalid("event_ids", f"{change.event_id} is in force; leave it out")
        found, guards = picked(each for each in present.history if each.event_id in wanted)
        ops = redirected(present.state.document, found)
        try:
            document, done = followed(present.state.document, ops, guards)
            check_document(document, done)
        except PatchConflictError as error:
            raise conflict_problem(error, present.state.version) from None
        ordered = tuple(each.event_id for each in present.history if each.event_id in wanted)
        return CoreCherryPicked(event_ids=ordered, by=origin.by, rationale=origin.rationale)

    if origin.idempotency_key is not None:
        before = first_event(connection, owner, dedupe_key(origin.idempotency_key))
        if before is not None:
            if not isinstance(before.payload, CoreCherryPicked):
                raise other_command()
            return outcome_of(connection, documents, owner, before)
    present = documents.present(connection, owner, history=True)
    if present.state.version == 0:
        raise missing("document", "user_id")
    return appended(connection, documents, owner, present, payload, origin, history=True)


def _left_out(present: Present, event_ids: Sequence[UUID] | None, to_version: int | None) -> tuple[UUID, ...]:
    """Returns the events that a rollback leaves out, in the order of the log."""
    history: Sequence[Change] = sorted(present.history, key=lambda each: each.version)
    if to_version is not None:
        if to_version > present.state.version:
            raise invalid("to_version", f"{to_version} never was; use 0 to {present.state.version}")
        return tuple(each.event_id for each in history if each.version > to_version)
    wanted = set(event_ids or ())
    known = {each.event_id for each in history}
    for each in event_ids or ():
        if each not in known:
            raise missing("change", "event_ids", event_id=str(each))
    return tuple(each.event_id for each in history if each.event_id in wanted)
