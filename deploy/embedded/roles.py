"""The roles of the embedded PostgreSQL: the owner, for migrations; one of workers and services; one of the reader."""

from __future__ import annotations

from deploy.security.roles import create, grant, url_of
from events.platform.database import Connection

SERVICE = "cardlog_service"
READER = "cardlog_reader"


def service_url(connection: Connection, url: str) -> str:
    """Returns the URL of the role that can only append to the log and fold it, for workers and the write service.

    ``connection`` belongs to the owner, and ``url`` is its URL. Each call sets a new password, which only files with
    the returned URL hold. Call it after the migrations.
    """
    password = create(connection, SERVICE)
    grant(connection, SERVICE)
    return url_of(url, SERVICE, password)


def reader_url(connection: Connection, url: str) -> str:
    """Returns the URL of the role that can only read, one tenant at a time, for the read service. See service_url."""
    password = create(connection, READER)
    grant(connection, READER, ("reader",))
    return url_of(url, READER, password)
