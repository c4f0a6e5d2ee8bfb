"""PostgreSQL: connections, named statements and their rows, the check of the server, and the migrations of the log."""

import logging
import re
import time
from collections.abc import Callable, Mapping
from functools import cache
from importlib.resources import files
from typing import Any, TypeVar

import psycopg
from psycopg.abc import Buffer, PQGen
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import TupleRow, dict_row, tuple_row
from psycopg.sql import SQL
from psycopg.types.datetime import TimestamptzLoader

from events.platform.failures import in_a_line
from events.platform.projections import PROJECTIONS
from events.platform.settings import Settings
from events.types.tenancy import tenant_of, vouch

logger = logging.getLogger(__name__)
_R = TypeVar("_R")

OLDEST_SERVER = 150000
REQUIRED_EXTENSIONS = ("vector", "pg_trgm")
_TELL_AGAIN_S = 10.0
_MIGRATION_LOCK = 0x6361726460  # an arbitrary key of the advisory lock: one process migrates at a time

RECONNECT_S = 1.0
"""How long a pool tries a failed connection again, in seconds. After that the next request connects at once.

A pool of psycopg would wait ever longer between two attempts. It would then serve nobody for minutes after a long
outage, although the server is there again.
"""

ANSWERS_WITHIN_S = 6.0
"""The longest wait of a service for the answer of one read, in seconds. A server that is suspended keeps its
connections, so neither its own timeouts nor those of TCP end the wait."""
COMMANDS_WITHIN_S = 15.0
"""The same for a command, which may wait for another command of its user."""

PEER: dict[str, Any] = {
    "connect_timeout": 5,
    "keepalives_idle": 5,
    "keepalives_interval": 2,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
}
"""The parameters of a connection that detects a dead peer within 15 s."""

Connection = psycopg.Connection[Any]
Row = dict[str, Any]
"""A row of a query, by the names of its columns."""


class AnsweredAsyncConnection(psycopg.AsyncConnection[Any]):
    """A connection of a service for reads. It closes, and raises ``psycopg.OperationalError``, when the server does not
    answer a statement within :data:`ANSWERS_WITHIN_S`."""

    async def wait(self, gen: PQGen[_R], interval: float = 0.1, timeout: float | None = None) -> _R:
        """Waits for an answer. A ``timeout`` of the caller is not changed."""
        if timeout is not None:
            return await super().wait(gen, interval, timeout)
        try:
            return await super().wait(gen, interval, ANSWERS_WITHIN_S)
        except psycopg.errors._WaitTimeout as error:
            self.pgconn.finish()
            raise _silent(ANSWERS_WITHIN_S) from error


class AnsweredConnection(psycopg.Connection[Any]):
    """A connection as :class:`AnsweredAsyncConnection`, for threads and within :data:`COMMANDS_WITHIN_S`."""

    def wait(self, gen: PQGen[_R], interval: float = 0.1, timeout: float | None = None) -> _R:
        """Waits for an answer. A ``timeout`` of the caller is not changed."""
        if timeout is not None:
            return super().wait(gen, interval, timeout)
        try:
            return super().wait(gen, interval, COMMANDS_WITHIN_S)
        except psycopg.errors._WaitTimeout as error:
            self.pgconn.finish()
            raise _silent(COMMANDS_WITHIN_S) from error


def _silent(within_s: float) -> psycopg.OperationalError:
    return psycopg.OperationalError(
        f"PostgreSQL does not answer within {within_s:g} s; see that its server runs, then try again"
    )


def tuples_of(
    connection: Connection, query: SQL, parameters: Mapping[str, object] | None = None
) -> list[TupleRow]:
    """Returns all rows of ``query`` as tuples, whatever rows the connection itself gives."""
    with connection.cursor(row_factory=tuple_row) as cursor:
        return cursor.execute(query, parameters).fetchall()


def one_row(connection: Connection, query: SQL, parameters: Mapping[str, object] | None = None) -> TupleRow:
    """Returns the row of a ``query`` that always has one row, as a tuple."""
    [row] = tuples_of(connection, query, parameters)
    return row


class DatabaseUnfitError(RuntimeError):
    """The server cannot run Cardlog. The message is one sentence with the remedy."""


