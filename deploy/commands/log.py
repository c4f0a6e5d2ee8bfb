"""``cardlog log``: look at the log and check it."""

from __future__ import annotations

import argparse
import json
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

from psycopg.rows import dict_row

from deploy.instance import find
from events.database import connect
from events.envelope import partition_of
from events.settings import Settings
from events.sql import statement
from events.verification import verify


def register(subparsers: Any) -> None:
    log = subparsers.add_parser("log", help="look at the log, verify it")
    verbs = log.add_subparsers(dest="verb", metavar="VERB", required=True)
    show = verbs.add_parser("show", help="print events, oldest first within each partition")
    show.add_argument("--user", default=None, help="only this user's")
    show.add_argument("--stream", default=None, help="only this stream")
    show.add_argument("--type", default=None, help="only this event type, such as TurnRecorded")
    show.add_argument(
        "--since", default=None, metavar="INSTANT", help="only what was recorded since (ISO 8601)"
    )
    show.add_argument("--limit", type=int, default=None, help="at most so many")
    show.add_argument("--json", action="store_true", help="one JSON object a line, the columns of log.events")
    check = verbs.add_parser("verify", help="find holes, tampering and disorder")
    check.add_argument("--json", action="store_true", help="print JSON")
    for parser in (show, check):
        parser.add_argument("--data", type=Path, default=None, help="data folder of the Cardlog meant")
    show.set_defaults(run=run_show)
    check.set_defaults(run=run_verify)


def run_show(options: argparse.Namespace, settings: Settings) -> int:
    settings, _ = find(settings, options.data)
    since = None
    if options.since is not None:
        try:
            since = datetime.fromisoformat(options.since).astimezone()
        except ValueError:
            raise ValueError(
                f"--since {options.since!r} is not ISO 8601, such as 2026-05-08T00:00:00Z"
            ) from None
    parameters = {
        "partition": None if options.user is None else partition_of(options.user),
        "user_id": options.user,
        "stream": options.stream,
        "type": options.type,
        "since": since,
        "limit": options.limit,
    }
    with (
        connect(settings.database_url, application="log show", autocommit=False) as connection,
        connection.cursor("log_show", row_factory=dict_row) as cursor,
    ):
        cursor.itersize = 1000
        cursor.execute(statement("deploy", "show_events"), parameters)
        for row in cursor:
            sys.stdout.write((_json(row) if options.json else _line(row)) + "\n")
    return 0


def _json(row: dict[str, Any]) -> str:
    data = row.pop("data")
    fields = {
        name: value.isoformat()
        if isinstance(value, datetime)
        else value.hex()
        if isinstance(value, bytes)
        else value
        if value is None or isinstance(value, int | str)
        else str(value)
        for name, value in row.items()
    }
    # The payload is put in as it is stored: what is shown is what the digest covers.
    return json.dumps(fields, ensure_ascii=False)[:-1] + f', "data": {data}}}'


def _line(row: dict[str, Any]) -> str:
    data = json.loads(row["data"])
    said = data.get("text") or data.get("content") or data.get("reason") or ""
    said = " ".join(str(said).split())
    if len(said) > 100:
        said = said[:99] + "…"
    place = f"{row['partition']}/{row['position']}"
    return f"{place:<10} {row['recorded_at']:%Y-%m-%d %H:%M:%S} {row['user_id']:<12} {row['type']:<18} {said}"


def run_verify(options: argparse.Namespace, settings: Settings) -> int:
    settings, _ = find(settings, options.data)
    with connect(settings.database_url, application="log verify") as connection:
        result = verify(connection)
    if options.json:
        print(json.dumps({"ok": not result.faults, "events": result.events, "faults": list(result.faults)}))
    else:
        for fault in result.faults:
            print(fault)
        print(
            f"{result.events} events verified"
            if not result.faults
            else f"{len(result.faults)} faults; the log was changed behind Cardlog's back or the disk lied"
        )
    return 1 if result.faults else 0
