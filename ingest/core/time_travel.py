"""Rollbacks and cherry-picks of the core document."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from events.core.evolution.old_pointers import redirected
from events.core.fold import Present
from events.core.patches import Op, PatchConflictError, followed
from events.core.replay import Conflict, difference, in_force, picked, replayed
from events.core.schema import check_document
from events.core.state import EVOLUTION_KINDS, Change
from events.http.errors import invalid, missing
from events.types.core import CoreCherryPicked, CoreRolledBack
from events.types.envelope import Payload
from ingest.core.aggregate import CoreHistory, conflict_problem
from ingest.decider import Decision, Outcome, decide


@dataclass(frozen=True, slots=True)
class RolledBack:
    """A rollback, done or planned. With ``conflicts`` nothing is done."""

    event_ids: tuple[UUID, ...]
    ops: Sequence[Op]
    conflicts: Sequence[Conflict]
    outcome: Outcome[int]


def roll_back(
    document: CoreHistory,
    event_ids: Sequence[UUID] | None,
    to_version: int | None,
    *,
    dry_run: bool = False,
) -> RolledBack:
    """Leaves events out of the document, or everything after a version. Changes that depend on them are conflicts.

    With a conflict nothing is appended. Raises a 404 problem for an event that did not change the document.
    """
    found: list[tuple[tuple[UUID, ...], Sequence[Op], Sequence[Conflict]]] = []

    def rule(present: Present) -> Payload | Decision | None:
        ids = _left_out(present, event_ids, to_version)
        made = replayed(in_force(present.history, ids))
        conflicts = list(made.conflicts)
        if not conflicts:
            try:
                check_document(made.document, [])
            except PatchConflictError as error:
                conflicts.append(Conflict(present.history[-1], error))
        found.append((ids, difference(present.state.document, made.document), conflicts))
        if conflicts:
            return Decision(payload=None)
        if dry_run or not ids:
            return None
        return CoreRolledBack(
            event_ids=ids, by=document.command.by, rationale=document.command.rationale, to_version=to_version
        )

    if dry_run:
        document.command = replace(document.command, idempotency_key=None)

    def is_repeat(first: Payload) -> bool:
        return (
            isinstance(first, CoreRolledBack)
            and first.to_version == to_version
            and (event_ids is None or set(first.event_ids) == set(event_ids))
        )

    outcome = decide(document, rule, is_repeat)
    if outcome.repeated:
        found.append((outcome.event.payload.event_ids if outcome.event else (), (), ()))
    return RolledBack(*found[-1], outcome)


def cherry_pick(document: CoreHistory, event_ids: Sequence[UUID]) -> Outcome[int]:
    """Applies changes again that were left out, in the order of the log, all or none.

    Raises a 404 problem for an unknown event, 422 for one that is in force or is a rollback, and 409 with the operation
    that does not fit.
    """

    def rule(present: Present) -> Payload:
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
            changed, done = followed(present.state.document, ops, guards)
            check_document(changed, done)
        except PatchConflictError as error:
            raise conflict_problem(error, present.state.version) from None
        ordered = tuple(each.event_id for each in present.history if each.event_id in wanted)
        return CoreCherryPicked(
            event_ids=ordered, by=document.command.by, rationale=document.command.rationale
        )

    def is_repeat(first: Payload) -> bool:
        return isinstance(first, CoreCherryPicked) and set(first.event_ids) == set(event_ids)

    return decide(document, rule, is_repeat)


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
