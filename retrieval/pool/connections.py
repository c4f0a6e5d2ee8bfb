"""Connections of the read service. Their statements use a generic plan, or a plan for one user."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import orjson
from pgvector.psycopg import register_vector_async
from psycopg import AsyncConnection
from psycopg.adapt import Dumper
from psycopg.types.json import set_json_loads
from psycopg_pool import AsyncConnectionPool

from events.platform.settings import Settings
from events.platform.sql import statement

_PLANS = {True: "plan_for_one", False: "plan_for_all"}


class ArrayDumper(Dumper):
    """Dumps lists as array literals. The statement casts them to their type.

    A recall binds about thirty lists. psycopg's own dumper inspects every list for its type and renders each element
    separately, which takes ten times as long.
    """

    oid = 0

    def dump(self, obj: Any) -> bytes:
        """Returns the array literal of ``obj``, a list of numbers, UUIDs, text or None."""
        parts = orjson.dumps(obj)[1:-1]
        if b"\\" in parts:
            # JSON and PostgreSQL escape quotes in the same way, and other characters in different ways.
            parts = ",".join("NULL" if each is None else _quoted(each) for each in obj).encode()
        return b"{" + parts + b"}"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class ReadConnection(AsyncConnection[Any]):
    """A connection that remembers how its statements are planned."""

    _for_one: bool | None = True  # the value of session.sql

    async def plan(self, *, for_one: bool) -> None:
        """Sets the plan mode of later statements: a plan for each user, or one generic plan."""
        if for_one != self._for_one:
            self._for_one = None  # after a cancel the mode is unknown
            await self.execute(statement("retrieval.pool", _PLANS[for_one]))
            self._for_one = for_one


Pool = AsyncConnectionPool[ReadConnection]


def open_pool(settings: Settings, application: str, url: str | None = None) -> Pool:
    """Returns the pool of a read service, not opened yet. ``url`` names a replica; the default is the primary."""
    return AsyncConnectionPool(
        url or settings.database_url,
        connection_class=ReadConnection,
        min_size=min(5, settings.pool_size),
        max_size=settings.pool_size,
        open=False,
        configure=_configure,
        # A generic plan needs a prepared statement, so every statement is prepared at once.
        kwargs={"autocommit": True, "application_name": f"cardlog {application}", "prepare_threshold": 0},
    )


@asynccontextmanager
async def connected(pool: Pool, within_s: float, *, many: bool = True) -> AsyncIterator[ReadConnection]:
    """Yields a connection for questions about one user.

    For a user with a few thousand cards, planning takes longer than answering, and the generic plan is good enough.
    A generic plan may read all cards of a user, so a user with very ``many`` cards gets plans of their own.
    Raises ``psycopg_pool.PoolTimeout`` when no connection is free within ``within_s`` seconds, and psycopg's errors.
    """
    async with pool.connection(timeout=within_s) as connection:
        await connection.plan(for_one=many)
        yield connection


async def _configure(connection: ReadConnection) -> None:
    await connection.execute(statement("retrieval.pool", "session"))
    await register_vector_async(connection)
    connection.adapters.register_dumper(list, ArrayDumper)
    set_json_loads(orjson.loads, connection)
