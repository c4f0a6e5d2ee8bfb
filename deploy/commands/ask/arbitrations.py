"""``cardlog arbitrations``: lists conflicts that wait for a verdict, and gives the verdict."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any, Literal, get_args
from uuid import UUID

from cyclopts import App, Parameter
from psycopg.rows import dict_row

from deploy.instance import find
from deploy.options import Flat, Given, OfUser
from events.platform.database import connect
from events.platform.settings import Settings
from events.platform.sql import statement
from events.store.log import Connection
from events.types.tenancy import DEFAULT_TENANT
from events.types.verdicts import ConflictRuled, Verdict
from ingest.api import commands
from ingest.api.transactions import commanding
from ingest.decider import Command

Status = Literal["open", "keep_old", "accept_new", "coexist", "withdrawn", "all"]


app = App(
    name="arbitrations",
    help="Some changes of a fact need a decision. Until there is a verdict the old fact stays, and a recall "
    "that finds it reports both values.",
)

Id = Annotated[UUID, Parameter(help="the conflict's id, as listed")]


@app.command(name="list", help="list the conflicts of a user, the latest opened first")
def run_list(
    *,
    options: Flat[OfUser],
    status: Annotated[Status, Parameter(help="default: open")] = "open",
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    settings, _ = find(settings, data)
    with connect(settings.database_url, application="arbitrations") as connection:
        found = _found(connection, options.owner, status=status)
    if options.json:
        print(json.dumps(found, ensure_ascii=False, default=str))
        return 0
    for conflict in found:
        print(_line(conflict))
    if not found:
        print("no conflict waits for a verdict" if status == "open" else "no conflicts")
    return 0


@app.command(name="show", help="show one conflict with its evidence")
def run_show(
    arbitration: Id, /, *, options: Flat[OfUser], settings: Given[Settings], data: Given[Path | None]
) -> int:
    settings, _ = find(settings, data)
    with connect(settings.database_url, application="arbitrations") as connection:
        found = _found(connection, options.owner, arbitration=arbitration)
    if not found:
        raise RuntimeError(f"{options.user} has no arbitration {arbitration}")
    [conflict] = found
    if options.json:
        print(json.dumps(conflict, ensure_ascii=False, default=str))
        return 0
    print(_line(conflict))
    for side in ("old", "new"):
        evidence = conflict["evidence"][side]
        words = evidence["quote"] or ", ".join(evidence["turn_ids"])
        print(f"    {side}: {conflict[f'{side}_value']}, said {evidence['said_at']}: {words}")
    if conflict["status"] == "open":
        of_tenant = "" if options.tenant == DEFAULT_TENANT else f"--tenant {options.tenant} "
        print(
            f"settle it: cardlog arbitrations rule --user {options.user} {of_tenant}{arbitration} "
            f"{'|'.join(get_args(Verdict))}"
        )
    return 0


@app.command(name="rule")
def run_rule(
    arbitration: Id,
    verdict: Annotated[Verdict, Parameter(help="what is true")],
    /,
    *,
    reason: Annotated[
        str, Parameter(metavar="WHY", help="the reason, which is recorded")
    ] = "no reason given",
    by: Annotated[str, Parameter(metavar="NAME", help="who decides (default: operator)")] = "operator",
    options: Flat[OfUser],
    settings: Given[Settings],
    data: Given[Path | None],
) -> int:
    """Settle a conflict: keep the old fact, accept the new one, or say that both are true.

    A verdict is an event of the log and is given once.
    """
    settings, _ = find(settings, data)
    ruled = ConflictRuled(arbitration_id=arbitration, verdict=verdict, reason=reason, by=by)
    with (
        connect(settings.database_url, application="arbitrations") as connection,
        commanding(connection, options.owner),
    ):
        command = Command(actor=by, at=datetime.now(UTC))
        outcome = commands.rule(connection, options.owner, ruled, command)
    assert outcome.event is not None, "a verdict is always an event"
    place = f"{outcome.event.partition}/{outcome.event.position}"
    if options.json:
        print(json.dumps({"place": place, "duplicate": outcome.repeated}))
    else:
        again = " (it already was)" if outcome.repeated else ""
        print(f"ruled {verdict}; the verdict is in the log at {place}{again}")
    return 0


def _found(
    connection: Connection, user_id: str, *, arbitration: UUID | None = None, status: str = "all"
) -> list[dict[str, Any]]:
    values = {
        "user_id": user_id,
        "arbitration": arbitration,
        "status": None if status == "all" else [status],
        "projects": None,
        "reached_projects": None,
        "reached_modes": None,
        "before": None,
        "limit": None,
    }
    with connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(statement("retrieval.cards", "arbitrations"), values).fetchall()


def _line(conflict: dict[str, Any]) -> str:
    about = f"{conflict['entity']} {conflict['concept_key']}"
    return (
        f"{conflict['arbitration_id']}  {conflict['status']:<10} {conflict['opened_at']:%Y-%m-%d}  {about}: "
        f"{conflict['old_value']} or {conflict['new_value']}? {conflict['reason']}"
    )
