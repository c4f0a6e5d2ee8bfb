"""``cardlog arbitrations``: conflicts that wait for a verdict, and the verdict."""

from __future__ import annotations

import argparse
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, get_args
from uuid import UUID

from psycopg.rows import dict_row

from deploy.instance import find
from events.database import connect
from events.log import Connection
from events.problem import ProblemError
from events.settings import Settings
from events.sql import statement
from events.types.verdicts import ConflictRuled, Verdict
from ingest import commands

_STATUSES = ("open", *get_args(Verdict), "withdrawn", "all")


def register(subparsers: Any) -> None:
    family = subparsers.add_parser(
        "arbitrations",
        help="conflicts that wait for a verdict: list, show, rule",
        description="Some changes of a fact are too grave to be believed without asking. Until there is a verdict the "
        "old fact stays, and every recall that meets it tells of both.",
    )
    verbs = family.add_subparsers(dest="verb", metavar="VERB", required=True)
    listing = verbs.add_parser("list", help="the conflicts of a user, the last opened first")
    listing.add_argument("--status", choices=_STATUSES, default="open", help="default: open")
    listing.set_defaults(run=run_list)
    show = verbs.add_parser("show", help="one conflict with its evidence")
    show.set_defaults(run=run_show)
    rule = verbs.add_parser(
        "rule",
        help="settle a conflict",
        description="Settle a conflict: keep the old fact, accept the new one, or say that both are true. A verdict is "
        "an event of the log and is given once.",
    )
    rule.set_defaults(run=run_rule)
    for parser in (listing, show, rule):
        parser.add_argument("--user", required=True, help="whose memory is meant")
        parser.add_argument("--json", action="store_true", help="print JSON")
        parser.add_argument("--data", type=Path, default=None, help="data folder of the Cardlog meant")
    for parser in (show, rule):
        parser.add_argument("arbitration", type=UUID, help="the conflict's id, as listed")
    rule.add_argument("verdict", choices=get_args(Verdict))
    rule.add_argument("--reason", default="no reason given", help="why, for whoever asks later")
    rule.add_argument("--by", default="operator", help="who decides (default: operator)")


def run_list(options: argparse.Namespace, settings: Settings) -> int:
    settings, _ = find(settings, options.data)
    with connect(settings.database_url, application="arbitrations") as connection:
        found = _found(connection, options.user, status=options.status)
    if options.json:
        print(json.dumps(found, ensure_ascii=False, default=str))
        return 0
    for conflict in found:
        print(_line(conflict))
    if not found:
        print("nothing waits for a verdict" if options.status == "open" else "there is none")
    return 0


def run_show(options: argparse.Namespace, settings: Settings) -> int:
    settings, _ = find(settings, options.data)
    with connect(settings.database_url, application="arbitrations") as connection:
        found = _found(connection, options.user, arbitration=options.arbitration)
    if not found:
        raise RuntimeError(f"{options.user} has no arbitration {options.arbitration}")
    [conflict] = found
    if options.json:
        print(json.dumps(conflict, ensure_ascii=False, default=str))
        return 0
    print(_line(conflict))
    for side in ("old", "new"):
        told = conflict["evidence"][side]
        words = told["quote"] or ", ".join(told["turn_ids"])
        print(f"    {side}: {conflict[f'{side}_value']}, said {told['said_at']}: {words}")
    if conflict["status"] == "open":
        print(
            f"settle it: cardlog arbitrations rule --user {options.user} {options.arbitration} "
            f"{'|'.join(get_args(Verdict))}"
        )
    return 0


def run_rule(options: argparse.Namespace, settings: Settings) -> int:
    settings, _ = find(settings, options.data)
    ruled = ConflictRuled(
        arbitration_id=options.arbitration, verdict=options.verdict, reason=options.reason, by=options.by
    )
    with connect(settings.database_url, application="arbitrations") as connection:
        try:
            said = commands.rule(connection, options.user, ruled, now=datetime.now(UTC))
        except ProblemError as problem:
            raise RuntimeError(problem.document["detail"]) from None
    if options.json:
        print(json.dumps({"place": f"{said.partition}/{said.position}", "duplicate": said.duplicate}))
    else:
        again = " (it was before)" if said.duplicate else ""
        print(f"ruled {options.verdict}; it stands in the log at {said.partition}/{said.position}{again}")
    return 0


def _found(
    connection: Connection, user_id: str, *, arbitration: UUID | None = None, status: str = "all"
) -> list[dict[str, Any]]:
    values = {
        "user_id": user_id,
        "arbitration": arbitration,
        "status": None if status == "all" else [status],
        "projects": None,
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
