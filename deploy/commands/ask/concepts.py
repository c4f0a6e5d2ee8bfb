"""``cardlog concepts``: lists the concepts of a user, creates, edits, merges and pins them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

from cyclopts import App, Parameter
from psycopg.rows import dict_row

from cardlog_client import Client
from deploy.commands.ask.verbs import Verbs, argument, option
from deploy.instance import find
from deploy.options import Answer, Given
from events.language.concepts import all_concepts, canonical_key, concept
from events.language.concepts import drift as drifting
from events.platform.counting import counted
from events.platform.database import Connection, Row, connect, statement
from events.platform.settings import Settings
from events.store.log import payload_of
from events.types.cards import StateAsserted
from events.types.codec import PayloadError
from events.types.envelope import Payload

if TYPE_CHECKING:
    from cardlog_client import types


def concepts(
    *,
    drift: Annotated[bool, Parameter(help="list keys in the log that look like the same concept")] = False,
    user: Annotated[str | None, Parameter(metavar="ID", help="with --drift: only this user's")] = None,
    as_json: Annotated[bool, Parameter(name="--json", help="print JSON, one object a line")] = False,
    settings: Given[Settings],
    data: Given[Path | None],
) -> Answer:
    """List the well-known concept keys with cardinality and aliases.

    With --drift, search the log for keys of one user that look like the same concept (job_title and title_of_job).
    Facts under such keys do not supersede each other. Add the other name as an alias of the better key in
    events/language/concepts.json, then run `cardlog rebuild cards`. The exit status is 1 when there are such keys.
    """
    if drift:
        return _drift(user, settings, data)
    documents = (
        {"key": one.key, "cardinality": one.cardinality, "category": one.category, "aliases": one.aliases}
        for one in all_concepts()
    )
    lines = (f"{one.key:<24}{one.cardinality:<14}{', '.join(one.aliases)}" for one in all_concepts())
    return Answer(documents, lines, by_line=True)


def _drift(user: str | None, settings: Settings, data: Path | None) -> Answer:
    settings, _ = find(settings, data)
    pairs: dict[tuple[str, str], int] = {}
    statements: Counter[str] = Counter()
    with connect(settings.database_url, application="concepts") as connection:
        for keys in _keys_by_user(connection, user):
            statements.update(keys)
            for pair in drifting(keys):
                pairs[pair] = pairs.get(pair, 0) + 1
    found = sorted(pairs.items(), key=lambda item: (-item[1], item[0]))
    documents = (
        {"keys": [one, other], "users": users, "statements": [statements[one], statements[other]]}
        for (one, other), users in found
    )
    lines = [
        f"{_shown(one, statements)}   {_shown(other, statements)}   users with both: {users}"
        for (one, other), users in found
    ]
    summary = (
        f"{counted(len(statements), 'key')}, {counted(statements.total(), 'statement')}; "
        f"{counted(len(pairs), 'pair')} that may be one concept"
    )
    return Answer(documents, [*lines, summary], 1 if pairs else 0, by_line=True)


def _keys_by_user(connection: Connection, user_id: str | None) -> Iterator[Counter[str]]:
    """Yields the number of statements of each user by canonical key."""
    with connection.transaction(), connection.cursor(name="keys", row_factory=dict_row) as cursor:
        cursor.execute(statement("deploy.commands.operate", "concept_keys"), {"user_id": user_id})
        for _, rows in groupby(cursor, key=lambda row: str(row["user_id"])):
            found: Counter[str] = Counter()
            for row in rows:
                if isinstance(said := _said(row), StateAsserted):
                    found[canonical_key(said.concept_key)] += 1
            yield found


def _said(row: Row) -> Payload:
    """Returns the payload of a statement, or None when this build cannot read it."""
    try:
        return payload_of(**row)
    except PayloadError:
        return None


def _shown(key: str, statements: Counter[str]) -> str:
    registered = ", registered" if concept(key) is not None else ""
    return f"{key} ({statements[key]}{registered})"


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


def _lines(concept: types.Card) -> Iterator[str]:
    names = ", ".join([str(concept["title"]), *concept["aliases"]])
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
