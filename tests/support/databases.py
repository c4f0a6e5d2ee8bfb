"""Makes and names databases of a test server."""

from __future__ import annotations

from urllib.parse import urlsplit

import psycopg
from psycopg import sql


def url_of(server: str, database: str) -> str:
    """The server's URL with another database in it."""
    return urlsplit(server)._replace(path=f"/{database}").geturl()


def execute(server: str, statement: str, *names: str) -> None:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(sql.SQL(statement).format(*map(sql.Identifier, names)))
