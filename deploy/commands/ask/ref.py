"""``cardlog ref``: lists, shows and changes references."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Annotated, Any

from cyclopts import App, Parameter

from cardlog_client import Client
from deploy.commands.ask.answers import every, show
from deploy.options import Flat, Given, Json, Tenant
from events.types.references import Tier
from events.types.tenancy import DEFAULT_TENANT

app = App(
    name="ref",
    help="References are named cells that are kept up to date: lists, plans, decisions, variables. Every op is an "
    "event of the log.",
)
app.command("deploy.commands.operate.reference_review:run_review", name="review")

KindName = Annotated[str, Parameter(help="todo_list, plan, decision_log, variable, or a declared kind")]
Key = Annotated[str, Parameter(help="the name of the reference")]


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of every verb about references."""

    user: Annotated[str, Parameter(help="who asks; the owner, unless --team is given")]
    project: Annotated[str | None, Parameter(help="the project the reference belongs to")] = None
    team: Annotated[str | None, Parameter(help="the team the reference belongs to")] = None
    tenant: Tenant = DEFAULT_TENANT
    json: Json = False

    @property
    def place(self) -> dict[str, Any]:
        """The fields of a request that say whose reference is meant."""
        return {"project_id": self.project, "team_id": self.team}


@app.command(name="list", help="list the references of a user and the user's teams")
def run_list(
    *,
    kind: Annotated[str | None, Parameter(help="only of this kind")] = None,
    tier: Annotated[Tier | None, Parameter(help="only of this tier")] = None,
    archived: Annotated[bool, Parameter(help="archived references too")] = False,
    options: Flat[Options],
    client: Given[Client],
) -> int:
    filters = {"kind": kind, "tier": tier, "archived": archived, **options.place}
    found = every(client.references, options.user, "references", **filters)
    none = f"{options.user} has no references"
    return show(found, [_line(each) for each in found] or [none], as_json=options.json)


@app.command(name="show", help="show a reference, now or at an earlier version")
def run_show(
    kind: KindName,
    key: Key,
    /,
    *,
    version: Annotated[int | None, Parameter(help="the value at this version")] = None,
    options: Flat[Options],
    client: Given[Client],
) -> int:
    return _show(client.reference(options.user, kind, key, version=version, **options.place), options)


@app.command(name="create", help="create a reference")
def run_create(
    kind: KindName,
    key: Key,
    /,
    *,
    value: Annotated[
        str | None, Parameter(metavar="JSON", help="the first value; else the kind's own")
    ] = None,
    tier: Annotated[Tier, Parameter(help="pinned: always in a prompt")] = "session",
    options: Flat[Options],
    client: Given[Client],
) -> int:
    try:
        given = None if value is None else json.loads(value)
    except ValueError as error:
        raise RuntimeError(f"--value: is not JSON ({error})") from None
    return _show(
        client.create_reference(options.user, kind, key, data=given, tier=tier, **options.place), options
    )


@app.command(name="apply")
def run_apply(
    kind: KindName,
    key: Key,
    op: Annotated[str, Parameter(help="the name of the op")],
    /,
    *arguments: Annotated[
        str, Parameter(metavar="NAME=VALUE", help="an argument; the value is JSON or text")
    ],
    expect: Annotated[
        int | None, Parameter(help="the version that you saw; any other one is refused")
    ] = None,
    options: Flat[Options],
    client: Given[Client],
) -> int:
    """Apply an op to a reference.

    For example: cardlog ref apply todo_list groceries add text="buy milk" --user ada
    """
    more = {**dict(map(_argument, arguments)), "expected_version": expect, **options.place}
    return _show(client.change_reference(options.user, kind, key, op, **more), options)


@app.command(name="history", help="show every op of a reference, the latest first")
def run_history(
    kind: KindName,
    key: Key,
    /,
    *,
    limit: Annotated[int, Parameter(help="the most versions")] = 50,
    options: Flat[Options],
    client: Given[Client],
) -> int:
    def ask(user: str, **page: Any) -> Any:
        return client.reference_history(user, kind, key, **page)

    for each in every(ask, options.user, "versions", most=limit, **options.place):
        op = each["op"] or {}
        line = {name: each[name] for name in ("version", "at", "actor", "type")} | {"op": op}
        told = " ".join(f"{name}={value}" for name, value in op.items() if name not in ("op", "at"))
        at = each["at"][:16].replace("T", " ")
        shown = f"v{each['version']}  {at}  {each['actor']}  {op.get('op', each['type'])} {told}".rstrip()
        show(line, [shown], as_json=options.json)
    return 0


@app.command(name="restore", help="bring back the value of a version, or an archived reference")
def run_restore(
    kind: KindName,
    key: Key,
    /,
    *,
    version: Annotated[int | None, Parameter(help="the version; else the value before the archive")] = None,
    options: Flat[Options],
    client: Given[Client],
) -> int:
    return _show(client.restore_reference(options.user, kind, key, version=version, **options.place), options)


@app.command(name="archive", help="put a reference away; restore brings it back")
def run_archive(
    kind: KindName,
    key: Key,
    /,
    *,
    reason: Annotated[str | None, Parameter(metavar="WHY", help="the reason, which is recorded")] = None,
    options: Flat[Options],
    client: Given[Client],
) -> int:
    return _show(client.archive_reference(options.user, kind, key, reason=reason, **options.place), options)


@app.command(name="tier", help="move a reference to another tier: pinned, session or archive")
def run_tier(
    kind: KindName,
    key: Key,
    tier: Annotated[Tier, Parameter(help="the tier")],
    /,
    *,
    options: Flat[Options],
    client: Given[Client],
) -> int:
    moved = client.change_reference_tier(options.user, kind, key, tier, reason="by hand", **options.place)
    return _show(moved, options)


def _show(reference: Any, options: Options) -> int:
    state = ", archived" if reference["archived"] else ""
    line = f"{reference['rendering']}  (version {reference['version']}, {reference['tier']}{state})"
    return show(reference, [line], as_json=options.json)


def _line(reference: Any) -> str:
    where = "".join(
        f" ({name} {reference[f'{name}_id']})" for name in ("team", "project") if reference[f"{name}_id"]
    )
    about = f"{reference['kind']}/{reference['key']}{where}"
    return f"{about}  v{reference['version']} {reference['tier']}  {reference['rendering']}"


def _argument(given: str) -> tuple[str, Any]:
    name, equals, value = given.partition("=")
    if not equals or not name:
        raise RuntimeError(f"{given[:40]!r} is no argument of an op: write NAME=VALUE")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value
