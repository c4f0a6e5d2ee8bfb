"""``cardlog grant``: the role of workers and services, which can append to the log and not change it."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

from deploy.instance import find
from deploy.options import Given
from deploy.security.roles import grant as give
from deploy.security.roles import statements, weaknesses
from events.platform.database import address_of, connect, migrate
from events.platform.settings import Settings


def grant(
    *,
    role: Annotated[str, Parameter(metavar="NAME", help="the role; it must exist already")],
    only_print: Annotated[
        bool, Parameter(name="--print", help="print the statements and change nothing")
    ] = False,
    settings: Given[Settings],
) -> int:
    """Give a PostgreSQL role the rights of workers and services, and no more.

    Bring the log's schema up to date and give a role what workers and services need. The role may read the log,
    append to it with log.append and fold it into tables of its own. It may not change the log, its functions or
    its triggers: these belong to the role cardlog_log afterwards, which nobody logs in as. Set
    CARDLOG_ADMIN_DATABASE_URL to the URL of a superuser, or of the database's owner with CREATEROLE. Run it again
    after each upgrade. The embedded server has such a role by itself.
    """
    settings, _ = find(settings)
    url = settings.admin_database_url or settings.database_url
    with connect(url, application="grant") as connection:
        if only_print:
            print(statements(connection, role))
            return 0
        for name in migrate(connection):
            print(f"applied {name}")
        give(connection, role)
        left = weaknesses(connection, role)
    for weakness in left:
        print(f"warning: {role} could still change the log: {weakness}")
    print(f"{role} can append to the log at {address_of(url)} and fold it")
    return 1 if left else 0
