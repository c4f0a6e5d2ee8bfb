"""Connections of the read service. Their statements use a generic plan, or a plan for one user."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, TypeVar

import orjson
import psycopg
from pgvector import Vector
from psycopg import AsyncConnection, AsyncCursor
from psycopg.adapt import Dumper, Loader
from psycopg.pq import Format
from psycopg.rows import AsyncRowFactory, dict_row
from psycopg.sql import SQL
from psycopg.types.json import set_json_loads
from psycopg_pool import AsyncConnectionPool, PoolTimeout

from events.access.limiters import ConcurrencyLimiter, SaturatedError
from events.platform.database import PEER, RECONNECT_S, AnsweredAsyncConnection, Row, statement
from events.platform.settings import Settings
from events.store.asking import Asking, Query, awaited_by
from events.types.tenancy import tenant_of, vouch

T = TypeVar("T")
_SEE = statement("retrieval", "see_user")
_LIST_WAITS_S = 2.0
_PLANS = {True: "force_generic_plan", False: "force_custom_plan"}


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


class JsonLoader(Loader):
    """Loads a value of the type json. It costs a tenth of psycopg's loader, which copies each value first."""

    format = Format.BINARY

    def load(self, data: bytes | bytearray | memoryview) -> Any:
        """Returns the value that ``data`` is the text of."""
        return orjson.loads(data)


class VectorDumper(Dumper):
    """Dumps vectors in binary form. The statement casts them, so a connection need not look up the type."""

    oid = 0
    format = Format.BINARY

    def dump(self, obj: Any) -> bytes:
        """Returns ``obj``, a one-dimensional array of numbers, as pgvector's input."""
        return Vector(obj).to_binary()


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


class ReadCursor(AsyncCursor[T]):
    """A cursor that gets its rows in binary form, which costs the server and the reader less than text."""

    def __init__(
        self, connection: AsyncConnection[Any], *, row_factory: AsyncRowFactory[T] | None = None
    ) -> None:
        super().__init__(connection, row_factory=row_factory or connection.row_factory)
        self.format = Format.BINARY


class ReadConnection(AnsweredAsyncConnection):
    """A connection whose statements see only the rows of the tenant for whom it was last asked (:meth:`see`)."""

    _seen: tuple[str, str] | None = None

    async def see(self, tenant: str, plans: str) -> None:
        """Lets the next statements see the rows of ``tenant`` and no others. ``plans`` is the plan cache mode.

        The settings hold for the session, so a connection that stays with a tenant pays nothing for them. An empty
        tenant sees no row of any user. The caller has no open transaction, or else a rollback would undo the settings.
        """
        wanted = vouch(tenant) if tenant else "", plans
        if self._seen == wanted:
            return
        self._seen = None  # after a failure nobody knows what the session sees
        await self.execute(_SEE, wanted)
        self._seen = wanted


class Pool:
    """The connections of one server. Code that asks about a user gets them from :meth:`connected`."""

    def __init__(self, connections: AsyncConnectionPool[ReadConnection]) -> None:
        self._connections = connections
        self._lists = ConcurrencyLimiter(connections.max_size, _LIST_WAITS_S, "lists")

    async def open(self, *, wait: bool = False, timeout: float = 30.0) -> None:
        await self._connections.open(wait=wait, timeout=timeout)

    async def close(self) -> None:
        await self._connections.close()

    @asynccontextmanager
    async def without_tenant(self, within_s: float) -> AsyncIterator[AsyncConnection]:
        """Yields a connection that sees no row of any user, for questions about the server. Raises as ``connected``."""
        async with self._connections.connection(timeout=within_s) as connection:
            await connection.see("", _PLANS[False])
            yield connection

    @asynccontextmanager
    async def connected(
        self, user_id: str, within_s: float, *, planned: bool = True
    ) -> AsyncIterator[AsyncConnection]:
        """Yields a connection for questions about one user. Its statements see only the rows of the user's tenant.

        A ``planned`` statement has one plan for all users. For most users planning takes longer than answering, and a
        change of the mode takes a round trip. A statement whose one plan may read all cards of a user is not planned.
        Raises ``psycopg_pool.PoolTimeout`` when none is free within ``within_s`` seconds, and psycopg's errors.
        """
        async with self._connections.connection(timeout=within_s) as connection:
            await connection.see(tenant_of(user_id), _PLANS[planned])
            yield connection

    @asynccontextmanager
    async def listing(
        self, user_id: str, within_s: float = 2.0, *, planned: bool = False, asker: str | None = None
    ) -> AsyncIterator[AsyncConnection]:
        """Yields a connection as :meth:`connected` does, for any reading but a recall, which has places of its own.

        One tenant reads at most half of the connections in this way, and one of its users, or the ``asker`` of an
        administrator's list, a third, so recalls and other tenants find free ones.
        """
        try:
            async with (
                self._lists.place((tenant_of(user_id), user_id if asker is None else asker)),
                self.connected(user_id, within_s, planned=planned) as connection,
            ):
                yield connection
        except SaturatedError as error:
            raise PoolTimeout(str(error)) from error


def open_pool(settings: Settings, application: str, url: str | None = None) -> Pool:
    """Returns the pool of a read service, not opened yet. ``url`` names a replica; the default is the primary."""
    return Pool(
        AsyncConnectionPool(
            url or settings.database_url,
            connection_class=ReadConnection,
            min_size=min(5, settings.pool_size),
            max_size=settings.pool_size,
            open=False,
            reconnect_timeout=RECONNECT_S,
            configure=_configure,
            # A generic plan needs a prepared statement, so every statement is prepared at once.
            kwargs={
                "autocommit": True,
                "application_name": f"cardlog {application}",
                "prepare_threshold": 0,
                "cursor_factory": ReadCursor,
                **PEER,
            },
        )
    )


async def answered(pool: Pool, user_id: str, asking: Asking[T]) -> T:
    """Returns the result of a read about one user, on a connection of :meth:`Pool.listing`."""
    async with pool.listing(user_id) as connection:
        return await answered_on(connection, asking)


async def answered_on(connection: AsyncConnection, asking: Asking[T]) -> T:
    """Returns the result of a read whose queries run on ``connection``."""
    async with connection.cursor(row_factory=dict_row) as cursor:

        async def rows(query: Query) -> list[Row]:
            return await (await cursor.execute(query.text, query.values)).fetchall()

        return await awaited_by(rows, asking)


async def rows_of(pool: Pool, user_id: str, query: SQL, values: Mapping[str, object]) -> list[Row]:
    """Returns the rows of a query about one user, on a connection of :meth:`Pool.listing`."""
    async with pool.listing(user_id) as connection, connection.cursor(row_factory=dict_row) as cursor:
        return await (await cursor.execute(query, values)).fetchall()


async def rows_if_folded(pool: Pool, user_id: str, query: SQL, values: Mapping[str, object]) -> list[Row]:
    """Returns the rows as :func:`rows_of` does, and none before the first fold made the tables."""
    try:
        return await rows_of(pool, user_id, query, values)
    except psycopg.errors.UndefinedTable:
        return []


async def _configure(connection: ReadConnection) -> None:
    await connection.execute(statement("retrieval", "read_session"))
    connection.adapters.register_dumper(list, ArrayDumper)
    connection.adapters.register_dumper("numpy.ndarray", VectorDumper)
    connection.adapters.register_loader("json", JsonLoader)
    set_json_loads(orjson.loads, connection)
