"""Embedded PostgreSQL and Redis. Both come as Python packages and run as child processes."""

from __future__ import annotations

from deploy.embedded.lock import FolderInUseError, FolderLock
from deploy.embedded.postgres import EmbeddedPostgres
from deploy.embedded.redis import EmbeddedRedis
from deploy.embedded.server import EmbeddedServer, ServerError, StartStoppedError

__all__ = [
    "EmbeddedPostgres",
    "EmbeddedRedis",
    "EmbeddedServer",
    "FolderInUseError",
    "FolderLock",
    "ServerError",
    "StartStoppedError",
]
