"""``cardlog modes``: lists, declares, renames and deletes modes, and sets the default of a project."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from cardlog_client import Client
from deploy.commands.ask.verbs import Verbs, argument, option
from deploy.options import Answer, OfUser
from events.types.modes import Decay

if TYPE_CHECKING:
    from cardlog_client import types

app = App(
    name="modes",
    help="Modes are registers of a memory, such as code or journal. Each has its embedding model, hints for the "
    "extraction, and decay. CARDLOG_MODES gives modes that everybody has.",
)

_NAME = argument("name", str, "the name of the mode")


@dataclass(frozen=True, kw_only=True)
class Options(OfUser):
    """The options of every verb about modes."""

    user: Annotated[str, Parameter(help="whose modes")]
    project: Annotated[str | None, Parameter(help="the project that has the mode; else all projects")] = None

    @property
    def place(self) -> dict[str, str | None]:
        return {"project_id": self.project}


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


def _list(client: Client, user: str, project_id: str | None) -> Answer:
    found = client.modes(user, project_id=project_id)
    return Answer(found["modes"], _lines(found, user))


def _changing(method: Callable[..., Any], done: str, before: str) -> Callable[..., Answer]:
    """Returns a method of the client that answers with the modes after the change.

    ``done`` and ``before`` say what it did, or that it was so already. They may name the words by their places.
    """

    def changed(client: Client, user: str, *words: str, project_id: str | None, **more: Any) -> Answer:
        now = method(client, user, *words, project_id=project_id, **more)["changed"]

        def document() -> Iterator[object]:
            found = client.modes(user, project_id=project_id)
            yield {"changed": now, "modes": found["modes"], "projects": found["projects"]}

        return Answer(document(), [(done if now else before).format(*words)], by_line=True)

    return changed


def _declare(client: Client, user: str, name: str, *, hint: tuple[str, ...], **more: Any) -> object:
    hints = {subject: text for subject, _, text in (each.partition("=") for each in hint)}
    return client.declare_mode(user, name, prompt_overrides=hints or None, **more)


def _default(client: Client, user: str, project: str, mode: str | None) -> Answer:
    def declare(client: Client, user: str, project_id: str | None) -> object:
        return client.declare_project(user, project, default_mode=mode)

    about = f"the default mode of {project}"
    ask = _changing(declare, f"{about} is {mode or 'general'}", f"{about} was that already")
    return ask(client, user, project_id=project)


verbs.call("list", "list the modes of a user, or those that a project may use", _list)
verbs.call(
    "declare", "declare a mode, or declare it anew",
    _changing(_declare, "{0} is declared", "{0} was declared like this already"), _NAME,
    option("embedder", str, "the embedding model, with 384, 768 or 1024 dimensions"),
    option("description", str, "what belongs here"),
    option("default_decay", Decay, "how fast its cards lose weight", name="--decay"),
    option(
        "hint", tuple[str, ...], "a hint for the extraction; repeat it for several", (), metavar="SUBJECT=TEXT"
    ),
    option("is_default", bool, "the default of its scope", name="--default", negative="--no-default"),
)  # fmt: skip
verbs.call(
    "rename", "give a mode another name; its cards stay its cards",
    _changing(Client.rename_mode, "{0} is called {1} now", "{0} was renamed before"), _NAME,
    argument("new_name", str, "the new name"),
)  # fmt: skip
verbs.call(
    "delete", "delete a mode; its cards stay and belong to the general mode",
    _changing(
        Client.delete_mode, "{0} is deleted; its cards belong to the general mode", "{0} was deleted before"
    ), _NAME,
)  # fmt: skip
verbs.call(
    "reembed",
    "embed the earlier cards of a mode again, with its present model; a vectors worker does it, and the old vectors "
    "answer until then",
    Client.reembed_mode,
    _NAME,
    option("dry_run", bool, "only say the cost and the time", False, negative=()),
    lines=_plan,
)


Verbs(app).call(
    "default", "set the default mode of a project; without a mode, take it away", _default,
    argument("project", str, "the project"),
    argument("mode", str | None, "its default mode", default=None),
)  # fmt: skip
