"""Changes of the schema of a document: proposals, promotions and reversions."""

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import Literal

from events.core.evolution.migration import logged, migration
from events.core.evolution.mining import Candidate, candidates, versions_in
from events.core.evolution.planning import Plan, PlanError, planned, taken_names
from events.core.fold import Present
from events.core.patches import Op, PatchConflictError, applied
from events.core.pointers import join, split, value_at
from events.core.schema import check_document, evolution_log, promoted_schemas
from events.http.errors import ProblemError, invalid, missing
from events.platform.database import Connection
from events.store.log import AppendConflictError
from events.types.core import SchemaPromoted, SchemaProposed, SchemaReverted
from events.types.envelope import Payload
from events.types.json_values import Json
from ingest.core.aggregate import CoreHistory, Documents
from ingest.decider import Command, Outcome, decide

logger = logging.getLogger(__name__)

Mode = Literal["propose", "auto"]
SERVICE = "cardlog"


@dataclass(frozen=True, slots=True)
class Promoted:
    """A promotion, done or planned. ``ops`` are the operations on the document; a repeat shows none."""

    name: str
    schema: Mapping[str, object]
    moved: Mapping[str, str]
    ops: Sequence[Op]
    outcome: Outcome[int]


def promote(
    document: CoreHistory,
    candidate: str,
    name: str | None,
    members: Mapping[str, str],
    *,
    among_others: bool = True,
    dry_run: bool = False,
) -> Promoted:
    """Makes a category of a candidate. All its values move in one event, or none.

    ``candidate`` is the topic or the proposed name of a candidate. Without ``among_others`` the other users of the
    tenant do not count. Raises a 404 problem for an unknown candidate, and 422 for a name or a document that does not
    fit.
    """
    found: list[tuple[SchemaPromoted, Sequence[Op]]] = []

    def rule(present: Present) -> Payload | None:
        others = document.keys_of_others() if among_others else []
        chosen = _named(candidates_of(present, others), candidate)
        try:
            plan = planned(present.state.document, chosen, name or chosen.name, members)
        except PlanError as error:
            raise invalid(error.field, error.reason) from None
        made = _promotion(present, chosen, plan, document.command)
        found.append((made, _fitting(present.state.document, made, document.command.at)))
        return None if dry_run else made

    if dry_run:
        document.command = replace(document.command, idempotency_key=None)

    def is_repeat(first: Payload) -> bool:
        return (
            isinstance(first, SchemaPromoted)
            and (first.name == name if name else candidate in (first.candidate, first.name))
            and {join((first.name, each)) for each in members.values()} <= set(first.moved.values())
        )

    outcome = decide(document, rule, is_repeat)
    if outcome.repeated and outcome.event is not None:
        found.append((outcome.event.payload, ()))
    made, ops = found[-1]
    return Promoted(made.name, made.schema, made.moved, ops, outcome)


def revert(document: CoreHistory, category: str) -> tuple[Outcome[int], Sequence[Op]]:
    """Takes a promoted category back: its values go where they were, and later ones to a dynamic category.

    Raises a 404 problem for a category that was not promoted.
    """
    found: list[Sequence[Op]] = [()]

    def rule(present: Present) -> Payload:
        command, promoted = document.command, promoted_schemas(present.state.document)
        if category not in promoted:
            raise missing("promoted category", "category", promoted=sorted(promoted))
        turn_ids = _turns_behind(present, [f"/{category}"])
        made = SchemaReverted(name=category, by=command.by, rationale=command.rationale, turn_ids=turn_ids)
        found.append(_fitting(present.state.document, made, command.at))
        return made

    outcome = decide(
        document, rule, lambda first: isinstance(first, SchemaReverted) and first.name == category
    )
    return outcome, found[-1]


def evolve(
    connection: Connection, documents: Documents, owner: str, mode: Mode, at: datetime
) -> list[Outcome[int]]:
    """Proposes every candidate of a document that was not proposed before. With ``auto`` it promotes strong ones.

    A candidate whose category was reverted is not promoted again without a person.
    """
    done: list[Outcome[int]] = []
    others = documents.keys_of_others(connection, owner)
    present = documents.present(connection, owner)
    if not candidates(present.state, taken_names(), others=others):
        return done
    document = CoreHistory(connection, documents, Command(owner=owner, by="system", actor=SERVICE, at=at))
    document.hold()
    present = document.load()
    for each in candidates_of(present, others):
        command = document.command = replace(document.command, rationale=_why(each))
        step = partial(_next_step, others=others, topic=each.candidate, mode=mode, command=command)
        if step(present) is not None and (outcome := decide(document, step)).changed:
            done.append(outcome)
    return done


