"""``cardlog grant``: gives a role the rights to append to the log, and no right to change it."""

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from deploy.options import Given
from deploy.security.roles import WORKERS_AND_SERVICES, Process, sign_tenants, statements, url_of, weaknesses
from deploy.security.roles import create as make
from deploy.security.roles import grant as give
from events.platform.database import address_of, connect, migrate
from events.platform.settings import Settings, SettingsError


def grant(
    *,
    role: Annotated[str, Parameter(metavar="NAME", help="the role; without --create it must exist already")],
    process: Annotated[
        list[Process] | None,
        Parameter(help="the process that uses the role; may be repeated (default: all but admin)"),
    ] = None,
    create: Annotated[
        bool,
        Parameter(negative="", help="make the role, set a new password, and print its URL"),
    ] = False,
    signed_tenants: Annotated[
        bool,
        Parameter(
            negative="",
            help="from now on a session sees a tenant only with a proof of the log key: every process needs "
            "CARDLOG_LOG_KEY_FILE",
        ),
    ] = False,
    only_print: Annotated[
        bool, Parameter(name="--print", help="print the statements and change nothing")
    ] = False,
    cardlog: Given[Settings],
) -> int:
    """Give a PostgreSQL role only the rights of its processes.

    Migrate the log's schema and give a role the rights that its processes need: recorder, extractor, projector,
    reader (the read service), curator (the write service), agent (`cardlog work curator`, which only adds,
    and `cardlog work webhooks`) or admin.
    Without --process, one role serves all of them but admin. No role but admin may change the log, its
    functions or its triggers. These and the folded tables belong to the role cardlog_log afterwards, and nobody
    logs in as that role. A role of reader or curator alone sees one tenant at a time. Set
    CARDLOG_ADMIN_DATABASE_URL to the URL of a superuser, or of the database's owner with CREATEROLE. Run the
    command again after each upgrade. The embedded server creates its roles by itself.
    """
    processes = tuple(process) if process else WORKERS_AND_SERVICES
    url = cardlog.admin_database_url or cardlog.database_url
    with connect(url, application="grant") as connection:
        if only_print:
            print(statements(connection, role, processes))
            return 0
        for name in migrate(connection):
            print(f"applied {name}")
        password = make(connection, role) if create else None
        give(connection, role, processes)
        if signed_tenants:
            if not cardlog.log_key_file:
                raise SettingsError("--signed-tenants needs the log key: set CARDLOG_LOG_KEY_FILE")
            sign_tenants(connection, Path(cardlog.log_key_file))
        left = [] if "admin" in processes else weaknesses(connection, role)
    for weakness in left:
        print(f"warning: {role} could still change the log: {weakness}")
    print(f"{role} has the rights of {', '.join(processes)} at {address_of(url)}")
    if password is not None:
        print(url_of(url, role, password))
    return 1 if left else 0
