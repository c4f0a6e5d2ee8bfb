"""The two roles of the embedded PostgreSQL: the owner, for migrations, and the one all workers and services use."""

from __future__ import annotations

import secrets
from urllib.parse import urlsplit

from psycopg import sql

from deploy.security.roles import grant
from events.platform.database import Connection
from events.platform.sql import statement

SERVICE = "cardlog_service"


def service_url(connection: Connection, url: str) -> str:
    """The URL for workers and services, whose role can append to the log and fold it, and no more.

    ``connection`` is the owner's, ``url`` where it leads. The password is a new one each time and stands in no file but
    those that hold the URL. Call it after the migrations.
    """
    password = secrets.token_urlsafe(24)
    connection.execute(
        statement("deploy.embedded", "service_role").format(
            role=sql.Identifier(SERVICE), role_name=sql.Literal(SERVICE), password=sql.Literal(password)
        )
    )
    grant(connection, SERVICE)
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return parts._replace(netloc=f"{SERVICE}:{password}@{host}").geturl()
