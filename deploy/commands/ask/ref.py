"""``cardlog ref``: lists, shows and changes references."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from cardlog_client import Client
from deploy.commands.ask.verbs import REASON, Verbs, argument, every, option
from deploy.options import Answer, OfUser
from events.types.references import Tier

if TYPE_CHECKING:
    from cardlog_client import types

app = App(
    name="ref",
    help="References are named cells that are kept up to date: lists, plans, decisions, variables. Every op is an "
    "event of the log.",
)
app.command("deploy.commands.operate.reviews:review_references", name="review")

KindName = Annotated[str, Parameter(help="todo_list, plan, decision_log, variable, or a declared kind")]
Key = Annotated[str, Parameter(help="the name of the reference")]


@dataclass(frozen=True, kw_only=True)
class Options(OfUser):
    """The options of every verb about references."""

    user: Annotated[str, Parameter(help="who asks; the owner, unless --team is given")]
    project: Annotated[str | None, Parameter(help="the project the reference belongs to")] = None
    team: Annotated[str | None, Parameter(help="the team the reference belongs to")] = None

    @property
    def place(self) -> dict[str, str | None]:
        return {"project_id": self.project, "team_id": self.team}


def _line(reference: types.Reference) -> list[str]:
    places = {"team": reference["team_id"], "project": reference["project_id"]}
    where = "".join(f" ({name} {place})" for name, place in places.items() if place)
    about = f"{reference['kind']}/{reference['key']}{where}"
    return [f"{about}  v{reference['version']} {reference['tier']}  {reference['rendering']}"]


def _shown(reference: types.Reference) -> list[str]:
    state = ", archived" if reference["archived"] else ""
    return [f"{reference['rendering']}  (version {reference['version']}, {reference['tier']}{state})"]


verbs = Verbs(app, Options)
_NAME = (argument("kind", KindName), argument("key", Key))

verbs.pages(
    "list", "list the references of a user and the user's teams", Client.references,
    option("kind", str, "only of this kind"),
    option("tier", Tier, "only of this tier"),
    option("archived", bool, "archived references too", False),
    items="references", lines=_line, none="{user} has no references",
)  # fmt: skip
verbs.call(
    "show", "show a reference, now or at an earlier version", Client.reference, *_NAME,
    option("version", int, "the value at this version"),
    lines=_shown,
)  # fmt: skip


def _create(
    client: Client, user: str, kind: str, key: str, value: str | None, **more: Any
) -> types.Reference:
    try:
        given = None if value is None else json.loads(value)
    except ValueError as error:
        raise RuntimeError(f"--value: is not JSON ({error})") from None
    return client.create_reference(user, kind, key, data=given, **more)


verbs.call(
    "create", "create a reference", _create, *_NAME,
    option("value", str, "the first value; else the kind's own", metavar="JSON"),
    option("tier", Tier, "pinned: always in a prompt", "session"),
    lines=_shown,
)  # fmt: skip


def _apply(
    client: Client, user: str, kind: str, key: str, op: str, arguments: tuple[str, ...], **more: Any
) -> types.Reference:
    return client.change_reference(user, kind, key, op, **{**dict(map(_argument, arguments)), **more})


verbs.call(
    "apply",
    "Apply an op to a reference.\n\n"
    'For example: cardlog ref apply todo_list groceries add text="buy milk" --user ada', _apply, *_NAME,
    argument("op", str, "the name of the op"),
    argument("arguments", str, "an argument; the value is JSON or text", many=True, metavar="NAME=VALUE"),
    option(
        "expected_version", int, "the version that you saw; any other one is refused", name="--expect"
    ),
    lines=_shown,
)  # fmt: skip


def _history(client: Client, user: str, kind: str, key: str, limit: int, **place: Any) -> Answer:
    found = every(client.reference_history, user, "versions", kind, key, most=limit, **place)
    documents = [
        {name: each[name] for name in ("version", "at", "actor", "type")} | {"op": each["op"] or {}}
        for each in found
    ]
    return Answer(documents, map(_version, documents), by_line=True)


verbs.call(
    "history", "show every op of a reference, the latest first", _history, *_NAME,
    option("limit", int, "the most versions", 50),
)  # fmt: skip
verbs.call(
    "restore", "bring back the value of a version, or an archived reference", Client.restore_reference, *_NAME,
    option("version", int, "the version; else the value before the archive"),
    lines=_shown,
)  # fmt: skip
verbs.call(
    "archive",
    "put a reference away; restore brings it back",
    Client.archive_reference,
    *_NAME,
    REASON,
    lines=_shown,
)
verbs.call(
    "tier", "move a reference to another tier: pinned, session or archive",
    partial(Client.change_reference_tier, reason="by hand"), *_NAME, argument("tier", Tier, "the tier"),
    lines=_shown,
)  # fmt: skip


def _version(each: Any) -> str:
    op = each["op"]
    told = " ".join(f"{name}={value}" for name, value in op.items() if name not in ("op", "at"))
    at = each["at"][:16].replace("T", " ")
    return f"v{each['version']}  {at}  {each['actor']}  {op.get('op', each['type'])} {told}".rstrip()


def _argument(given: str) -> tuple[str, object]:
    name, equals, value = given.partition("=")
    if not equals or not name:
        raise RuntimeError(f"{given[:40]!r} is no argument of an op: write NAME=VALUE")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value
