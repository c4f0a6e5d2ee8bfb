"""``cardlog modes``: lists, declares, renames and deletes modes, and sets the default of a project."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, TypeVar

from cyclopts import App, Parameter

from deploy.instance import find
from deploy.options import Flat, Given, Json, Tenant
from events.modes.mode_log import registry_of
from events.modes.registry import Modes
from events.modes.shown import shown_mode
from events.platform.database import connect
from events.platform.modes import modes_of
from events.platform.settings import Settings
from events.resources.modes import Mode, Project
from events.resources.resource import Resource, fields_of
from events.store import log
from events.types.modes import Decay, ModeRegistry
from events.types.tenancy import DEFAULT_TENANT, storage_id
from ingest.decider import Command, Outcome
from ingest.modes import mode_commands
from ingest.modes.mode_commands import Declaration, UserModes

app = App(
    name="modes",
    help="Modes are registers of a memory, such as code or journal. Each has its embedding model, hints for the "
    "extraction, and decay. CARDLOG_MODES gives modes that everybody has.",
)

T = TypeVar("T")
ModeName = Annotated[str, Parameter(help="the name of the mode")]


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of every verb about modes."""

    user: Annotated[str, Parameter(help="whose modes")]
    project: Annotated[str | None, Parameter(help="the project that has the mode; else all projects")] = None
    tenant: Tenant = DEFAULT_TENANT
    json: Json = False

    @property
    def owner(self) -> str:
        """The storage id of the user."""
        return storage_id(self.tenant, self.user)


@app.command(name="list", help="list the modes of a user, or those that a project may use")
def run_list(*, options: Flat[Options], settings: Given[Settings], data: Given[Path | None]) -> int:
    settings, _ = find(settings, data)
    with connect(settings.database_url, application="modes") as connection:
        modes = Modes(registry_of(connection, options.owner), modes_of(settings))
    found = modes.in_force(options.project)
    if options.project is None:
        found += [each for each in modes.registry.modes if each.project_id is not None and not each.deleted]
    shown = [shown_mode(Mode, each, modes, settings.embed_model) for each in found]
    if options.json:
        _print(shown)
        return 0
    for each in shown:
        where = "" if each.project_id is None else f" (project {each.project_id})"
        mark = ", default" if each.is_default else ""
        decay = f", {each.default_decay} decay" if each.default_decay else ""
        print(f"{each.name}{where}: {each.embedder}{decay}{mark}  {each.description}".rstrip())
    return 0


