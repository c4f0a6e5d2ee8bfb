"""The document without some of its events: the results of a rollback and of a cherry-pick."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

import jsonpatch

from events.core.patches import Op, PatchConflictError, applied, same
from events.core.schema import empty_document
from events.core.state import Change, stepped
from events.types.json_values import Json


@dataclass(frozen=True, slots=True)
class Conflict:
    """A change that does not fit any more when others are left out, and the operation of it that fails."""

    change: Change
    error: PatchConflictError


@dataclass(frozen=True, slots=True)
class Replayed:
    """The document that a history makes. Changes with a conflict are not in it."""

    document: Json
    marks: Json
    conflicts: Sequence[Conflict]


def in_force(history: Iterable[Change], without: Collection[UUID] = ()) -> list[Change]:
    """Returns the changes of ``history`` that count, in order, when ``without`` are left out as well.

    A rollback that is itself left out leaves nothing out.
    """
    out = set(without)
    found = []
    for change in sorted(history, key=lambda each: -each.version):
        if change.event_id in out:
            continue
        if change.kind == "rollback":
            out.update(change.others)
        else:
            found.append(change)
    return found[::-1]


def replayed(changes: Iterable[Change]) -> Replayed:
    """Applies ``changes`` to the empty document, in order."""
    document = marks = empty_document()
    conflicts = []
    for change in changes:
        try:
            document, marks, _ = stepped(document, marks, change)
        except PatchConflictError as error:
            conflicts.append(Conflict(change, error))
    return Replayed(document, marks, conflicts)


def picked(changes: Iterable[Change]) -> tuple[list[Op], tuple[int, ...]]:
    """Returns the operations and guards of several changes as one patch."""
    ops: list[Op] = []
    guards: list[int] = []
    for change in changes:
        guards += [len(ops) + number for number in change.guards]
        ops += change.ops
    return ops, tuple(guards)


def difference(before: Json, after: Json) -> list[Op]:
    """Returns a JSON Patch that makes ``after`` of ``before``."""
    ops: list[Op] = list(jsonpatch.make_patch(before, after))
    try:
        if same(applied(before, ops), after):
            return ops
    except PatchConflictError:
        pass
    return [{"op": "replace", "path": "", "value": after}]
