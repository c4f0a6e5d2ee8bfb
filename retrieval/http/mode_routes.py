"""Modes and projects over HTTP, to read."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

import psycopg
from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, ConfigDict, Field

from events.access.principal import Principal, Reach
from events.http.access import Reader, ReaderOrAdministrator, owner_of, require, require_everybody
from events.http.database import problem_of
from events.http.errors import invalid, missing
from events.http.service import JSONResponse
from events.modes.shown import mode_document, project_document
from events.platform.failures import retry_on_lost_connection
from events.platform.modes import GENERAL_MODE
from events.types.modes import Decay
from retrieval.modes.reader import ModeReader


class ModesParams(BaseModel):
    """Whose modes."""

    model_config = ConfigDict(extra="forbid")

    user_id: str = Field(min_length=1, description="whose modes")
    project_id: Annotated[
        str | None, Field(description="the modes that this project may use; else every declaration")
    ] = None


class ReembeddingParams(BaseModel):
    """Whose re-embedding."""

    model_config = ConfigDict(extra="forbid")

    user_id: Annotated[
        str | None,
        Field(
            min_length=1, description="whose mode; left out: a mode of everybody, which needs the scope admin"
        ),
    ] = None
    project_id: Annotated[str | None, Field(description="the project that has the mode")] = None


class ModeOut(BaseModel):
    """A mode. ``of`` says who gives it: the project, the user, or the installation (everybody)."""

    name: str
    project_id: str | None
    of: Literal["project", "user", "everybody"]
    embedder: str
    dimension: int | None
    description: str
    default_decay: Decay | None
    prompt_overrides: dict[str, str]
    is_default: bool
    declared_at: datetime | None


class ProjectOut(BaseModel):
    """The settings of a project."""

    project_id: str
    default_mode: str | None
    description: str


class ModesOut(BaseModel):
    """The modes in the order of their names. The general mode always exists. Former names map to present ones."""

    modes: list[ModeOut]
    default_mode: str | None
    projects: list[ProjectOut]
    former_names: dict[str, str]


class ReembeddingState(BaseModel):
    """The progress of the last re-embedding of a mode. The old vectors answer until it is done."""

    mode: str = Field(description="the mode by its present name")
    project_id: str | None
    state: Literal["none", "waiting", "running", "done"] = Field(
        description="none: nobody asked for it; waiting: no worker began yet"
    )
    reembedding_id: UUID | None
    requested_at: datetime | None
    done_at: datetime | None
    cards: int = Field(description="new vectors computed so far")
    share: float = Field(description="of the memory that was looked through, 0 to 1")
    hindrance: str | None = Field(
        default=None, description="of a mode of everybody: why the work cannot go on now, and the remedy"
    )


def modes_router(reader: ModeReader, default_model: str) -> APIRouter:
    """Returns the routes. They answer 503 while Postgres is away."""
    router = APIRouter(tags=["modes"])

    @router.get(
        "/v1/modes", response_model=ModesOut, summary="The modes of a user", operation_id="list_modes"
    )
    async def listed(params: Annotated[ModesParams, Query()], caller: Reader) -> JSONResponse:
        owner = owner_of(caller, params.user_id)
        if params.project_id is not None and not Reach(projects=caller.projects).admits(
            params.project_id, None
        ):
            raise missing("project", "project_id")
        try:
            modes = await retry_on_lost_connection(lambda: reader.of(owner))
        except (psycopg.Error, TimeoutError) as error:
            raise problem_of(error, "Modes unavailable") from error

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
        shown = [
            mode_document(each, modes, default_model)
            | {"of": "project" if each.project_id else "user" if each.declared_at else "everybody"}
            for each in found
            if caller.reach.admits(each.project_id or "", each.name)
            or (each.project_id is None and Reach(modes=caller.modes).admits("", each.name))
        ]
        return JSONResponse(
            {
                "modes": shown,
                "default_mode": reached(modes.registry.default_mode),
                "projects": [
                    shown_project | {"default_mode": reached(shown_project["default_mode"])}
                    for shown_project in (project_document(modes.registry, each) for each in projects)
                ],
                "former_names": {
                    each.old: each.name
                    for each in modes.registry.former_names
                    if each.project_id in (None, params.project_id)
                    and Reach(modes=caller.modes).admits("", each.name)
                },
            }
        )

    @router.get(
        "/v1/modes/{name}/reembed",
        response_model=ReembeddingState,
        summary="The progress of a re-embedding",
        operation_id="reembedding_progress",
    )
    async def progress(
        name: Annotated[str, Path(min_length=1, max_length=512, description="the name of the mode")],
        params: Annotated[ReembeddingParams, Query()],
        caller: ReaderOrAdministrator,
    ) -> JSONResponse:
        if params.user_id is None:
            return JSONResponse(await of_everybody(name, params, caller))
        require(caller, "read")
        owner = owner_of(caller, params.user_id, thing="mode", field="name")
        if not caller.reach.admits(params.project_id or "", name) and not (
            params.project_id is None and Reach(modes=caller.modes).admits("", name)
        ):
            raise missing("mode", "name")
        try:
            modes = await retry_on_lost_connection(lambda: reader.of(owner))
            found = await reader.reembedding(owner, modes, params.project_id, name)
        except (psycopg.Error, TimeoutError) as error:
            raise problem_of(error, "Modes unavailable") from error
        if (
            found["state"] == "none"
            and found["mode"] != GENERAL_MODE
            and modes.mode(params.project_id or "", found["mode"]) is None
        ):
            raise missing("mode", "name")
        return JSONResponse(found)

    async def of_everybody(name: str, params: ReembeddingParams, caller: Principal) -> dict[str, Any]:
        require_everybody(caller)
        if params.project_id is not None:
            raise invalid("user_id", "is required with a project_id")
        try:
            found = await retry_on_lost_connection(lambda: reader.reembedding_of_everybody(name))
        except (psycopg.Error, TimeoutError) as error:
            raise problem_of(error, "Modes unavailable") from error
        if found["state"] == "none" and not reader.is_of_everybody(name):
            raise missing("mode", "name")
        return found

    return router
