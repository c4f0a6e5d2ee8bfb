"""Who may do what in the database: one role owns the log and never logs in, another appends to it and folds it."""

from __future__ import annotations

from psycopg import sql

from events.platform.database import Connection
from events.platform.sql import statement

LOG_OWNER = "cardlog_log"
"""Owns the log and its functions. Nobody logs in as this role."""


class RoleError(RuntimeError):
    """The role cannot be given its rights; the message says why and what to do."""


def statements(connection: Connection, role: str) -> str:
    """What gives ``role`` its rights in the connection's database, as a script for psql."""
    return _grants(connection, role).as_string(connection)


def grant(connection: Connection, role: str) -> None:
    """Give ``role`` the rights that workers and services need, and take all others on the log from it.

    The log then belongs to :data:`LOG_OWNER`, the tables folded so far to ``role``. Safe to repeat; run it again after
    an upgrade. Raises :class:`RoleError` for a role that is not there, is a superuser or is the one connected.
    """
    row = connection.execute(statement("deploy.security", "role_there"), {"role": role}).fetchone()
    if row is None:
        raise RoleError(
            f"there is no role {role!r}: make it first, with "
            f"CREATE ROLE {_quoted(connection, role)} LOGIN PASSWORD '…'"
        )
    superuser, ours = row
    if superuser:
        raise RoleError(
            f"the role {role!r} is a superuser, whom no grant can bound: name another role, or run "
            f"ALTER ROLE {_quoted(connection, role)} NOSUPERUSER"
        )
    if ours:
        raise RoleError(
            f"the role {role!r} is the one that grants: set CARDLOG_ADMIN_DATABASE_URL to the URL of another role, "
            "which owns the database"
        )
    with connection.transaction():
        connection.execute(_grants(connection, role))


def weaknesses(connection: Connection, role: str | None = None) -> list[str]:
    """Why ``role`` (the connected one by default) could change the log; empty when it can only append."""
    row = connection.execute(statement("deploy.security", "role_standing"), {"role": role}).fetchone()
    if row is None:
        return []
    superuser, makes_roles, _, _, owns, may_change = row
    if superuser:
        return ["it is a superuser"]
    found = []
    if owns:
        found.append("it owns the log, or is a member of the role that does")
    elif may_change:
        found.append("it may write to log.events or log.heads, or make things in the schema log")
    if makes_roles:
        found.append("it may make roles, and with them give itself rights")
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
