"""``cardlog ref``: lists, shows and changes references."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

from cyclopts import App, Parameter

from deploy.instance import find
from deploy.options import Flat, Given, Json, Tenant
from events.platform.database import connect
from events.platform.settings import Settings
from events.references.declarations import is_member, kind_of
from events.references.kinds.kind import Kind
from events.references.owners import stream_of, team_owner
from events.references.reference import Reference
from events.references.reference_log import current, events_below
from events.resources import references as resources
from events.resources.resource import fields_of
from events.store import log
from events.store.log import Connection
from events.types.references import ReferenceChanged, ReferenceName, Tier
from events.types.tenancy import DEFAULT_TENANT, storage_id
from ingest.decider import Command, Outcome
from ingest.references import reference_commands
from ingest.references.reference_commands import ReferenceStream, not_found
from ingest.references.tiers import review
from retrieval.pool.connections import open_pool
from retrieval.references.reader import ReferenceReader

app = App(
    name="ref",
    help="References are named cells that are kept up to date: lists, plans, decisions, variables. Every op is an "
    "event of the log.",
)

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

    def name(self, kind: str, key: str) -> ReferenceName:
        """Returns the name of the reference that is meant."""
        return ReferenceName(kind=kind, key=key, project_id=self.project, team_id=self.team)

    def owner(self, connection: Connection) -> str:
        """Returns the storage id that owns the reference. Raises a problem for somebody outside the team."""
        if self.team is None:
            return storage_id(self.tenant, self.user)
        if not is_member(connection, self.tenant, self.team, self.user):
            raise not_found()
        return team_owner(self.tenant, self.team)


@app.command(name="list", help="list the references of a user and the user's teams")
def run_list(
    *,
    kind: Annotated[str | None, Parameter(help="only of this kind")] = None,
    tier: Annotated[Tier | None, Parameter(help="only of this tier")] = None,
    archived: Annotated[bool, Parameter(help="archived references too")] = False,
    options: Flat[Options],
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    settings, _ = find(settings, data)

    async def look() -> list[Reference]:
        pool = open_pool(settings, "ref")
        await pool.open()
        try:
            reader = ReferenceReader(pool)
            return await reader.present(await reader.owners_of(storage_id(options.tenant, options.user)))
        finally:
            await pool.close()

    found = [
        each
        for each in asyncio.run(look())
        if kind in (None, each.name.kind)
        and tier in (None, each.tier)
        and options.project in (None, each.name.project_id)
        and options.team in (None, each.name.team_id)
        and (archived or not each.archived)
    ]
    if options.json:
        print(
            json.dumps(
                [fields_of(resources.Reference.made_from(each)) for each in found],
                ensure_ascii=False,
                default=str,
            )
        )
        return 0
    for each in found:
        where = f" (team {each.name.team_id})" if each.name.team_id else ""
        where += f" (project {each.name.project_id})" if each.name.project_id else ""
        print(f"{each.name.kind}/{each.name.key}{where}  v{each.version} {each.tier}  {each.rendering}")
    if not found:
        print(f"{options.user} has no references")
    return 0


@app.command(name="show", help="show a reference, now or at an earlier version")
def run_show(
    kind: KindName,
    key: Key,
    /,
    *,
    version: Annotated[int | None, Parameter(help="the value at this version")] = None,
    options: Flat[Options],
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    settings, _ = find(settings, data)
    with connect(settings.database_url, application="ref") as connection:
        found = current(connection, options.owner(connection), stream_of(options.name(kind, key)), version)
    if found is None or found.moved_to is not None:
        raise RuntimeError(f"{options.user} has no {kind} with the key {key}")
    if version not in (None, found.version):
        raise RuntimeError(f"version {version} never was; use 1 to {found.version}")
    return _print(found, options)


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
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    given = None if value is None else _json("--value", value)
    return _run(
        settings,
        data,
        options,
        kind,
        key,
        lambda stream, found: reference_commands.create(stream, found, given, tier),
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
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    """Apply an op to a reference.

    For example: cardlog ref apply todo_list groceries add text="buy milk" --user ada
    """
    command = {"op": op, **dict(map(_argument, arguments))}
    return _run(
        settings,
        data,
        options,
        kind,
        key,
        lambda stream, found: reference_commands.apply(stream, found, command, expect),
    )


@app.command(name="history", help="show every op of a reference, the latest first")
def run_history(
    kind: KindName,
    key: Key,
    /,
    *,
    limit: Annotated[int, Parameter(help="the most versions")] = 50,
    options: Flat[Options],
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    settings, _ = find(settings, data)
    with connect(settings.database_url, application="ref") as connection:
        events = events_below(
            connection, options.owner(connection), stream_of(options.name(kind, key)), None, limit
        )
    if not events:
        raise RuntimeError(f"{options.user} has no {kind} with the key {key}")
    for event in events:
        payload = event.payload
        op = payload.op if isinstance(payload, ReferenceChanged) else {}
        line = {
            "version": event.version,
            "at": event.occurred_at.isoformat(),
            "actor": event.actor,
            "type": event.type,
            "op": op,
        }
        if options.json:
            print(json.dumps(line, ensure_ascii=False))
        else:
            told = " ".join(f"{name}={value}" for name, value in op.items() if name not in ("op", "at"))
            print(
                f"v{event.version}  {event.occurred_at:%Y-%m-%d %H:%M}  {event.actor}  "
                f"{op.get('op', event.type)} {told}".rstrip()
            )
    return 0


@app.command(name="restore", help="bring back the value of a version, or an archived reference")
def run_restore(
    kind: KindName,
    key: Key,
    /,
    *,
    version: Annotated[int | None, Parameter(help="the version; else the value before the archive")] = None,
    options: Flat[Options],
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    return _run(
        settings,
        data,
        options,
        kind,
        key,
        lambda stream, found: reference_commands.restore(stream, found, version),
    )


@app.command(name="archive", help="put a reference away; restore brings it back")
def run_archive(
    kind: KindName,
    key: Key,
    /,
    *,
    reason: Annotated[str | None, Parameter(metavar="WHY", help="the reason, which is recorded")] = None,
    options: Flat[Options],
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    return _run(
        settings,
        data,
        options,
        kind,
        key,
        lambda stream, _: reference_commands.archive(stream, reason),
    )


@app.command(name="tier", help="move a reference to another tier: pinned, session or archive")
def run_tier(
    kind: KindName,
    key: Key,
    tier: Annotated[Tier, Parameter(help="the tier")],
    /,
    *,
    options: Flat[Options],
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    return _run(
        settings,
        data,
        options,
        kind,
        key,
        lambda stream, _: reference_commands.change_tier(stream, tier, "by hand"),
    )


@app.command(name="review")
def run_review(
    *,
    json_lines: Annotated[bool, Parameter(name="--json", help="print JSON")] = False,
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    """Move references between tiers by their use now. The write service does it once an hour.

    Much used references are pinned, and untouched ones go to the archive. CARDLOG_REFERENCE_PIN_USES,
    CARDLOG_REFERENCE_PIN_DAYS and CARDLOG_REFERENCE_ARCHIVE_DAYS are the limits.
    """
    settings, _ = find(settings, data)
    with connect(settings.database_url, application="ref") as connection:
        moves = review(connection, settings, datetime.now(UTC))
    for move in moves:
        line = {
            "user_id": move.owner,
            "kind": move.name.kind,
            "key": move.name.key,
            "tier": move.tier,
            "reason": move.reason,
        }
        print(
            json.dumps(line, ensure_ascii=False)
            if json_lines
            else f"{move.name.kind}/{move.name.key}: {move.tier}, {move.reason}"
        )
    if not moves and not json_lines:
        print("every reference has the tier that its use asks for")
    return 0


def _run(
    settings: Settings,
    data: Path | None,
    options: Options,
    kind: str,
    key: str,
    run: Callable[[ReferenceStream, Kind], Outcome[Reference]],
) -> int:
    settings, _ = find(settings, data)
    command = Command(actor=f"operator for user/{options.user}", at=datetime.now(UTC))
    with connect(settings.database_url, application="ref") as connection:
        with connection.transaction():
            owner = options.owner(connection)
            stream = ReferenceStream(connection, owner, options.name(kind, key), command)
            outcome = run(stream, kind_of(connection, options.tenant, kind))
        if outcome.changed:
            log.announce(connection)
    return _print(outcome.state, options)


def _print(reference: Reference, options: Options) -> int:
    if options.json:
        print(
            json.dumps(fields_of(resources.Reference.made_from(reference)), ensure_ascii=False, default=str)
        )
    else:
        state = ", archived" if reference.archived else ""
        print(f"{reference.rendering}  (version {reference.version}, {reference.tier}{state})")
    return 0


def _argument(given: str) -> tuple[str, Any]:
    name, equals, value = given.partition("=")
    if not equals or not name:
        raise RuntimeError(f"{given[:40]!r} is no argument of an op: write NAME=VALUE")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _json(option: str, text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as error:
        raise RuntimeError(f"{option}: is not JSON ({error})") from None
