"""The two roles of the embedded PostgreSQL: the owner, for migrations, and the role of workers and services."""

from __future__ import annotations

import secrets
from urllib.parse import urlsplit

from psycopg import sql

from deploy.security.roles import grant
from events.platform.database import Connection
from events.platform.sql import statement

SERVICE = "cardlog_service"


def service_url(connection: Connection, url: str) -> str:
    """Returns the URL of the role that can only append to the log and fold it, for workers and services.

    ``connection`` belongs to the owner, and ``url`` is its URL. Each call sets a new password, which only files with
    the returned URL hold. Call it after the migrations.
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
