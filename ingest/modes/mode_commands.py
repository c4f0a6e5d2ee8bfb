"""The commands about modes and projects: declare, rename, delete.

Every command runs in a transaction of the caller, on the end of the user's stream in the log, under a lock of that
stream. A command that changes nothing appends nothing, so a repeated command is safe. The caller announces the append
after the commit (:func:`events.store.log.announce`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from events.http.errors import ProblemError, invalid, missing
from events.modes import registry as registries
from events.modes.bounds import (
    ModeRefusedError,
    checked_description,
    checked_dimension,
    checked_hints,
    checked_name,
    checked_project,
    not_general,
)
from events.modes.mode_log import lock, registry_of
from events.modes.reembedding import Planner, ReembeddingPlan
from events.modes.registry import Modes
from events.platform.modes import GENERAL_MODE
from events.store import log
from events.store.log import Connection
from events.types.codec import Payload
from events.types.envelope import NewEvent, uuid7
from events.types.modes import (
    STREAM,
    Decay,
    Mode,
    ModeDeclared,
    ModeDeleted,
    ModeReembedded,
    ModeRegistry,
    ModeRenamed,
    ProjectDeclared,
)

_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,99}(?:/[A-Za-z0-9][A-Za-z0-9._:-]{0,99})?")

DimensionOf = Callable[[str], int]
"""Returns the length of a model's vectors; "" is the default model. Raises ValueError with the remedy for a model that
is not there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Declaration:
    """What a caller declares of a mode. A field that is None keeps what was declared before."""

    embedder: str | None = None
    description: str | None = None
    default_decay: Decay | None = None
    prompt_overrides: Mapping[str, Any] | None = None
    is_default: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Who sends a command and when."""

    actor: str
    at: datetime


@dataclass(frozen=True, slots=True)
class Outcome:
    """The registry after a command. ``changed`` is false when the wanted state already held."""

    registry: ModeRegistry
    changed: bool


@dataclass(frozen=True, slots=True)
class Reembedding:
    """What a re-embedding of the mode ``name`` does. ``event_id`` is the request in the log; None: there is none."""

    name: str
    plan: ReembeddingPlan
    event_id: UUID | None


def declare(
    connection: Connection,
    owner: str,
    project_id: str | None,
    name: str,
    wanted: Declaration,
    origin: Origin,
    dimension_of: DimensionOf,
) -> Outcome:
    """Declares a mode, or declares it anew. A deleted mode comes back with its cards.

    Raises a 422 problem for a model that is not there or has vectors of another length than 384, 768 or 1024, and a 409
    problem for the former name of another mode.
    """
    with _problems():
        checked_name("name", name)
        checked_project(project_id)
        given = _given(name, wanted, dimension_of)
    lock(connection, owner)
    before = registry_of(connection, owner)
    earlier = next(
        (each for each in before.modes if (each.project_id, each.name) == (project_id, name)), None
    )
    live = earlier is not None and not earlier.deleted
    base = (
        earlier
        if live and earlier is not None
        else Mode(name=name, project_id=project_id, declared_at=origin.at)
    )
    mode = replace(base, **given)
    mode = replace(mode, embedders=(mode.embedder or "",))
    with _problems():
        after = registries.declared(before, mode, is_default=wanted.is_default)
    if live and _same(before, after):
        return Outcome(before, False)
    return _append(connection, owner, ModeDeclared(mode=mode, registry=after), after, origin)


def rename(
    connection: Connection, owner: str, project_id: str | None, name: str, new_name: str, origin: Origin
) -> Outcome:
    """Gives a mode another name. Its cards stay its cards, and the former name goes on to mean it.

    Raises a 404 problem for an unknown mode, and a 409 problem when ``new_name`` is or was the name of another mode.
    """
    with _problems():
        checked_name("new_name", not_general("new_name", new_name))
        not_general("name", name)
        checked_project(project_id)
    lock(connection, owner)
    before = registry_of(connection, owner)
    if any(
        (each.project_id, each.old, each.name) == (project_id, name, new_name) for each in before.former_names
    ):
        return Outcome(before, False)
    with _problems():
        after = registries.renamed(before, (project_id, name), new_name)
    if _same(before, after):
        return Outcome(before, False)
    renamed = ModeRenamed(name=name, new_name=new_name, project_id=project_id, registry=after)
    return _append(connection, owner, renamed, after, origin)


def delete(connection: Connection, owner: str, project_id: str | None, name: str, origin: Origin) -> Outcome:
    """Deletes a mode. Its cards stay and belong to the general mode. Raises a 404 problem for an unknown mode."""
    with _problems():
        not_general("name", name)
    lock(connection, owner)
    before = registry_of(connection, owner)
    if any((each.project_id, each.name, each.deleted) == (project_id, name, True) for each in before.modes):
        return Outcome(before, False)
    with _problems():
        after = registries.deleted(before, (project_id, name))
    return _append(
        connection, owner, ModeDeleted(name=name, project_id=project_id, registry=after), after, origin
    )


def reembed(
    connection: Connection,
    owner: str,
    project_id: str | None,
    name: str,
    origin: Origin,
    everybody: Mapping[str, str],
    planner: Planner,
    *,
    dry_run: bool = False,
) -> Reembedding:
    """Asks for new vectors of all earlier cards of a mode, by the mode's present embedder.

    Nothing is appended for a dry run, and when no card needs another vector. Raises a 404 problem for a mode that the
    user does not have, and a 422 problem with the remedy when the embedder is not there.
    """
    with _problems():
        checked_project(project_id)
        lock(connection, owner)
        before = registry_of(connection, owner)
        modes = Modes(before, everybody)
        meant = modes.meaning(project_id or "", name)
        try:
            plan = planner(connection, owner, modes, project_id, meant, measure=dry_run)
        except ValueError as error:
            raise ModeRefusedError("name", str(error)) from None
        # Cards may have the name of a mode that the settings do not name any more.
        known = meant == GENERAL_MODE or modes.mode(project_id or "", meant) is not None
        if not known and not (plan.cards or plan.waiting):
            raise ModeRefusedError("name", "", missing=True)
    if dry_run or not plan.needed:
        return Reembedding(meant, plan, None)
    payload = ModeReembedded(name=meant, project_id=project_id, registry=before)
    event_id = uuid7()
    _append(connection, owner, payload, before, origin, event_id)
    return Reembedding(meant, plan, event_id)


def declare_project(
    connection: Connection,
    owner: str,
    project_id: str,
    changes: Mapping[str, str | None],
    origin: Origin,
    everybody: Mapping[str, str],
) -> Outcome:
    """Sets ``default_mode`` and ``description`` of a project, as far as ``changes`` has them. None takes one away.

    Raises a 422 problem for a mode that the project does not have.
    """
    with _problems():
        checked_project(project_id)
    lock(connection, owner)
    before = registry_of(connection, owner)
    project = replace(registries.project_of(before, project_id), **_texts(changes))
    if (name := project.default_mode) is not None and "default_mode" in changes:
        refuse_unknown("default_mode", name, Modes(before, everybody), project_id)
    with _problems():
        after = registries.with_project(before, project)
    if _same(before, after) and any(each.project_id == project_id for each in before.projects):
        return Outcome(before, False)
    return _append(connection, owner, ProjectDeclared(project=project, registry=after), after, origin)


def refuse_unknown(field: str, name: str, modes: Modes, project_id: str | None) -> None:
    """Raises a 422 problem for a mode that a project does not have. The problem names those it has."""
    allowed = [GENERAL_MODE, *(each.name for each in modes.in_force(project_id) if each.name != GENERAL_MODE)]
    if name not in allowed:
        raise invalid(
            field,
            f"{name[:64]!r} is no mode here; declare it with PUT /v1/modes, or use one of {', '.join(allowed)}",
            allowed=allowed,
        )


def reembedding_document(found: Reembedding, project_id: str | None, *, dry_run: bool) -> dict[str, Any]:
    """Returns a re-embedding as JSON, the same over HTTP and in the command."""
    accepted = "unneeded" if found.event_id is None else "accepted"
    return {
        "mode": found.name,
        "project_id": project_id,
        "state": "planned" if dry_run else accepted,
        "reembedding_id": found.event_id,
        "embedder": found.plan.embedder,
        "cards": found.plan.cards,
        "other": found.plan.other,
        "waiting": found.plan.waiting,
        "texts_per_s": found.plan.texts_per_s,
        "seconds": found.plan.seconds,
        "model_calls": 0,
    }


def _given(name: str, wanted: Declaration, dimension_of: DimensionOf) -> dict[str, Any]:
    """Returns the checked fields that the caller gave."""
    given: dict[str, Any] = {}
    if wanted.embedder is not None:
        model = wanted.embedder.strip()
        if name == GENERAL_MODE and model:
            raise ModeRefusedError(
                "embedder",
                f"the model of {GENERAL_MODE} is the one of CARDLOG_EMBED_MODEL; leave the field out",
            )
        given["embedder"], given["dimension"] = model or None, None
        if model:
            if not _MODEL.fullmatch(model):
                raise ModeRefusedError(
                    "embedder", "must be the name of a model, such as intfloat/multilingual-e5-small"
                )
            try:
                dimension = dimension_of(model)
            except ValueError as error:
                raise ModeRefusedError("embedder", str(error)) from None
            given["dimension"] = checked_dimension(model, dimension)
    if wanted.description is not None:
        given["description"] = checked_description(wanted.description).strip()
    if wanted.default_decay is not None:
        given["default_decay"] = wanted.default_decay
    if wanted.prompt_overrides is not None:
        given["prompt_overrides"] = checked_hints(wanted.prompt_overrides)
    return given


def _texts(changes: Mapping[str, str | None]) -> dict[str, Any]:
    with _problems():
        texts: dict[str, Any] = {}
        if "default_mode" in changes:
            name = changes["default_mode"]
            texts["default_mode"] = None if name is None else checked_name("default_mode", name)
        if "description" in changes:
            texts["description"] = checked_description(changes["description"] or "").strip()
    return texts


def _same(before: ModeRegistry, after: ModeRegistry) -> bool:
    """True when two registries say the same, whatever the order of their entries is."""
    return (
        all(
            sorted(getattr(before, name), key=repr) == sorted(getattr(after, name), key=repr)
            for name in ("modes", "projects", "former_names")
        )
        and before.default_mode == after.default_mode
    )


def _append(
    connection: Connection,
    owner: str,
    payload: Payload,
    after: ModeRegistry,
    origin: Origin,
    event_id: UUID | None = None,
) -> Outcome:
    event = NewEvent(
        event_id=event_id or uuid7(),
        user_id=owner,
        stream=STREAM,
        payload=payload,
        occurred_at=origin.at,
        actor=origin.actor,
    )
    log.append(connection, [event])
    return Outcome(after, True)


@contextmanager
def _problems() -> Iterator[None]:
    """Turns :class:`ModeRefusedError` into a problem."""
    try:
        yield
    except ModeRefusedError as error:
        if error.missing:
            raise missing("mode", error.field) from None
        if error.taken:
            raise ProblemError(
                409, "Name taken", f"{error.field}: {error.reason}", field=error.field, reason=error.reason
            ) from None
        raise invalid(error.field, error.reason) from None