def address_of(url: str) -> str:
    """Returns host, port and database of ``url``. The result has no password, so it is safe in a log."""
    try:
        parts = conninfo_to_dict(url)
    except psycopg.ProgrammingError:
        return "(unreadable database URL)"
    return f"{parts.get('host') or 'local socket'}:{parts.get('port') or 5432}/{parts.get('dbname') or ''}"


def connect(url: str, *, application: str, autocommit: bool = True) -> Connection:
    """Returns a new connection of a worker or an operator. It detects a dead peer within 15 s.

    It sees the rows of all tenants, as far as its role may: see ``0007_tenants.sql``. Services use pools
    whose connections see one tenant. Raises ``psycopg.OperationalError`` when the server is away.
    """
    connection = psycopg.connect(
        url,
        autocommit=True,
        application_name=f"cardlog {application}",
        **PEER,
    )
    connection.execute(statement("events.platform", "see_every_tenant"), {"tenant": vouch("*")})
    connection.autocommit = autocommit
    return connection


def connect_owner(settings: Settings, *, application: str) -> Connection:
    """Returns a new connection of an operator: of the role that owns the database, if the settings name it.

    Its role may do more than the role of the services. So it reads only what that role could not have replaced: raises
    :class:`DatabaseUnfitError` when another role that may log in owns an object of Cardlog.
    """
    url = settings.admin_database_url or settings.database_url
    connection = connect(url, application=application)
    found = connection.execute(
        statement("events.platform", "foreign_objects"), {"projections": list(PROJECTIONS)}
    ).fetchall()
    if found:
        connection.close()
        [(role, name), *_] = found
        raise DatabaseUnfitError(
            f"{name} belongs to the role {role}, whose code would run here with the rights of an operator: run "
            f"`cardlog grant --role {role}` first"
        )
    return connection


def require_proof(connection: Connection) -> None:
    """Raises :class:`DatabaseUnfitError` when the role sees no row because this process lacks the database's log key.

    Without this check the log looks as if somebody had emptied it.
    """
    if tuples_of(connection, statement("events.platform", "is_proven"), {"claim": vouch("*")}) != [(True,)]:
        raise DatabaseUnfitError(
            "the database asks for a proof of its log key, and this process has no key or another one: set "
            "CARDLOG_LOG_KEY_FILE to the key file that belongs to this log"
        )


def sees_every_tenant(connection: Connection) -> bool:
    """True when ``connection``, which :func:`connect` opened, sees all tenants. Its role may see one at a time only."""
    row = connection.execute(statement("events.platform", "sees_every_tenant")).fetchone()
    return row is not None and bool(row[0])


def see_tenant_of(connection: Connection, user_id: str) -> None:
    """Limits the transaction that runs now to the rows of one tenant, the tenant of the storage id ``user_id``."""
    connection.execute(statement("events.platform", "see_tenant"), {"tenant": vouch(tenant_of(user_id))})


def keep_to_tenant_of(connection: Connection, user_id: str) -> None:
    """Limits every transaction of the session to the tenant of the storage id ``user_id``."""
    connection.execute(statement("events.platform", "keep_to_tenant"), {"tenant": vouch(tenant_of(user_id))})


def connect_with_retry(
    url: str,
    *,
    application: str,
    stopping: Callable[[], bool] = lambda: False,
    idle_in_transaction_timeout_ms: int = 0,
) -> Connection | None:
    """Returns a new connection. Waits for the server without limit; returns None when ``stopping()`` becomes true.

    The backoff is at most 2 s. The log says every ten seconds why the server is away, and when it is back. With
    ``idle_in_transaction_timeout_ms`` the server ends a transaction that is idle for longer, and frees its locks.
    """
    delay, away_since, told = 0.05, 0.0, 0.0
    while not stopping():
        try:
            connection = connect(url, application=application)
            if idle_in_transaction_timeout_ms:
                connection.execute(
                    statement("events.platform", "set_idle_in_transaction_timeout"),
                    {"milliseconds": idle_in_transaction_timeout_ms},
                )
        except psycopg.OperationalError as error:
            away_since = away_since or time.monotonic()
            if not told or time.monotonic() - told >= _TELL_AGAIN_S:
                told = time.monotonic()
                reason = in_a_line(str(error)) or type(error).__name__
                logger.warning(
                    "postgres at %s is away, waiting: %s (CARDLOG_DATABASE_URL names the server)",
                    address_of(url), reason,
                )  # fmt: skip
            time.sleep(delay)
            delay = min(delay * 2, 2.0)
            continue
        if away_since:
            logger.info("postgres is back after %.1f s", time.monotonic() - away_since)
        return connection
    return None


