"""``cardlog grant``: gives a role the rights to append to the log, and no right to change it."""

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
    """Give a PostgreSQL role only the rights of workers and services.

    Migrate the log's schema and give a role the rights that workers and services need. The role may read the log,
    append to it with log.append and fold it into its own tables. It may not change the log, its functions or its
    triggers. These belong to the role cardlog_log afterwards, and nobody logs in as that role. Set
    CARDLOG_ADMIN_DATABASE_URL to the URL of a superuser, or of the database's owner with CREATEROLE. Run the command
    again after each upgrade. The embedded server creates such a role by itself.
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
