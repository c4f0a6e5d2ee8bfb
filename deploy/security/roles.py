"""Database roles: one role owns the log and never logs in, and another role appends to the log and folds it."""

from __future__ import annotations

from psycopg import sql

from events.platform.database import Connection
from events.platform.sql import statement

LOG_OWNER = "cardlog_log"
"""The owner of the log and of its functions. Nobody logs in as this role."""


class RoleError(RuntimeError):
    """The role cannot get its rights. The message gives the reason and the remedy."""


def statements(connection: Connection, role: str) -> str:
    """Returns a psql script that gives ``role`` its rights in the connection's database."""
    return _grants(connection, role).as_string(connection)


def grant(connection: Connection, role: str) -> None:
    """Gives ``role`` the rights that workers and services need, and revokes its other rights on the log.

    The log then belongs to :data:`LOG_OWNER`, and the folded tables belong to ``role``. The call can be repeated; run
    it again after an upgrade. Raises :class:`RoleError` for a role that does not exist, is a superuser, or is the
    connected role.
    """
    row = connection.execute(statement("deploy.security", "find_role"), {"role": role}).fetchone()
    if row is None:
        raise RoleError(
            f"there is no role {role!r}: create it first with "
            f"CREATE ROLE {_quoted(connection, role)} LOGIN PASSWORD '…'"
        )
    superuser, ours = row
    if superuser:
        raise RoleError(
            f"the role {role!r} is a superuser, and no grant can limit a superuser: name another role, or run "
            f"ALTER ROLE {_quoted(connection, role)} NOSUPERUSER"
        )
    if ours:
        raise RoleError(
            f"the role {role!r} is the connected role: set CARDLOG_ADMIN_DATABASE_URL to the URL of another role "
            "that owns the database"
        )
    with connection.transaction():
        connection.execute(_grants(connection, role))


def weaknesses(connection: Connection, role: str | None = None) -> list[str]:
    """Returns the reasons why ``role`` could change the log, and an empty list when it can only append.

    The default is the connected role.
    """
    row = connection.execute(statement("deploy.security", "role_rights"), {"role": role}).fetchone()
    if row is None:
        return []
    superuser, makes_roles, _, _, owns, may_change = row
    if superuser:
        return ["it is a superuser"]
    found = []
    if owns:
        found.append("it owns the log, or is a member of the role that does")
    elif may_change:
        found.append("it may write to log.events or log.heads, or create objects in the schema log")
    if makes_roles:
        found.append("it may create roles, and so give itself rights")
    return found


def _grants(connection: Connection, role: str) -> sql.Composed:
    if "$" in role:
        raise RoleError(f"the role {role!r} has a $ in its name: use a role without one")
    return statement("deploy.security", "grant_role").format(
        role=sql.Identifier(role),
        role_name=sql.Literal(role),
        owner=sql.Identifier(LOG_OWNER),
        owner_name=sql.Literal(LOG_OWNER),
        database=sql.Identifier(connection.info.dbname),
    )


def _quoted(connection: Connection, name: str) -> str:
    return sql.Identifier(name).as_string(connection)
