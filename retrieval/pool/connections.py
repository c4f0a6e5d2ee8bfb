"""Connections of the read service, and whether their statements are planned for everybody or for whoever asks."""

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
    """Lists as array literals, of a type the statement tells: a recall binds some thirty of them, and looking into each
    for its type and rendering its parts one by one takes ten times as long."""

    oid = 0

    def dump(self, obj: Any) -> bytes:
        """``obj`` holds numbers, UUIDs, text or None."""
        parts = orjson.dumps(obj)[1:-1]
        if b"\\" in parts:
            # JSON and PostgreSQL escape quotes alike, and other things differently.
            parts = ",".join("NULL" if each is None else _quoted(each) for each in obj).encode()
        return b"{" + parts + b"}"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class ReadConnection(AsyncConnection[Any]):
    """A connection that knows how its statements are planned."""

    _for_one: bool | None = True  # as session.sql has it

    async def plan(self, *, for_one: bool) -> None:
        """Have the statements that follow planned each time for the one who asks, or once for everybody."""
        if for_one != self._for_one:
            self._for_one = None  # nobody knows, where it is cancelled
            await self.execute(statement("retrieval.pool", _PLANS[for_one]))
            self._for_one = for_one


Pool = AsyncConnectionPool[ReadConnection]


def open_pool(settings: Settings, application: str, url: str | None = None) -> Pool:
    """The connection pool of a read service, not opened yet; of a replica, where ``url`` names one."""
    return AsyncConnectionPool(
        url or settings.database_url,
        connection_class=ReadConnection,
        min_size=min(5, settings.pool_size),
        max_size=settings.pool_size,
        open=False,
        configure=_configure,
        # A plan is made once for everybody only of a statement that the server keeps.
        kwargs={"autocommit": True, "application_name": f"cardlog {application}", "prepare_threshold": 0},
    )


@asynccontextmanager
async def connected(pool: Pool, within_s: float, *, many: bool = True) -> AsyncIterator[ReadConnection]:
    """A connection for questions about one user.

    Planning a recall takes longer than answering it for a user of a few thousand cards, and any plan will do for
    those. A plan for everybody may read all the cards there are of a user, so one with very ``many`` is planned for.
    Raises ``psycopg_pool.PoolTimeout`` where none is free ``within_s``, and what psycopg raises.
    """
    async with pool.connection(timeout=within_s) as connection:
        await connection.plan(for_one=many)
        yield connection


async def _configure(connection: ReadConnection) -> None:
    await connection.execute(statement("retrieval.pool", "session"))
    await register_vector_async(connection)
    connection.adapters.register_dumper(list, ArrayDumper)
    set_json_loads(orjson.loads, connection)
