"""``cardlog concepts``: lists the concepts of a user, creates, edits, merges and pins them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any
from uuid import UUID

from cyclopts import App

from cardlog_client import Client
from deploy.commands.ask.verbs import Verbs, argument, option
from deploy.commands.operate.concepts import concepts

app = App(
    name="concepts",
    help="the concepts of a user: list, create, edit, merge, pin. Without a verb, the concept keys of facts",
)
app.default(concepts)
verbs = Verbs(app)

_ID = argument("concept_id", UUID, "the concept's id, as listed", name="CONCEPT")
_NAMES = (
    option("aliases", list[str], "another name; repeatable", [], name="--alias", metavar="NAME"),
    option("related", list[str], "a related concept; repeatable", [], metavar="NAME"),
)


def _lines(concept: Any) -> Iterator[str]:
    names = ", ".join([concept["title"], *concept["aliases"]])
    mark = "  pinned" if concept["pinned"] else ""
    yield f"{concept['card_id']}  {names}{mark}"
    yield f"    {concept['definition']}"


verbs.pages(
    "list", "list the concepts of a user", Client.concepts,
    option("pinned", bool, "only those that are in every prompt, or the others"),
    option("project_id", str, "the project, or * for all", "default", name="--project"),
    items="cards", lines=_lines, none="{user} has no such concepts",
)  # fmt: skip
verbs.call(
    "create", "create a concept", Client.create_concept,
    argument("title", str, "its name"),
    argument("definition", str, "what it is"),
    *_NAMES,
    option("project_id", str, "the project of the concept", "default", name="--project"),
    lines="created {answer[event_id]}",
)  # fmt: skip
verbs.call(
    "edit", "give a concept another definition or name, or further names and relations", Client.edit_concept, _ID,
    option("title", str, "its new name; the old one stays another name"),
    option("definition", str, "what it is, in the place of before"),
    *_NAMES,
    lines="edited {concept_id}",
)  # fmt: skip
verbs.call(
    "merge", "make two concepts one, under the name of the second", Client.merge_concept, _ID,
    argument("into", UUID, "the concept whose name stays"),
    option("reason", str, "the reason, which is recorded", "one concept", metavar="WHY"),
    lines="merged {concept_id} into {into}",
)  # fmt: skip
verbs.call(
    "pin", "put a concept into every prompt", partial(Client.pin_concept, pinned=True), _ID,
    lines="pinned {concept_id}",
)  # fmt: skip
verbs.call(
    "unpin", "leave a concept out of the prompts that do not ask for it", partial(Client.pin_concept, pinned=False),
    _ID, lines="unpinned {concept_id}",
)  # fmt: skip
