"""``cardlog modes``: lists, declares, renames and deletes modes, and sets the default of a project."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from cardlog_client import Client
from deploy.answer import Answer
from deploy.commands.ask.verbs import Verbs, argument, option
from deploy.options import Flat, Given, Json, Scope, Tenant
from events.types.modes import Decay
from events.types.tenancy import DEFAULT_TENANT

if TYPE_CHECKING:
    from cardlog_client import types

app = App(
    name="modes",
    help="Modes are registers of a memory, such as code or journal. Each has its embedding model, hints for the "
    "extraction, and decay. CARDLOG_MODES gives modes that everybody has.",
)

ModeName = Annotated[str, Parameter(help="the name of the mode")]


@dataclass(frozen=True, kw_only=True)
class Options(Scope):
    """The options of every verb about modes."""

    user: Annotated[str, Parameter(help="whose modes")]
    project: Annotated[str | None, Parameter(help="the project that has the mode; else all projects")] = None
    tenant: Tenant = DEFAULT_TENANT
    json: Json = False

    @property
    def place(self) -> dict[str, str | None]:
        return {"project_id": self.project}


@dataclass(frozen=True, kw_only=True)
class OfProject:
    """The options of the verb about a project."""

    user: Annotated[str, Parameter(help="whose project")]
    tenant: Tenant = DEFAULT_TENANT
    json: Json = False


verbs = Verbs(app, Options)


def _plan(plan: types.Reembedding) -> Iterator[str]:
    if not plan["other"] and not plan["waiting"]:
        yield f"nothing to do: all {plan['cards']:,} vectors of {plan['mode']} are of {plan['embedder']}"
        return
    about = ""
    if plan["seconds"] is not None:
        about = f", about {plan['seconds']:,.0f} s at {plan['texts_per_s']:,.0f} texts/s"
    yield (
        f"{plan['mode']}: {plan['other']:,} of {plan['cards']:,} vectors are of another embedder than "
        f"{plan['embedder']}, and {plan['waiting']:,} cards wait for theirs{about}; no call of a language model"
    )
    if plan["state"] == "accepted":
        yield "a vectors worker embeds them; GET /v1/modes/{name}/reembed shows the progress"


@app.command(name="list", help="list the modes of a user, or those that a project may use")
def run_list(*, options: Flat[Options], client: Given[Client]) -> Answer:
    found = client.modes(options.user, project_id=options.project)
    return Answer(found["modes"], _lines(found, options.user))


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
    client: Given[Client],
) -> Answer:
    hints = {subject: text for subject, _, text in (each.partition("=") for each in hint)}
    done = client.declare_mode(
        options.user, name, project_id=options.project, embedder=embedder, description=description,
        default_decay=decay, prompt_overrides=hints or None, is_default=default,
    )  # fmt: skip
    said = f"{name} is declared" if done["changed"] else f"{name} was declared like this already"
    return _changed(client, options, options.project, done["changed"], said)


@app.command(name="rename", help="give a mode another name; its cards stay its cards")
def run_rename(
    name: ModeName,
    new_name: Annotated[str, Parameter(help="the new name")],
    /,
    *,
    options: Flat[Options],
    client: Given[Client],
) -> Answer:
    done = client.rename_mode(options.user, name, new_name, project_id=options.project)
    said = f"{name} is called {new_name} now" if done["changed"] else f"{name} was renamed before"
    return _changed(client, options, options.project, done["changed"], said)


@app.command(name="delete", help="delete a mode; its cards stay and belong to the general mode")
def run_delete(name: ModeName, /, *, options: Flat[Options], client: Given[Client]) -> Answer:
    done = client.delete_mode(options.user, name, project_id=options.project)
    gone = f"{name} is deleted; its cards belong to the general mode"
    said = gone if done["changed"] else f"{name} was deleted before"
    return _changed(client, options, options.project, done["changed"], said)


verbs.call(
    "reembed",
    "embed the earlier cards of a mode again, with its present model; a vectors worker does it, and the old vectors "
    "answer until then",
    Client.reembed_mode,
    argument("name", ModeName),
    option("dry_run", bool, "only say the cost and the time", False, negative=()),
    lines=_plan,
)


@app.command(name="default", help="set the default mode of a project; without a mode, take it away")
def run_default(
    project: Annotated[str, Parameter(help="the project")],
    mode: Annotated[str | None, Parameter(help="its default mode")] = None,
    /,
    *,
    options: Flat[OfProject],
    client: Given[Client],
) -> Answer:
    done = client.declare_project(options.user, project, default_mode=mode)
    said = f"is {mode or 'general'}" if done["changed"] else "was that already"
    return _changed(client, options, project, done["changed"], f"the default mode of {project} {said}")


def _changed(
    client: Client, options: Options | OfProject, project: str | None, changed: bool, said: str
) -> Answer:
    document: dict[str, object] = {"changed": changed}
    if options.json:
        found = client.modes(options.user, project_id=project)
        document |= {"modes": found["modes"], "projects": found["projects"]}
    return Answer(document, [said])


def _lines(found: types.Modes, user: str) -> Iterator[str]:
    for each in found["modes"]:
        where = "" if each["project_id"] is None else f" (project {each['project_id']})"
        mark = ", default" if each["is_default"] else ""
        decay = f", {each['default_decay']} decay" if each["default_decay"] else ""
        yield f"{each['name']}{where}: {each['embedder']}{decay}{mark}  {each['description']}".rstrip()
    for project in found["projects"]:
        if project["default_mode"] is not None:
            yield f"project {project['project_id']}: default mode {project['default_mode']}"
    if not found["modes"]:
        yield f"{user} has no modes; everything is general"
