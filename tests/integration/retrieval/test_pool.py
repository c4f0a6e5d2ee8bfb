"""The connections of the read service come back as soon as PostgreSQL does."""

import asyncio
import logging
from contextlib import AsyncExitStack, suppress
from dataclasses import replace

import psycopg
import pytest
from psycopg import sql
from psycopg_pool import PoolTimeout

from events.platform.settings import Settings
from events.types.tenancy import storage_id
from retrieval import pool as connections
from retrieval.pool import Pool, open_pool
from tests.support.retrieval.channels import pooled

_ATTEMPTS = 4


@pytest.fixture
def name(database: str) -> str:
    return database.rsplit("/", 1)[1]


def accept(postgres_url: str, name: str, yes: bool) -> None:
    """Lets connections to the database ``name`` in, or ends all of them and refuses new ones."""
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        statement = sql.SQL("ALTER DATABASE {} WITH ALLOW_CONNECTIONS " + ("true" if yes else "false"))
        admin.execute(statement.format(sql.Identifier(name)))
        if not yes:
            admin.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = %s", [name]
            )


def test_after_a_long_outage_the_first_request_is_answered(
    postgres_url: str, database: str, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "psycopg.pool")

    def attempts() -> int:
        return sum("error connecting" in record.message for record in caplog.records)

    async def ask(pool: Pool, within_s: float) -> object:
        async with pool.connected("alex", within_s) as connection:
            return await (await connection.execute("SELECT 1")).fetchone()

    async def outage() -> object:
        pool = open_pool(replace(Settings(), database_url=database, pool_size=1), "test")
        await pool.open(wait=True)
        accept(postgres_url, name, False)
        while attempts() < _ATTEMPTS:
            with pytest.raises((psycopg.Error, PoolTimeout)):
                await ask(pool, 0.2)
        accept(postgres_url, name, True)
        try:
            return await ask(pool, 2.0)
        finally:
            await pool.close()

    assert asyncio.run(outage()) == (1,)


def test_lists_of_one_tenant_leave_connections_to_recalls_and_to_others(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "_LIST_WAITS_S", 0.0)

    async def held(pool: Pool) -> int:
        async with AsyncExitStack() as taken:
            got = 0
            with suppress(PoolTimeout):
                while got < 8:
                    await taken.enter_async_context(pool.listing(storage_id("loud", f"{got}"), 5.0))
                    got += 1
            await taken.enter_async_context(pool.listing(storage_id("quiet", "ada"), 5.0))
            await taken.enter_async_context(pool.connected(storage_id("loud", "ada"), 5.0))
            return got

    assert pooled(database, held, pool_size=8) == 4