def evolve_changed(
    connection: Connection, documents: Documents, mode: Mode, since: datetime, at: datetime
) -> int:
    """Runs :func:`evolve` for every user, of all tenants, whose document changed since an instant.

    Returns the number of events. Each user has a transaction of its own.
    """
    count, after = 0, ""
    while users := documents.changed_users(connection, since, after):
        after = users[-1]
        for owner in users:
            try:
                with connection.transaction():
                    count += len(evolve(connection, documents, owner, mode, at))
            except (ProblemError, AppendConflictError, RuntimeError) as error:
                logger.warning("the schema of a document is not looked at now: %s", type(error).__name__)
    return count


def candidates_of(present: Present, others: Iterable[Sequence[str]] = ()) -> list[Candidate]:
    """Returns the candidates of a document that was read with its history."""
    dates = {each.version: each.at for each in present.history}
    return candidates(present.state, taken_names(), dates, others)


def _next_step(
    present: Present, others: Iterable[Sequence[str]], topic: str, mode: Mode, command: Command
) -> Payload | None:
    found = [each for each in candidates_of(present, others) if each.candidate == topic]
    log = evolution_log(present.state.document)
    if not found:
        return None
    [each] = found
    reverted = any(entry["change"] == "reverted" and entry["newCategory"] == each.name for entry in log)
    if mode == "auto" and each.above_thresholds and not reverted:
        try:
            made = _promotion(present, each, planned(present.state.document, each, each.name), command)
            _fitting(present.state.document, made, command.at)
            return made
        except (PlanError, ProblemError):
            pass  # a person can promote it under another name
    if any(entry["change"] == "proposed" and entry["candidate"] == topic for entry in log):
        return None
    return SchemaProposed(
        candidate=topic,
        name=each.name,
        instances=tuple(each.instances),
        occurrences=each.occurrences,
        score=each.score,
        by=command.by,
        rationale=command.rationale,
        turn_ids=_turns_behind(present, each.instances),
    )


def _promotion(present: Present, chosen: Candidate, plan: Plan, command: Command) -> SchemaPromoted:
    return SchemaPromoted(
        candidate=chosen.candidate,
        name=plan.name,
        schema=dict(plan.schema),
        moved=dict(plan.moved),
        by=command.by,
        rationale=command.rationale or _why(chosen),
        turn_ids=_turns_behind(present, chosen.instances),
    )


def _why(candidate: Candidate) -> str:
    return ", ".join(
        f"{each.reason} {each.count} (+{each.points})" for each in candidate.reasons if each.points
    )


def _named(found: Sequence[Candidate], wanted: str) -> Candidate:
    for each in found:
        if wanted in (each.candidate, each.name):
            return each
    raise missing("candidate", "candidate", candidates=[each.candidate for each in found])


def _fitting(document: Json, made: SchemaPromoted | SchemaReverted, at: datetime) -> Sequence[Op]:
    """Returns the operations of a change. Raises a 422 problem when the document would not fit then."""
    ops: list[Op] = [*migration(document, logged(made, at)[1])]
    try:
        check_document(applied(document, ops), ops)
    except PatchConflictError as error:
        raise ProblemError(
            422,
            "Schema change does not fit",
            f"candidate: {error.reason} (at {error.path[:200]!r}); make the document smaller or patch the value",
            field="candidate",
            path=error.path,
        ) from None
    return ops


def _turns_behind(present: Present, pointers: Iterable[str]) -> tuple[str, ...]:
    """Returns the turns that the values at ``pointers`` rest on.

    An erasure of one of them takes the change of the schema along, because its pointers may hold words of the turn.
    """
    versions = {
        version for each in pointers for version in versions_in(value_at(present.state.marks, split(each)))
    }
    turns: dict[str, None] = {}
    for change in present.history:
        if change.version in versions:
            turns |= dict.fromkeys(change.turn_ids)
            if change.kind == "patch" and change.source is not None:
                turns[change.source] = None
    return tuple(turns)
