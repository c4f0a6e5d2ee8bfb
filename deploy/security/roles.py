"""Database roles: one role owns the log and never logs in. Each process has the least rights that it needs."""

import secrets
from pathlib import Path
from typing import Literal, get_args
from urllib.parse import quote, urlsplit

from psycopg import sql

from events.platform.database import Connection, one_row, statement
from events.platform.settings import Settings
from events.store import authentication
from events.types.tenancy import pads_of
from projectors.generations.generations import blueprint

LOG_OWNER = "cardlog_log"
"""The owner of the log and of its functions. Nobody logs in as this role."""

PROJECTORS = "cardlog_projectors"
"""The members of this role may write the folded tables. ``log.let_fold`` knows the name too."""

READERS = "cardlog_readers"
"""The members of this role may read the folded tables. ``log.let_read`` knows the name too."""

Process = Literal["recorder", "extractor", "projector", "reader", "curator", "agent", "admin"]
PROCESSES: tuple[Process, ...] = get_args(Process)
WORKERS_AND_SERVICES: tuple[Process, ...] = (
    "recorder", "extractor", "projector", "reader", "curator", "agent",
)  # fmt: skip
"""The processes that one role serves in a small installation."""


class RoleError(RuntimeError):
    """The role cannot get its rights. The message gives the reason and the remedy."""


def statements(connection: Connection, role: str, processes: tuple[Process, ...]) -> str:
    """Returns a psql script that gives ``role`` the rights of ``processes`` in the connection's database."""
    return _grants(connection, role, processes).as_string(connection)


def create(connection: Connection, role: str) -> str:
    """Makes the role ``role``, which may log in, unless it exists. Gives it a new password and returns the password."""
    password = secrets.token_urlsafe(24)
    connection.execute(
        statement("deploy.security", "create_role").format(
            role=sql.Identifier(role), role_name=sql.Literal(role), password=sql.Literal(password)
        )
    )
    return password


def url_of(url: str, role: str, password: str) -> str:
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return parts._replace(netloc=f"{quote(role, safe='')}:{password}@{host}").geturl()


def grant(connection: Connection, role: str, processes: tuple[Process, ...] = WORKERS_AND_SERVICES) -> None:
    """Gives ``role`` the rights that ``processes`` need, and revokes its other rights on the log.

    The log and the folded tables then belong to :data:`LOG_OWNER`, and ``role`` owns none of them. The call can be
    repeated; run it again after an upgrade. Raises :class:`RoleError` for a role that does not exist, is a superuser,
    ignores row-level security, or is the connected role.
    """
    row = connection.execute(statement("deploy.security", "find_role"), {"role": role}).fetchone()
    if row is None:
        raise RoleError(
            f"there is no role {role!r}: create it first with "
            f"CREATE ROLE {_quoted(connection, role)} LOGIN PASSWORD '…'"
        )
    quoted = _quoted(connection, role)
    faults = (
        f"is a superuser, and no grant limits a superuser: name another role, or run ALTER ROLE {quoted} NOSUPERUSER",
        f"ignores row-level security, and would see every tenant: run ALTER ROLE {quoted} NOBYPASSRLS",
        "is the connected role: set CARDLOG_ADMIN_DATABASE_URL to the URL of another role that owns the database",
    )
    for found, fault in zip(row, faults, strict=True):
        if found:
            raise RoleError(f"the role {role!r} {fault}")
    with connection.transaction():
        connection.execute(_grants(connection, role, processes))


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


def tenant_weaknesses(connection: Connection) -> list[str]:
    """Returns the reasons why tenants are not kept apart in the database, or searches are slow because they are."""
    found = [
        f"{table} is not protected: start the workers again, or run cardlog rebuild"
        for (table,) in connection.execute(statement("deploy.security", "unprotected_tables"))
    ]
    row = one_row(connection, statement("deploy.security", "tenant_limits"))
    bypasses, leakproof = row
    if bypasses:
        found.append(
            "the role of CARDLOG_DATABASE_URL ignores row-level security: use another, see cardlog grant"
        )
    elif not leakproof:
        found.append(
            "searches read all cards of their user: run as a superuser ALTER FUNCTION "
            "pg_catalog.arrayoverlap(anyarray, anyarray) LEAKPROOF, and the same for arraycontains"
        )
    return found


def _grants(connection: Connection, role: str, processes: tuple[Process, ...]) -> sql.Composed:
    if "$" in role:
        raise RoleError(f"the role {role!r} has a $ in its name: use a role without one")
    named = {"role": role, "owner": LOG_OWNER, "readers": READERS, "projectors": PROJECTORS}
    names: dict[str, sql.Composable] = {"database": sql.Identifier(connection.info.dbname)}
    for each, name in named.items():
        names |= {each: sql.Identifier(name), f"{each}_name": sql.Literal(name)}
    from projectors.registry import projectors  # noqa: PLC0415 - the import takes a second

    blueprints = [blueprint(projector) for projector in projectors(Settings())]
    own_log, *others = (
        statement("deploy.security", script).format(**names)
        for script in ("own_log", "own_tables", *(f"grant_{process}" for process in processes))
    )
    return sql.SQL("\n").join([own_log, *blueprints, *others])


def sign_tenants(connection: Connection, key: Path) -> None:
    """From now on a session sees a tenant only with a proof of the log key in the file ``key``, for every role.

    The database keeps what checks a proof, and never the log key. Every process then needs the log key.
    """
    inner, outer = pads_of(authentication.load(key).key_of_tenants)
    connection.execute(statement("deploy.security", "sign_tenants"), {"inner": inner, "outer": outer})


def _quoted(connection: Connection, name: str) -> str:
    return sql.Identifier(name).as_string(connection)


def url_of_role(connection: Connection, url: str, role: str, processes: tuple[Process, ...]) -> str:
    """Returns the URL of the role ``role`` with the rights of ``processes``.

    ``connection`` belongs to the owner, and ``url`` is its URL. Each call sets a new password, which only files with
    the returned URL hold. Call it after the migrations.
    """
    password = create(connection, role)
    grant(connection, role, processes)
    return url_of(url, role, password)
