"""Modes and projects over HTTP: declare, rename and delete modes, set a project's default, reclassify a card."""

from collections.abc import Callable
from typing import Annotated, TypeVar

from fastapi import APIRouter, Path, Query, Response
from pydantic import Field

from events.access.principal import Principal, Reach
from events.http.access import Writer
from events.http.answering import routes_of
from events.http.errors import ProblemError, missing
from events.http.fields import Name, Uuid, Words
from events.modes.reembedding import Planner
from events.modes.registry import Modes, project_of
from events.modes.shown import DimensionOf, shown_mode
from events.platform.modes import modes_of
from events.platform.settings import Settings
from events.resources.cards import Accepted
from events.resources.modes import DeletedMode, Reembedding, WrittenMode, WrittenProject
from events.types.modes import Decay, ModeRegistry
from ingest import modes as mode_commands
from ingest.api import commands
from ingest.api.transactions import OfUser, Sender, Transactions
from ingest.decider import Outcome
from ingest.modes import UserModes

_T = TypeVar("_T")
ModeName = Annotated[str, Path(min_length=1, max_length=512, description="the name of the mode")]


class _Scoped(OfUser):
    """Whose mode is meant: a mode of all projects of a user, or of one project of the user."""

    project_id: Name | None = None
    """the project that has the mode; else all projects"""


class ModeIn(
    _Scoped,
    json_schema_extra={"examples": [{"user_id": "ada", "description": "programming and debugging"}]},
):
    """A mode. A field that is left out keeps what was declared before."""

    embedder: Annotated[str | None, Field(max_length=200)] = None
    """the embedding model, with 384, 768 or 1024 dimensions; empty: the default"""
    description: str | None = None
    """what belongs here; the model that reads turns sees it"""
    default_decay: Annotated[Decay | None, Field(description="how fast cards of the mode lose weight")] = None
    prompt_overrides: dict[str, object] | None = None
    """hints for the extraction, by subject"""
    is_default: bool | None = None
    """the mode of turns of its scope when nothing else tells their mode"""


class RenameIn(_Scoped):
    """Another name for a mode."""

    new_name: Name


class ReembedIn(_Scoped, json_schema_extra={"examples": [{"user_id": "ada", "dry_run": True}]}):
    """Whose mode gets new vectors."""

    dry_run: Annotated[bool, Field(description="only say the cost and the time")] = False


class ProjectIn(OfUser, json_schema_extra={"examples": [{"user_id": "ada", "default_mode": "code"}]}):
    """The settings of a project. A field that is left out stays as it is; null takes it away."""

    default_mode: str | None = None
    """the mode of the project's turns when nothing else tells their mode"""
    description: str | None = None


class CardModeIn(OfUser):
    """The mode that a card belongs to."""

    mode: Name = Field(description="a declared mode, or general")
    by: Annotated[Name, Field(description="who decides")] = "user"
    reason: Words | None = None
    request_id: Annotated[Name | None, Field(description="idempotency key")] = None


def mode_router(  # noqa: C901 - its routes count as branches
    transactions: Transactions,
    settings: Settings,
    dimension_of: DimensionOf,
    planner: Planner,
) -> APIRouter:
    """Returns the routes of modes and projects."""
    router = routes_of("modes")
    everybody = modes_of(settings)

    @router.put("/v1/modes/{name}", summary="Declare a mode, or declare it anew")
    def declare_mode(name: ModeName, body: ModeIn, caller: Writer) -> WrittenMode:
        own = ModeIn.model_fields.keys() - _Scoped.model_fields.keys()
        wanted = {name: value for name, value in body if name in own and value is not None}

        def command(modes: UserModes) -> Outcome[ModeRegistry]:
            return mode_commands.declare(modes, body.project_id, name, wanted, dimension_of)

        return written(body, name, run(caller, body.user_id, body.project_id, [name], command))

    @router.post("/v1/modes/{name}/rename", summary="Give a mode another name; its cards stay its cards")
    def rename_mode(name: ModeName, body: RenameIn, caller: Writer) -> WrittenMode:
        def command(modes: UserModes) -> Outcome[ModeRegistry]:
            return mode_commands.rename(modes, body.project_id, name, body.new_name)

        outcome = run(caller, body.user_id, body.project_id, [name, body.new_name], command)
        return written(body, body.new_name, outcome)

    @router.delete("/v1/modes/{name}", summary="Delete a mode; its cards stay and belong to the general mode")
    def delete_mode(
        name: ModeName,
        caller: Writer,
        user_id: Annotated[Name, Query()],
        project_id: Annotated[Name | None, Query()] = None,
    ) -> DeletedMode:
        outcome = run(
            caller, user_id, project_id, [name], lambda modes: mode_commands.delete(modes, project_id, name)
        )
        return DeletedMode(name=name, changed=outcome.changed)

    @router.post(
        "/v1/modes/{name}/reembed",
        status_code=202,
        responses={200: {"model": Reembedding, "description": "a dry run, or every vector is right"}},
        summary="Embed the earlier cards of a mode again, with its present model",
    )
    def reembed_mode(name: ModeName, body: ReembedIn, caller: Writer, response: Response) -> Reembedding:
        def command(modes: UserModes) -> Reembedding:
            return mode_commands.reembed(
                modes, body.project_id, name, everybody, planner, dry_run=body.dry_run
            )

        found = run(caller, body.user_id, body.project_id, [name], command)
        response.status_code = 200 if found.reembedding_id is None else 202
        return found

    @router.put("/v1/projects/{project_id}", summary="Set the default mode and the description of a project")
    def declare_project(
        project_id: Annotated[str, Path(min_length=1, max_length=512)], body: ProjectIn, caller: Writer
    ) -> WrittenProject:
        changes = body.model_dump(exclude={"user_id"}, exclude_unset=True)

        def command(modes: UserModes) -> Outcome[ModeRegistry]:
            return mode_commands.declare_project(modes, project_id, changes, everybody)

        given = changes.get("default_mode")
        outcome = run(caller, body.user_id, project_id, [given] if given else [], command)
        return WrittenProject.made_from(project_of(outcome.state, project_id), changed=outcome.changed)

    @router.post("/v1/cards/{card_id}/mode", status_code=202, summary="Give a card another mode")
    def reclassify_card(card_id: Uuid, body: CardModeIn, caller: Writer) -> Accepted:
        command = Sender(caller, body.request_id).command(body.user_id, "card", actor=body.by)
        if not Reach(modes=caller.modes).admits("", body.mode):
            raise missing("mode", "mode")
        return transactions.accepted(
            command, lambda c: commands.reclassify(c, card_id, body.mode, body.reason, command, everybody)
        )

    def run(
        caller: Principal,
        user_id: str,
        project_id: str | None,
        names: list[str],
        command: Callable[[UserModes], _T],
    ) -> _T:
        sent = Sender(caller).command(user_id, "mode", "name")
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
        return transactions.run(sent.owner, lambda c: command(UserModes(c, sent)))

    def written(body: _Scoped, name: str, outcome: Outcome[ModeRegistry]) -> WrittenMode:
        modes = Modes(outcome.state, everybody)
        [mode] = [
            each for each in outcome.state.modes if (each.project_id, each.name) == (body.project_id, name)
        ]
        return shown_mode(
            WrittenMode, mode, modes, settings.embed_model, dimension_of, changed=outcome.changed
        )

    return router
