"""``cardlog concepts``: lists the concepts of a user, creates, edits, merges and pins them."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from cyclopts import App, Parameter

from cardlog_client import Client
from deploy.commands.ask.answers import every, show
from deploy.commands.operate.concepts import concepts
from deploy.options import Flat, Given, OfUser

app = App(
    name="concepts",
    help="the concepts of a user: list, create, edit, merge, pin. Without a verb, the concept keys of facts",
)
app.default(concepts)

Id = Annotated[UUID, Parameter(help="the concept's id, as listed")]
Names = Annotated[
    list[str] | None, Parameter(name="--alias", metavar="NAME", help="another name; repeatable")
]
Related = Annotated[
    list[str] | None, Parameter(name="--related", metavar="NAME", help="a related concept; repeatable")
]
Project = Annotated[str, Parameter(help="the project of the concept")]


@app.command(name="list", help="list the concepts of a user")
def run_list(
    *,
    pinned: Annotated[
        bool | None, Parameter(help="only those that are in every prompt, or the others")
    ] = None,
    project: Annotated[str, Parameter(help="the project, or * for all")] = "default",
    options: Flat[OfUser],
    client: Given[Client],
) -> int:
    found = every(client.concepts, options.user, "cards", pinned=pinned, project_id=project)
    lines = [line for each in found for line in _lines(each)]
    return show(found, lines or [f"{options.user} has no such concepts"], as_json=options.json)


@app.command(name="create", help="create a concept")
def run_create(
    title: Annotated[str, Parameter(help="its name")],
    definition: Annotated[str, Parameter(help="what it is")],
    /,
    *,
    aliases: Names = None,
    related: Related = None,
    project: Project = "default",
    options: Flat[OfUser],
    client: Given[Client],
) -> int:
    done = client.create_concept(
        options.user, title, definition, aliases=aliases or [], related=related or [], project_id=project
    )
    return _shown(done, f"created {done['event_id']}", options)


@app.command(name="edit", help="give a concept another definition or name, or further names and relations")
def run_edit(
    concept: Id,
    /,
    *,
    title: Annotated[str | None, Parameter(help="its new name; the old one stays another name")] = None,
    definition: Annotated[str | None, Parameter(help="what it is, in the place of before")] = None,
    aliases: Names = None,
    related: Related = None,
    options: Flat[OfUser],
    client: Given[Client],
) -> int:
    given = {"title": title, "definition": definition, "aliases": aliases or [], "related": related or []}
    done = client.edit_concept(options.user, str(concept), **given)
    return _shown(done, f"edited {concept}", options)


@app.command(name="merge", help="make two concepts one, under the name of the second")
def run_merge(
    concept: Id,
    into: Annotated[UUID, Parameter(help="the concept whose name stays")],
    /,
    *,
    reason: Annotated[str, Parameter(metavar="WHY", help="the reason, which is recorded")] = "one concept",
    options: Flat[OfUser],
    client: Given[Client],
) -> int:
    done = client.merge_concept(options.user, str(concept), str(into), reason)
    return _shown(done, f"merged {concept} into {into}", options)


@app.command(name="pin", help="put a concept into every prompt")
def run_pin(concept: Id, /, *, options: Flat[OfUser], client: Given[Client]) -> int:
    done = client.pin_concept(options.user, str(concept), pinned=True)
    return _shown(done, f"pinned {concept}", options)


@app.command(name="unpin", help="leave a concept out of the prompts that do not ask for it")
def run_unpin(concept: Id, /, *, options: Flat[OfUser], client: Given[Client]) -> int:
    done = client.pin_concept(options.user, str(concept), pinned=False)
    return _shown(done, f"unpinned {concept}", options)


def _shown(done: Any, line: str, options: OfUser) -> int:
    return show(done, [line], as_json=options.json)


def _lines(concept: Any) -> list[str]:
    names = ", ".join([concept["title"], *concept["aliases"]])
    mark = "  pinned" if concept["pinned"] else ""
    return [f"{concept['card_id']}  {names}{mark}", f"    {concept['definition']}"]