@app.command(name="declare", help="declare a mode, or declare it anew")
def run_declare(
    name: ModeName,
    /,
    *,
    embedder: Annotated[
        str | None, Parameter(help="the embedding model, with 384, 768 or 1024 dimensions")
    ] = None,
    description: Annotated[str | None, Parameter(help="what belongs here")] = None,
    decay: Annotated[Decay | None, Parameter(help="how fast its cards lose weight")] = None,
    hint: Annotated[
        tuple[str, ...],
        Parameter(metavar="SUBJECT=TEXT", help="a hint for the extraction; repeat it for several"),
    ] = (),
    default: Annotated[
        bool | None, Parameter(negative="--no-default", help="the default of its scope")
    ] = None,
    options: Flat[Options],
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    from projectors.embedding.declared import dimension_of  # noqa: PLC0415 - numpy comes with it

    hints = {subject: text for subject, _, text in (each.partition("=") for each in hint)}
    wanted = Declaration(
        embedder=embedder, description=description, default_decay=decay, prompt_overrides=hints or None,
        is_default=default,
    )  # fmt: skip
    settings, _ = find(settings, data)
    found = settings

    def command(modes: UserModes) -> Outcome[ModeRegistry]:
        return mode_commands.declare(
            modes, options.project, name, wanted, lambda model: dimension_of(found, model)
        )

    return _changed(
        settings, options, command, f"{name} is declared", f"{name} was declared like this already"
    )


@app.command(name="rename", help="give a mode another name; its cards stay its cards")
def run_rename(
    name: ModeName,
    new_name: Annotated[str, Parameter(help="the new name")],
    /,
    *,
    options: Flat[Options],
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    settings, _ = find(settings, data)
    return _changed(
        settings, options,
        lambda modes: mode_commands.rename(modes, options.project, name, new_name),
        f"{name} is called {new_name} now", f"{name} was renamed before",
    )  # fmt: skip


@app.command(name="delete", help="delete a mode; its cards stay and belong to the general mode")
def run_delete(
    name: ModeName, /, *, options: Flat[Options], settings: Given[Settings], data: Given[Path | None]
) -> int:
    settings, _ = find(settings, data)
    return _changed(
        settings, options,
        lambda modes: mode_commands.delete(modes, options.project, name),
        f"{name} is deleted; its cards belong to the general mode", f"{name} was deleted before",
    )  # fmt: skip


@app.command(
    name="reembed",
    help="embed the earlier cards of a mode again, with its present model; a vectors worker does it, and the old "
    "vectors answer until then",
)
def run_reembed(
    name: ModeName,
    /,
    *,
    dry_run: Annotated[bool, Parameter(negative=(), help="only say the cost and the time")] = False,
    options: Flat[Options],
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    from projectors.vectors.plan import ModePlanner  # noqa: PLC0415 - numpy comes with it

    settings, _ = find(settings, data)
    planner, everybody = ModePlanner(settings), modes_of(settings)
    found = _sent(
        settings, options,
        lambda modes: mode_commands.reembed(
            modes, options.project, name, everybody, planner, dry_run=dry_run
        ),
    )  # fmt: skip
    if options.json:
        _print(found)
        return 0
    about = (
        "" if found.seconds is None else f", about {found.seconds:,.0f} s at {found.texts_per_s:,.0f} texts/s"
    )
    if not (found.other or found.waiting):
        print(f"nothing to do: all {found.cards:,} vectors of {found.mode} are of {found.embedder}")
    else:
        print(
            f"{found.mode}: {found.other:,} of {found.cards:,} vectors are of another embedder than {found.embedder}, "
            f"and {found.waiting:,} cards wait for theirs{about}; no call of a language model"
        )
    if found.reembedding_id is not None:
        print("a vectors worker embeds them; GET /v1/modes/{name}/reembed shows the progress")
    return 0


@app.command(name="default", help="set the default mode of a project; without a mode, take it away")
def run_default(
    project: Annotated[str, Parameter(help="the project")],
    mode: Annotated[str | None, Parameter(help="its default mode")] = None,
    /,
    *,
    user: Annotated[str, Parameter(help="whose project")],
    tenant: Annotated[str, Parameter(help="the tenant of the user")] = DEFAULT_TENANT,
    json: Json = False,
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    settings, _ = find(settings, data)
    options = Options(user=user, tenant=tenant, project=project, json=json)
    everybody = modes_of(settings)
    return _changed(
        settings, options,
        lambda modes: mode_commands.declare_project(modes, project, {"default_mode": mode}, everybody),
        f"the default mode of {project} is {mode or 'general'}", f"the default mode of {project} was that already",
    )  # fmt: skip


def _changed(
    settings: Settings,
    options: Options,
    command: Callable[[UserModes], Outcome[ModeRegistry]],
    done: str,
    same: str,
) -> int:
    outcome = _sent(settings, options, command)
    if options.json:
        registry = outcome.state
        modes = Modes(registry, modes_of(settings))
        _print(
            {
                "changed": outcome.changed,
                "modes": [
                    shown_mode(Mode, each, modes, settings.embed_model)
                    for each in modes.in_force(options.project)
                ],
                "projects": [Project.made_from(each) for each in registry.projects],
            }
        )
    else:
        print(done if outcome.changed else same)
    return 0


def _sent(settings: Settings, options: Options, command: Callable[[UserModes], T]) -> T:
    sent = Command(actor=f"user/{options.user}", at=datetime.now(UTC))
    with connect(settings.database_url, application="modes") as connection:
        with connection.transaction():
            outcome = command(UserModes(connection, options.owner, sent))
        log.announce(connection)
    return outcome


def _print(document: Any) -> None:
    print(json.dumps(document, ensure_ascii=False, default=_shown))


def _shown(value: Any) -> Any:
    return fields_of(value) if isinstance(value, Resource) else str(value)
