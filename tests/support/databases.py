"""Makes and names databases of a test server."""

import atexit
import uuid
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from urllib.parse import urlsplit

import psycopg
from psycopg import sql

from events.platform.database import Connection
from tests.support.waiting import eventually


def url_of(server: str, database: str) -> str:
    """The server's URL with another database in it."""
    return urlsplit(server)._replace(path=f"/{database}").geturl()


Place = str | Connection
"""The URL of a database, or a connection to it."""


def place_of(where: Place) -> str:
    """Returns the URL of a test database."""
    return where if isinstance(where, str) else _URLS[where.info.dbname]


def name_of(database: str) -> str:
    """The name of the database in a URL."""
    return urlsplit(database).path.removeprefix("/")


def execute(server: str, statement: str, *names: str) -> None:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))


@contextmanager
def backed_up(server: str, database: str) -> Iterator[str]:
    """Makes a copy of a database that was in use, and gives the URL of the copy. The copy is dropped at the end.

    Sessions that have not ended yet are ended, and none begins before the copy is made.
    """
    name = f"backup_{uuid.uuid4().hex}"
    others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s"
    execute(server, "ALTER DATABASE {} ALLOW_CONNECTIONS false", database)
    try:
        with psycopg.connect(server, autocommit=True) as owner:
            eventually(lambda: not owner.execute(others, (database,)).fetchall())
        execute(server, "CREATE DATABASE {} TEMPLATE {}", name, database)
    finally:
        execute(server, "ALTER DATABASE {} ALLOW_CONNECTIONS true", database)
    _URLS[name] = url_of(server, name)
    try:
        yield _URLS[name]
    finally:
        execute(server, "DROP DATABASE {} WITH (FORCE)", name)


@contextmanager
def copied(server: str, template: str) -> Iterator[str]:
    """Makes a database like ``template`` and gives its URL. The database is dropped after the two next ones.

    Its connections have ended until then. A drop that has to end them waits a tenth of a second.
    """
    name = f"test_{uuid.uuid4().hex}"
    # Copying files takes a third of the time of copying through the write-ahead log, without fsync.
    _owner(server).execute(
        sql.SQL("CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY").format(
            *map(sql.Identifier, (name, template))
        )
    )
    _URLS[name] = url_of(server, name)
    try:
        yield _URLS[name]
    finally:
        _used.append((server, name))
        drop_used(keep=2)


def drop_used(*, keep: int) -> None:
    """Drops the databases of :func:`copied` that are not used any more, but for the last ones."""
    while len(_used) > keep:
        server, name = _used.popleft()
        _owner(server).execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))


_used: deque[tuple[str, str]] = deque()
_URLS: dict[str, str] = {}


@cache
def _owner(server: str) -> Connection:
    """One connection for the databases of all tests: a new one takes half the time of a copy."""
    connection = psycopg.connect(server, autocommit=True)
    atexit.register(connection.close)
    return connection


def kill_all(connection: Connection) -> None:
    """Ends every connection of the read service, as a failover or an idle firewall would.

    It waits for connections that are not in the pool yet. The pool would try a connection that ends before again later.
    """
    eventually(
        lambda: (
            connection.execute(
                "SELECT bool_and(state = 'idle') FROM pg_stat_activity "
                "WHERE datname = current_database() AND application_name IN ('cardlog read', 'cardlog overlay')"
            ).fetchone()
            == (True,)
        )
    )
    killed = connection.execute(
        "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
        "WHERE datname = current_database() AND application_name IN ('cardlog read', 'cardlog overlay')"
    ).fetchall()
    assert killed