def check_server(connection: Connection) -> None:
    """Checks version, encoding and extensions of the server. Installs missing extensions.

    Raises :class:`DatabaseUnfitError` when the server cannot run Cardlog.
    """
    version = connection.info.server_version
    if version < OLDEST_SERVER:
        raise DatabaseUnfitError(
            f"PostgreSQL {version // 10000} is too old: Cardlog needs {OLDEST_SERVER // 10000} or newer; "
            "upgrade the server or unset CARDLOG_DATABASE_URL to use the embedded one"
        )
    encoding = connection.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise DatabaseUnfitError(
            f"the database is encoded in {encoding}: create one with "
            "CREATE DATABASE cardlog ENCODING 'UTF8' TEMPLATE template0 and point CARDLOG_DATABASE_URL at it"
        )
    rows = connection.execute(
        statement("events.platform", "extensions"), {"names": list(REQUIRED_EXTENSIONS)}
    ).fetchall()
    for name, available, installed in rows:
        if not available:
            package = {"vector": "pgvector", "pg_trgm": "postgresql-contrib"}[name]
            raise DatabaseUnfitError(
                f"this PostgreSQL server lacks the extension {name}: install {package} there, then start again"
            )
        if not installed:
            try:
                connection.execute(
                    SQL("CREATE EXTENSION IF NOT EXISTS {}").format(psycopg.sql.Identifier(name))
                )
            except psycopg.errors.InsufficientPrivilege:
                raise DatabaseUnfitError(
                    f"this role may not install the extension {name}: "
                    f"run CREATE EXTENSION {name} as a superuser in this database, then start again"
                ) from None
            except psycopg.errors.UniqueViolation:
                logger.debug("extension %s was installed by another process at the same time", name)


def migrate(connection: Connection) -> list[str]:
    """Applies the missing migrations of the log schema, in one transaction. Returns their names.

    Many processes may call it at the same time. Raises :class:`DatabaseUnfitError` when a newer Cardlog
    migrated the database, when the role may not migrate it, or when :func:`check_server` fails.
    """
    check_server(connection)
    migrations = _migrations()
    if not _pending(connection, migrations):
        return []
    applied_now = []
    try:
        with connection.transaction():
            connection.execute(statement("events.platform", "migration_lock"), {"key": _MIGRATION_LOCK})
            connection.execute(statement("events.platform", "migration_table"))
            for name in _pending(connection, migrations):
                connection.execute(SQL(migrations[name]))
                connection.execute(statement("events.platform", "migration_done"), {"name": name})
                applied_now.append(name)
    except psycopg.errors.InsufficientPrivilege as error:
        raise DatabaseUnfitError(
            f"this role may not migrate the log ({error.diag.message_primary}): run `cardlog grant --role ROLE` with "
            "CARDLOG_ADMIN_DATABASE_URL set to the URL of the role that owns the database, then start again"
        ) from None
    return applied_now


def migration_texts() -> list[str]:
    """Returns the SQL of every migration, in order."""
    return list(_migrations().values())


def is_migrated(connection: Connection) -> bool:
    """True when every migration of this build is applied."""
    return not _pending(connection, _migrations())


def _migrations() -> dict[str, str]:
    found = (
        item for item in files("events.store").joinpath("migrations").iterdir() if item.name.endswith(".sql")
    )
    return {item.name: item.read_text("utf-8") for item in sorted(found, key=lambda item: item.name)}


def _pending(connection: Connection, migrations: Mapping[str, str]) -> list[str]:
    """Returns the names of the missing migrations. Takes no lock and needs only the right to read."""
    row = connection.execute(statement("events.platform", "migrations_exists")).fetchone()
    if row is None or not row[0]:
        return list(migrations)
    applied = {name for (name,) in connection.execute(statement("events.platform", "migrations_applied"))}
    if unknown := applied - set(migrations):
        raise DatabaseUnfitError(
            f"this database was migrated by a newer Cardlog ({', '.join(sorted(unknown))}): upgrade this one"
        )
    return [name for name in migrations if name not in applied]


