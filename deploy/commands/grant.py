"""``cardlog grant``: the role of workers and services, which can append to the log and not change it."""

from __future__ import annotations

import argparse
from typing import Any

from deploy.instance import find
from deploy.roles import grant, statements, weaknesses
from events.database import address_of, connect, migrate
from events.settings import Settings


def register(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "grant",
        help="give a PostgreSQL role the rights of workers and services, and no more",
        description="Bring the log's schema up to date and give a role what workers and services need: it may read the "
        "log, append to it with log.append and fold it into tables of its own, and it may not change the log, its "
        "functions or its triggers. These belong to the role cardlog_log afterwards, which nobody logs in as. Set "
        "CARDLOG_ADMIN_DATABASE_URL to the URL of a superuser, or of the database's owner with CREATEROLE; run it "
        "again after each upgrade. The embedded server has such a role by itself.",
    )
    parser.add_argument("--role", required=True, metavar="NAME", help="the role; it must exist already")
    parser.add_argument("--print", action="store_true", help="print the statements and change nothing")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace, settings: Settings) -> int:
    settings, _ = find(settings)
    url = settings.admin_database_url or settings.database_url
    with connect(url, application="grant") as connection:
        if options.print:
            print(statements(connection, options.role))
            return 0
        for name in migrate(connection):
            print(f"applied {name}")
        grant(connection, options.role)
        left = weaknesses(connection, options.role)
    for weakness in left:
        print(f"warning: {options.role} could still change the log: {weakness}")
    print(f"{options.role} can append to the log at {address_of(url)} and fold it")
    return 1 if left else 0
