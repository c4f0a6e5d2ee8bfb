"""Modes and projects over HTTP, to read."""

from asyncio import to_thread
from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field

from events.access.principal import Reach
from events.http.access import Reader, owner_of
from events.http.answering import routes_of
from events.http.database import Reading
from events.http.errors import missing
from events.modes.registry import Modes, project_of
from events.modes.shown import DimensionOf, shown_mode
from events.platform.modes import GENERAL_MODE
from events.resources import modes as resources
from events.types.modes import Mode
from retrieval.modes import ModeReader

_read = Reading("Modes unavailable")


class ModesParams(BaseModel, extra="forbid", use_attribute_docstrings=True):
    """Whose modes."""

    user_id: str = Field(min_length=1, description="whose modes")
    project_id: str | None = None
    """the modes that this project may use; else every declaration"""


class ReembeddingParams(BaseModel, extra="forbid", use_attribute_docstrings=True):
    """Whose re-embedding."""

    user_id: str = Field(min_length=1, description="whose mode")
    project_id: Annotated[str | None, Field(description="the project that has the mode")] = None


def modes_router(reader: ModeReader, default_model: str, dimension_of: DimensionOf) -> APIRouter:
    """Returns the routes. They answer 503 while Postgres is away."""
    router = routes_of("modes")

    @router.get("/v1/modes", summary="The modes of a user")
    async def list_modes(params: Annotated[ModesParams, Query()], caller: Reader) -> resources.Modes:
        owner = owner_of(caller, params.user_id)
        if params.project_id is not None and not Reach(projects=caller.projects).admits(
            params.project_id, None
        ):
            raise missing("project", "project_id")
        modes = await _read(reader.of, owner)

        def reached(name: str | None) -> str | None:
            return name if name is not None and Reach(modes=caller.modes).admits("", name) else None

        projects = [
            each.project_id
            for each in modes.registry.projects
            if params.project_id in (None, each.project_id)
            and Reach(projects=caller.projects).admits(each.project_id, None)
        ]
        found = modes.in_force(params.project_id)
        if params.project_id is None:
            found = sorted(
                [
                    *found,
                    *(
                        each
                        for each in modes.registry.modes
                        if each.project_id is not None and not each.deleted
                    ),
                ],
                key=lambda mode: (mode.name, mode.project_id or ""),
            )
        admitted = [
            each
            for each in found
            if caller.reach.admits(each.project_id or "", each.name)
            or (each.project_id is None and Reach(modes=caller.modes).admits("", each.name))
        ]
        return resources.Modes(
            # The embedder may be a server that has to be asked.
            modes=await to_thread(_listed, admitted, modes, default_model, dimension_of),
            default_mode=reached(modes.registry.default_mode),
            projects=[
                resources.Project.made_from(each, default_mode=reached(each.default_mode))
                for each in (project_of(modes.registry, project) for project in projects)
            ],
            former_names={
                each.old: each.name
                for each in modes.registry.former_names
                if each.project_id in (None, params.project_id)
                and Reach(modes=caller.modes).admits("", each.name)
            },
        )

    @router.get("/v1/modes/{name}/reembed", summary="The progress of a re-embedding")
    async def reembedding_progress(
        name: Annotated[str, Path(min_length=1, max_length=512, description="the name of the mode")],
        params: Annotated[ReembeddingParams, Query()],
        caller: Reader,
    ) -> resources.ReembeddingProgress:
        owner = owner_of(caller, params.user_id, thing="mode", field="name")
        if not caller.reach.admits(params.project_id or "", name) and not (
            params.project_id is None and Reach(modes=caller.modes).admits("", name)
        ):
            raise missing("mode", "name")
        modes = await _read(reader.of, owner)
        found = await _read(reader.reembedding, owner, modes, params.project_id, name)
        if (
            found.state == "none"
            and found.mode != GENERAL_MODE
            and modes.mode(params.project_id or "", found.mode) is None
        ):
            raise missing("mode", "name")
        return found

    return router


def _listed(
    found: Sequence[Mode], modes: Modes, default_model: str, dimension_of: DimensionOf
) -> list[resources.ListedMode]:
    return [
        shown_mode(
            resources.ListedMode,
            mode,
            modes,
            default_model,
            dimension_of,
            of="project" if mode.project_id else "user" if mode.declared_at else "everybody",
        )
        for mode in found
    ]