# Quoted text does not change. Comments and most white space are only for readers of the files.
_SPACE = r"(?:--[^\n]*+|\s)"
_TOKEN = re.compile(
    rf"('[^']*'|\"[^\"]*\"|\$\$.*?\$\$)|{_SPACE}*+(<=|>=|<>|=|,){_SPACE}*+|{_SPACE}++", re.DOTALL
)
_NAME_LINE = re.compile(r"^--[ \t]*name[ \t]*:(.*)\n", re.MULTILINE)
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_PART = re.compile(r"\{(event|readable) ([a-z]+)\}")
_EVENT, _READABLE = (
    files("events.platform").joinpath(name).read_text("utf-8").strip()
    for name in ("event_columns.txt", "readable.txt")
)
_PARTS = {"event": _EVENT.replace("{readable e}", _READABLE), "readable": _READABLE}


@cache
def statements(package: str) -> Mapping[str, str]:
    """Returns the text of each statement in the ``.sql`` files of a package, by name. A name is unique in its package.

    A statement begins with the line ``-- name: find_key`` and ends before the next such line. ``{event e}`` stands for
    the columns of ``log.events e`` that ``log.event_of`` takes. ``{readable e}`` stands for the last of them, the
    payload as ``sealing.readable`` returns it, without the cost of a function for each row. A statement ``find_key``
    with ``{live}keys`` reads the first table on the search path, and ``live_find_key`` that of the schema with the name
    of the package. Raises ``ValueError`` for a name that is malformed or used twice, and for text without a name.
    """
    found: dict[str, str] = {}
    for file in sorted(files(package).iterdir(), key=lambda item: item.name):
        if not file.name.endswith(".sql"):
            continue
        head, *named = _NAME_LINE.split(file.read_text("utf-8"))
        if head.strip():
            raise ValueError(f"{file}: the text before the first name has no name: begin with `-- name: ...`")
        for name, text in zip(map(str.strip, named[::2]), named[1::2], strict=True):
            if not _NAME.fullmatch(name):
                raise ValueError(f"{file}: {name!r} is no name of a statement: use a-z, 0-9 and _")
            if name in found:
                raise ValueError(f"{file}: {package} has another statement {name!r}: use another name")
            whole = _PART.sub(lambda part: _PARTS[part[1]].replace("e.", f"{part[2]}."), text)
            found[name] = whole.replace("{live}", "")
            if "{live}" in whole:
                found[f"live_{name}"] = whole.replace("{live}", f"{package.rpartition('.')[2]}.")
    return found


@cache
def statement(package: str, name: str) -> SQL:
    """Returns a statement of a package.

    The statement has no comments and little white space: psycopg caches its parse of a short statement, but parses a
    long one each time. Raises ``LookupError`` for an unknown name.
    """
    known = statements(package)
    if name not in known:
        raise LookupError(
            f"{package} has no statement {name!r} in its .sql files: use one of {', '.join(sorted(known))}"
        )
    return SQL(_TOKEN.sub(lambda token: token[1] or token[2] or " ", known[name]))


class _AsWritten(TimestamptzLoader):
    """Loads an instant as a date, or as text when Python cannot hold it. The server has years after 9999."""

    def load(self, data: Buffer) -> Any:
        try:
            return super().load(data)
        except psycopg.DataError:
            return bytes(data).decode()


def rows_if_folded(connection: Connection, query: SQL, parameters: Mapping[str, object]) -> list[Row]:
    """Returns all rows of ``query``, and none before the first fold made its tables."""
    try:
        with connection.transaction():
            return rows_of(connection, query, parameters)
    except psycopg.errors.UndefinedTable:
        return []


def rows_of(connection: Connection, query: SQL, parameters: Mapping[str, object]) -> list[Row]:
    """Returns all rows of ``query``, which only reads. An instant that no Python date can hold comes as text.

    Such an instant makes the query run twice. The other rows are returned, too.
    """
    with connection.cursor(row_factory=dict_row) as cursor:
        cursor.execute(query, parameters)
        try:
            return cursor.fetchall()
        except psycopg.DataError:
            # The driver raised the error, not the server. The transaction is still good.
            pass
    with connection.cursor(row_factory=dict_row) as cursor:
        cursor.adapters.register_loader("timestamptz", _AsWritten)
        return cursor.execute(query, parameters).fetchall()
