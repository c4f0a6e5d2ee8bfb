"""The commands about modes and projects: declare, rename, delete, embed again.

Every command is decided under a lock of the user's modes (:mod:`ingest.decider`). A command that changes nothing
appends nothing, so a repeated command is safe.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any
from uuid import UUID

from events.http.errors import ProblemError, conflict, invalid, missing
from events.modes import registry as registries
from events.modes.mode_log import registry_of
from events.modes.reembedding import Planner, ReembeddingPlan
from events.modes.registry import (
    ModeRefusedError,
    Modes,
    checked_description,
    checked_dimension,
    checked_hints,
    checked_name,
    checked_project,
    not_general,
)
from events.modes.shown import DimensionOf
from events.platform.modes import GENERAL_MODE
from events.resources.modes import Reembedding
from events.types.envelope import Event, Payload
from events.types.json_values import JsonObject
from events.types.modes import (
    STREAM,
    Mode,
    ModeDeclared,
    ModeDeleted,
    ModeReembedded,
    ModeRegistry,
    ModeRenamed,
    ProjectDeclared,
)
from ingest.decider import Outcome, UserStream, decide

_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,99}(?:/[A-Za-z0-9][A-Za-z0-9._:-]{0,99})?")


class UserModes(UserStream[ModeRegistry, ModeRegistry]):
    """The modes and projects of a user. Each event of them has the whole registry."""

    name = STREAM

    def load(self) -> ModeRegistry:
        return registry_of(self.connection, self.owner)

    def present(self, state: ModeRegistry, event: Event | None = None) -> ModeRegistry:
        return state

    def first_answer(self, event: Event) -> ModeRegistry:
        registry: ModeRegistry = event.payload.registry
        return registry


@contextmanager
def _problems() -> Iterator[None]:
    try:
        yield
    except ModeRefusedError as error:
        if error.missing:
            if error.reason:
                raise ProblemError(404, "Not found", str(error), field=error.field) from None
            raise missing("mode", error.field) from None
        if error.taken:
            raise conflict("Name taken", error.field, error.reason, reason=error.reason) from None
        raise invalid(error.field, error.reason) from None


@_problems()
def declare(
    user_modes: UserModes,
    project_id: str | None,
    name: str,
    wanted: JsonObject,
    dimension_of: DimensionOf,
) -> Outcome[ModeRegistry]:
    """Declares a mode, or declares it anew. A field that ``wanted`` lacks keeps its value. A deleted mode comes back.

    Raises a 422 problem for a model that is not there or has vectors of another length than 384, 768 or 1024, and a 409
    problem for the former name of another mode.
    """
    checked_name("name", name)
    checked_project(project_id)
    given = _given(name, wanted, dimension_of)

    def declared(before: ModeRegistry) -> Payload | None:
        earlier = next(
            (each for each in before.modes if (each.project_id, each.name) == (project_id, name)), None
        )
        live = earlier is not None and not earlier.deleted
        base = earlier if live else Mode(name=name, project_id=project_id, declared_at=user_modes.command.at)
        assert base is not None
        mode = replace(base, **given)
        mode = replace(mode, embedders=(mode.embedder or "",))
        after = registries.declared(before, mode, is_default=wanted.get("is_default"))
        return None if live and _same(before, after) else ModeDeclared(mode=mode, registry=after)

    return decide(user_modes, declared)


@_problems()
def rename(user_modes: UserModes, project_id: str | None, name: str, new_name: str) -> Outcome[ModeRegistry]:
    """Gives a mode another name. Its cards stay its cards, and the former name goes on to mean it.

    Raises a 404 problem for an unknown mode, and a 409 problem when ``new_name`` is or was the name of another mode.
    """
    checked_name("new_name", not_general("new_name", new_name))
    not_general("name", name)
    checked_project(project_id)

    def renamed(before: ModeRegistry) -> Payload | None:
        done = (project_id, name, new_name)
        if done in ((each.project_id, each.old, each.name) for each in before.former_names):
            return None
        after = registries.renamed(before, (project_id, name), new_name)
        if _same(before, after):
            return None
        return ModeRenamed(name=name, new_name=new_name, project_id=project_id, registry=after)

    return decide(user_modes, renamed)


@_problems()
def delete(user_modes: UserModes, project_id: str | None, name: str) -> Outcome[ModeRegistry]:
    """Deletes a mode. Its cards stay and belong to the general mode. Raises a 404 problem for an unknown mode."""
    not_general("name", name)

    def deleted(before: ModeRegistry) -> Payload | None:
        if (project_id, name, True) in ((each.project_id, each.name, each.deleted) for each in before.modes):
            return None
        after = registries.deleted(before, (project_id, name))
        return ModeDeleted(name=name, project_id=project_id, registry=after)

    return decide(user_modes, deleted)


@_problems()
def reembed(
    user_modes: UserModes,
    project_id: str | None,
    name: str,
    everybody: Mapping[str, str],
    planner: Planner,
    *,
    dry_run: bool = False,
) -> Reembedding:
    """Asks for new vectors of all earlier cards of a mode, by the mode's present embedder.

    Nothing is appended for a dry run, and when no card needs another vector. Raises a 404 problem for a mode that the
    user does not have, and a 422 problem with the remedy when the embedder is not there.
    """
    checked_project(project_id)
    planned: list[tuple[str, ReembeddingPlan]] = []

    def reembedded(before: ModeRegistry) -> Payload | None:
        modes = Modes(before, everybody)
        meant = modes.meaning(project_id or "", name)
        try:
            plan = planner(user_modes.connection, user_modes.owner, modes, project_id, meant, measure=dry_run)
        except ValueError as error:
            raise ModeRefusedError("name", str(error)) from None
        # Cards may have the name of a mode that the settings do not name any more.
        known = meant == GENERAL_MODE or modes.mode(project_id or "", meant) is not None
        if not known and not (plan.cards or plan.waiting):
            if elsewhere := [
                each.project_id for each in before.modes if each.name == name and not each.deleted
            ]:
                reason = f"must name a project that has this mode, such as {elsewhere[0]}"
                raise ModeRefusedError("project_id", reason, missing=True)
            raise ModeRefusedError("name", "", missing=True)
        planned.append((meant, plan))
        if dry_run or not plan.needed:
            return None
        return ModeReembedded(name=meant, project_id=project_id, registry=before)

    outcome = decide(user_modes, reembedded)
    meant, plan = planned[-1]
    event_id = None if outcome.event is None else outcome.event.event_id
    return reembedding(plan, meant, plan.embedder, event_id, project_id=project_id, dry_run=dry_run)


def reembedding(
    plan: ReembeddingPlan,
    mode: str,
    embedder: str,
    reembedding_id: UUID | None,
    *,
    project_id: str | None = None,
    dry_run: bool,
) -> Reembedding:
    """Returns the effect of a re-embedding, done or planned. ``reembedding_id`` None: there is no request."""
    asked = "unneeded" if reembedding_id is None else "accepted"
    return Reembedding.made_from(
        plan,
        mode=mode,
        project_id=project_id,
        state="planned" if dry_run else asked,
        reembedding_id=reembedding_id,
        embedder=embedder,
        model_calls=0,
    )


@_problems()
def declare_project(
    user_modes: UserModes, project_id: str, changes: Mapping[str, str | None], everybody: Mapping[str, str]
) -> Outcome[ModeRegistry]:
    """Sets ``default_mode`` and ``description`` of a project, as far as ``changes`` has them. None takes one away.

    Raises a 422 problem for a mode that the project does not have.
    """
    checked_project(project_id)

    def declared(before: ModeRegistry) -> Payload | None:
        project = replace(registries.project_of(before, project_id), **_texts(changes))
        if (name := project.default_mode) is not None and "default_mode" in changes:
            refuse_unknown("default_mode", name, Modes(before, everybody), project_id)
        after = registries.with_project(before, project)
        if _same(before, after) and any(each.project_id == project_id for each in before.projects):
            return None
        return ProjectDeclared(project=project, registry=after)

    return decide(user_modes, declared)


def refuse_unknown(field: str, name: str, modes: Modes, project_id: str | None) -> None:
    """Raises a 422 problem for a mode that a project does not have. The problem names those it has."""
    allowed = [GENERAL_MODE, *(each.name for each in modes.in_force(project_id) if each.name != GENERAL_MODE)]
    if name not in allowed:
        raise invalid(
            field,
            f"{name[:64]!r} is no mode here; declare it with PUT /v1/modes, or use one of {', '.join(allowed)}",
            allowed=allowed,
        )


def _given(name: str, wanted: JsonObject, dimension_of: DimensionOf) -> dict[str, Any]:
    given = {each: value for each, value in wanted.items() if each != "is_default"}
    if "embedder" in given:
        model = given["embedder"].strip()
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
    if "description" in given:
        given["description"] = checked_description(given["description"]).strip()
    if "prompt_overrides" in given:
        given["prompt_overrides"] = checked_hints(given["prompt_overrides"])
    return given


def _texts(changes: Mapping[str, str | None]) -> dict[str, Any]:
    texts: dict[str, object] = {}
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
