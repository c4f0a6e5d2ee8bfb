"""Modes and projects over HTTP: declare, rename and delete modes, set a project's default, reclassify a card."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any, Literal
from uuid import UUID

import psycopg
from fastapi import APIRouter, Path, Query
from psycopg_pool import ConnectionPool
from pydantic import BaseModel, ConfigDict, Field

from events.access.principal import Principal, Reach
from events.http.access import Writer, WriterOrAdministrator, owner_of, require, require_everybody
from events.http.database import problem_of
from events.http.errors import ProblemError, invalid, missing
from events.http.service import JSONResponse
from events.http.tokens import Keyring
from events.http.uuids import Uuid
from events.modes.reembedding import InstallationPlanner, Planner
from events.modes.registry import NOTHING, Modes
from events.modes.shown import mode_document, project_document
from events.platform.modes import modes_of
from events.platform.settings import Settings
from events.store.log import Connection
from events.types.modes import Decay
from ingest.api import commands
from ingest.api.command_routes import Accepted, Name, Words, document_of
from ingest.api.commands import commanding, load_sealer
from ingest.modes import mode_commands
from ingest.modes.mode_commands import (
    Declaration,
    DimensionOf,
    Origin,
    Outcome,
    Reembedding,
    reembedding_document,
)
from ingest.modes.requests import reembed_everybody

ModeName = Annotated[str, Path(min_length=1, max_length=512, description="the name of the mode")]


class _Scoped(BaseModel):
    """Whose mode is meant: a mode of all projects of a user, or of one project of the user."""

    model_config = ConfigDict(extra="forbid")

    user_id: Name = Field(description="whose memory this is")
    project_id: Annotated[
        Name | None, Field(description="the project that has the mode; else all projects")
    ] = None


class ModeIn(_Scoped):
    """A mode. A field that is left out keeps what was declared before."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={"examples": [{"user_id": "ada", "description": "programming and debugging"}]},
    )

    embedder: Annotated[
        str | None,
        Field(
            max_length=200,
            description="the embedding model, with 384, 768 or 1024 dimensions; empty: the default",
        ),
    ] = None
    description: Annotated[
        str | None, Field(description="what belongs here; the model that reads turns sees it")
    ] = None
    default_decay: Annotated[Decay | None, Field(description="how fast cards of the mode lose weight")] = None
    prompt_overrides: Annotated[
        dict[str, Any] | None, Field(description="hints for the extraction, by subject")
    ] = None
    is_default: Annotated[
        bool | None, Field(description="the mode of turns of its scope when nothing else tells their mode")
    ] = None


class RenameIn(_Scoped):
    """Another name for a mode."""

    new_name: Name


