"""``cardlog proposals``: lists ops that prose asked for, and accepts or refuses them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal
from uuid import UUID

from cyclopts import App, Parameter
from psycopg.rows import dict_row

from deploy.instance import find
from deploy.options import Flat, Given, Json, Tenant
from events.platform.database import connect
from events.platform.settings import Settings
from events.platform.sql import statement
from events.store import log
from events.types.tenancy import DEFAULT_TENANT, storage_id
from ingest.decider import Command
from ingest.references import proposals

app = App(
    name="proposals",
    help='With CARDLOG_REFERENCE_PROPOSALS a turn such as "add tea to my list" becomes a proposal. A sure one is '
    "applied at once, any other one waits here.",
)

Status = Literal["waiting", "applied", "accepted", "refused", "all"]
Id = Annotated[UUID, Parameter(help="the proposal's id, as listed")]


@dataclass(frozen=True, kw_only=True)
class Options:
    """The options of every verb about proposals."""

    user: Annotated[str, Parameter(help="whose proposals are meant")]
    tenant: Tenant = DEFAULT_TENANT
    json: Json = False


@app.command(name="list", help="list the proposals of a user, the latest first")
def run_list(
    *,
    options: Flat[Options],
    status: Annotated[Status, Parameter(help="default: waiting")] = "waiting",
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    settings, _ = find(settings, data)
    with (
        connect(settings.database_url, application="proposals") as connection,
        connection.cursor(row_factory=dict_row) as cursor,
    ):
        found = cursor.execute(
            statement("retrieval.references", "proposals"),
            {
                "user_id": storage_id(options.tenant, options.user),
                "status": None if status == "all" else status,
                "before": None,
                "limit": 1000,
            },
        ).fetchall()
    if options.json:
        print(json.dumps(found, ensure_ascii=False, default=str))
        return 0
    for each in found:
        op = " ".join(f"{name}={value}" for name, value in each["op"].items() if name != "op")
        print(
            f"{each['proposal_id']}  {each['status']:<8} {each['confidence']:.2f}  {each['kind']}/{each['key']}: "
            f"{each['op']['op']} {op}  ({each['quote']})"
        )
    if not found:
        print("no proposal waits" if status == "waiting" else "no proposals")
    return 0


@app.command(name="accept", help="apply a waiting proposal")
def run_accept(
    proposal: Id, /, *, options: Flat[Options], settings: Given[Settings], data: Given[Path | None]
) -> int:
    settings, _ = find(settings, data)
    with connect(settings.database_url, application="proposals") as connection:
        command = Command(actor="user/operator", at=datetime.now(UTC))
        outcome = proposals.accept(connection, storage_id(options.tenant, options.user), proposal, command)
        log.announce(connection)
    if isinstance(outcome, proposals.Retraction):
        document: dict[str, object] = {"card_id": str(outcome.card_id), "events": outcome.events}
        print(json.dumps(document) if options.json else f"retracted: {outcome.content}")
        return 0
    print(json.dumps({"version": outcome.state.version}) if options.json else outcome.state.rendering)
    return 0


@app.command(name="refuse", help="refuse a waiting proposal; nothing changes")
def run_refuse(
    proposal: Id,
    /,
    *,
    reason: Annotated[str | None, Parameter(metavar="WHY", help="the reason, which is recorded")] = None,
    options: Flat[Options],
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    settings, _ = find(settings, data)
    with connect(settings.database_url, application="proposals") as connection:
        command = Command(actor="user/operator", at=datetime.now(UTC))
        proposals.refuse(connection, storage_id(options.tenant, options.user), proposal, reason, command)
        log.announce(connection)
    print(json.dumps({"status": "refused"}) if options.json else "refused")
    return 0