class ReembedIn(BaseModel):
    """Whose mode gets new vectors."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"user_id": "ada", "dry_run": True}]}
    )

    user_id: Annotated[
        Name | None,
        Field(
            description="whose memory this is; left out: everybody's cards of general or of a mode of CARDLOG_MODES, "
            "which needs the scope admin"
        ),
    ] = None
    project_id: Annotated[
        Name | None, Field(description="the project that has the mode; else all projects")
    ] = None

    dry_run: Annotated[bool, Field(description="only say the cost and the time")] = False


class ReembeddingOut(BaseModel):
    """What a re-embedding does, or would do. No language model is called."""

    mode: str = Field(description="the mode by its present name")
    project_id: str | None
    state: Literal["planned", "unneeded", "accepted"] = Field(
        description="planned: a dry run; unneeded: every vector is right; accepted: a worker begins"
    )
    reembedding_id: UUID | None
    embedder: str = Field(description="the embedder of the new vectors")
    cards: int = Field(description="cards of the mode with a vector; for everybody: of all modes")
    other: int = Field(description="of these, cards whose vector is of another embedder")
    waiting: int = Field(description="cards of the mode that wait for their vector")
    texts_per_s: float | None = Field(description="of this machine now; only a dry run measures it")
    seconds: float | None = Field(description="about; only in a dry run")
    model_calls: Literal[0] = 0


class ProjectIn(BaseModel):
    """The settings of a project. A field that is left out stays as it is; null takes it away."""

    model_config = ConfigDict(
        extra="forbid", json_schema_extra={"examples": [{"user_id": "ada", "default_mode": "code"}]}
    )

    user_id: Name = Field(description="whose memory this is")
    default_mode: Annotated[
        str | None, Field(description="the mode of the project's turns when nothing else tells their mode")
    ] = None
    description: str | None = None


class CardModeIn(BaseModel):
    """The mode that a card belongs to."""

    model_config = ConfigDict(extra="forbid")

    user_id: Name = Field(description="whose memory this is")
    mode: Name = Field(description="a declared mode, or general")
    by: Annotated[Name, Field(description="who decides")] = "user"
    reason: Words | None = None
    request_id: Annotated[Name | None, Field(description="idempotency key")] = None


class ModeOut(BaseModel):
    """A mode as it is declared."""

    name: str
    project_id: str | None
    embedder: str
    dimension: int | None
    description: str
    default_decay: Decay | None
    prompt_overrides: dict[str, str]
    is_default: bool
    declared_at: datetime | None
    changed: bool = Field(description="false when the wanted state already held")


class ModeGone(BaseModel):
    """The mode is gone. Its cards belong to the general mode."""

    name: str
    changed: bool


class ProjectOut(BaseModel):
    """The settings of a project."""

    project_id: str
    default_mode: str | None
    description: str
    changed: bool


def mode_router(
    pool: ConnectionPool[Connection],
    keyring: Keyring,
    settings: Settings,
    dimension_of: DimensionOf,
    planner: Planner,
    installation_planner: InstallationPlanner,
) -> APIRouter:
    """Returns the routes. They answer 503 while Postgres is away. The connections must be in autocommit mode."""
    router = APIRouter(tags=["modes"])
    everybody = modes_of(settings)

    @router.put(
        "/v1/modes/{name}",
        response_model=ModeOut,
        summary="Declare a mode, or declare it anew",
        operation_id="declare_mode",
    )
    def declare(name: ModeName, body: ModeIn, caller: Writer) -> JSONResponse:
        wanted = Declaration(**body.model_dump(exclude={"user_id", "project_id"}))

        def command(connection: Connection, owner: str, origin: Origin) -> Outcome:
            return mode_commands.declare(
                connection, owner, body.project_id, name, wanted, origin, dimension_of
            )

        return told(body, name, run(caller, body.user_id, body.project_id, [name], command))

    @router.post(
        "/v1/modes/{name}/rename",
        response_model=ModeOut,
        summary="Give a mode another name; its cards stay its cards",
        operation_id="rename_mode",
    )
    def rename(name: ModeName, body: RenameIn, caller: Writer) -> JSONResponse:
        def command(connection: Connection, owner: str, origin: Origin) -> Outcome:
            return mode_commands.rename(connection, owner, body.project_id, name, body.new_name, origin)

        outcome = run(caller, body.user_id, body.project_id, [name, body.new_name], command)
        return told(body, body.new_name, outcome)

    @router.delete(
        "/v1/modes/{name}",
        response_model=ModeGone,
        summary="Delete a mode; its cards stay and belong to the general mode",
        operation_id="delete_mode",
    )
    def delete(
        name: ModeName,
        caller: Writer,
        user_id: Annotated[Name, Query()],
        project_id: Annotated[Name | None, Query()] = None,
    ) -> JSONResponse:
        def command(connection: Connection, owner: str, origin: Origin) -> Outcome:
            return mode_commands.delete(connection, owner, project_id, name, origin)

        outcome = run(caller, user_id, project_id, [name], command)
        return JSONResponse({"name": name, "changed": outcome.changed})

    @router.post(
        "/v1/modes/{name}/reembed",
        status_code=202,
        response_model=ReembeddingOut,
        responses={200: {"model": ReembeddingOut, "description": "a dry run, or every vector is right"}},
        summary="Embed the earlier cards of a mode again, with its present model",
        operation_id="reembed_mode",
    )
    def reembed(name: ModeName, body: ReembedIn, caller: WriterOrAdministrator) -> JSONResponse:
        if body.user_id is None:
            document = for_everybody(name, body, caller)
            return JSONResponse(document, status_code=202 if document["state"] == "accepted" else 200)
        require(caller, "write")
        found: list[Reembedding] = []

        def command(connection: Connection, owner: str, origin: Origin) -> Outcome:
            found.append(
                mode_commands.reembed(
                    connection, owner, body.project_id, name, origin, everybody, planner, dry_run=body.dry_run
                )
            )
            return Outcome(NOTHING, found[-1].event_id is not None)

        run(caller, body.user_id, body.project_id, [name], command)
        document = reembedding_document(found[-1], body.project_id, dry_run=body.dry_run)
        return JSONResponse(document, status_code=202 if document["state"] == "accepted" else 200)

    @router.put(
        "/v1/projects/{project_id}",
        response_model=ProjectOut,
        summary="Set the default mode and the description of a project",
        operation_id="declare_project",
    )
    def declare_project(
        project_id: Annotated[str, Path(min_length=1, max_length=512)], body: ProjectIn, caller: Writer
    ) -> JSONResponse:
        changes = body.model_dump(exclude={"user_id"}, exclude_unset=True)

        def command(connection: Connection, owner: str, origin: Origin) -> Outcome:
            return mode_commands.declare_project(connection, owner, project_id, changes, origin, everybody)

        given = changes.get("default_mode")
        outcome = run(caller, body.user_id, project_id, [given] if given else [], command)
        return JSONResponse(project_document(outcome.registry, project_id) | {"changed": outcome.changed})

    @router.post(
        "/v1/cards/{card_id}/mode",
        status_code=202,
        response_model=Accepted,
        summary="Give a card another mode",
        operation_id="reclassify_card",
    )
    def reclassify(card_id: Uuid, body: CardModeIn, caller: Writer) -> JSONResponse:
        owner = owner_of(caller, body.user_id, thing="card", field="card_id")
        if not Reach(modes=caller.modes).admits("", body.mode):
            raise missing("mode", "mode")
        try:
            with pool.connection(timeout=2.0) as connection:
                with commanding(connection, owner):
                    result = commands.reclassify(
                        connection,
                        owner,
                        card_id,
                        mode=body.mode,
                        by=body.by,
                        reason=body.reason,
                        request_id=body.request_id,
                        now=datetime.now(UTC),
                        everybody=everybody,
                        reach=caller.reach,
                    )
                sealer = keyring.sealer or load_sealer(connection, keyring)
        except psycopg.Error as error:
            raise problem_of(error, "Log unavailable") from error
        return JSONResponse(document_of(owner, result, sealer), status_code=202)

    def for_everybody(name: str, body: ReembedIn, caller: Principal) -> dict[str, Any]:
        require_everybody(caller)
        if body.project_id is not None:
            raise invalid("user_id", "is required with a project_id")
        try:
            with pool.connection(timeout=2.0) as connection:
                asked = reembed_everybody(
                    connection, name, everybody, installation_planner, caller.key_id, dry_run=body.dry_run
                )
        except psycopg.Error as error:
            raise problem_of(error, "Log unavailable") from error
        return asked.document(dry_run=body.dry_run)

    def run(
        caller: Principal,
        user_id: str,
        project_id: str | None,
        names: list[str],
        command: Callable[[Connection, str, Origin], Outcome],
    ) -> Outcome:
        owner = owner_of(caller, user_id, thing="mode", field="name")
        if caller.projects is not None and project_id is None:
            raise ProblemError(
                403,
                "Limited key",
                "this key is limited to projects, and this mode is for all projects of the user; name a project_id",
                field="project_id",
            )
        if not Reach(projects=caller.projects).admits(project_id or "", None):
            raise missing("mode", "name")
        if not all(Reach(modes=caller.modes).admits("", name) for name in names):
            raise missing("mode", "name")
        origin = Origin(actor=f"user/{user_id}", at=datetime.now(UTC))
        try:
            with pool.connection(timeout=2.0) as connection, commanding(connection, owner):
                return command(connection, owner, origin)
        except psycopg.Error as error:
            raise problem_of(error, "Log unavailable") from error

    def told(body: _Scoped, name: str, outcome: Outcome) -> JSONResponse:
        modes = Modes(outcome.registry, everybody)
        [mode] = [
            each for each in outcome.registry.modes if (each.project_id, each.name) == (body.project_id, name)
        ]
        document = mode_document(mode, modes, settings.embed_model)
        return JSONResponse(document | {"changed": outcome.changed})

    return router
