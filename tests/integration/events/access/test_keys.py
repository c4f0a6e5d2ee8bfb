"""API keys: what is kept of them, and when each process learns of a change."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import psycopg
import pytest
from psycopg.conninfo import make_conninfo
from psycopg.sql import SQL, Identifier

from deploy.security.first_key import ensured
from deploy.security.private_files import key_in
from events.access import keys
from events.access.key_cache import KeyCache, KeysUnavailableError
from events.access.keys import KeyInvalidError
from events.access.principal import Principal
from events.platform.database import Connection

pytestmark = pytest.mark.anyio

HOUR = timedelta(hours=1)


@asynccontextmanager
async def caches(database: str, count: int = 1) -> AsyncIterator[list[KeyCache]]:
    """As many processes' caches over one database."""
    found = [KeyCache(database, "test") for _ in range(count)]
    for cache in found:
        await cache.__aenter__()
    try:
        yield found
    finally:
        for cache in found:
            await cache.__aexit__()


async def eventually_refused(cache: KeyCache, text: str) -> None:
    async with asyncio.timeout(120):
        while await cache.principal(text) is not None:
            await asyncio.sleep(0.01)


async def cached(cache: KeyCache, text: str) -> None:
    """Asks until the cache keeps the key, which it does once its watcher runs."""
    async with asyncio.timeout(120):
        while keys.key_id_of(text) not in cache.known:
            assert await cache.principal(text) is not None
            await asyncio.sleep(0.01)


async def test_a_key_gives_its_principal_and_its_text_is_nowhere(
    database: str, connection: Connection
) -> None:
    made, text = keys.create(
        connection, name="app", scopes=["read", "push"], tenant="acme", users=["ada"], projects=["p"], modes=["m"]
    )  # fmt: skip
    secret = text[len("clk_") + 17 :]
    assert len(secret) == 43
    row = connection.execute("SELECT k::text FROM access.api_keys k").fetchone()
    assert row is not None
    assert secret not in row[0]

    async with caches(database) as [cache]:
        assert await cache.principal(text) == Principal(
            tenant="acme", key_id=made.key_id, scopes=frozenset({"read", "push"}),
            users=frozenset({"ada"}), projects=frozenset({"p"}), modes=frozenset({"m"}),
        )  # fmt: skip
        other = keys.new_text()
        assert await cache.principal(other) is None
        assert await cache.principal(text[:21] + other[21:]) is None, "the id alone opens nothing"
        for wrong in ("", "clk_", text[:-1], f"{text}x", text.upper(), f"{text}\n"):
            assert await cache.principal(wrong) is None


async def test_many_first_requests_with_one_key_share_a_lookup(database: str, connection: Connection) -> None:
    made, text = keys.create(connection, name="app", scopes=["read"])

    async with caches(database) as [cache]:
        found = await asyncio.gather(*(cache.principal(text) for _ in range(500)))
        assert {each and each.key_id for each in found} == {made.key_id}
        guesses = (cache.principal(keys.new_text()) for _ in range(500))
        answers = await asyncio.gather(*guesses, return_exceptions=True)
        assert {type(each) for each in answers} == {type(None), KeysUnavailableError}


async def test_every_process_learns_of_a_revocation(database: str, connection: Connection) -> None:
    made, text = keys.create(connection, name="app", scopes=["read"])

    async with caches(database, 3) as processes:
        for cache in processes:
            await cached(cache, text)
        keys.revoke(connection, made.key_id)
        for cache in processes:
            await eventually_refused(cache, text)
    with pytest.raises(psycopg.errors.RaiseException, match="revoked for good"):
        connection.execute("UPDATE access.api_keys SET revoked_at = NULL")
    with pytest.raises(psycopg.errors.RaiseException, match="not deleted"):
        connection.execute("DELETE FROM access.api_keys")


async def test_a_lost_notification_only_delays_a_revocation(database: str, connection: Connection) -> None:
    _, text = keys.create(connection, name="app", scopes=["read"])

    async with caches(database) as [cache]:
        await cached(cache, text)
        # The trigger sends the notification and counts the change. Here only the change is counted.
        with connection.transaction():
            connection.execute("ALTER TABLE access.api_keys DISABLE TRIGGER announce_change")
            connection.execute("UPDATE access.revision SET number = number + 1")
            connection.execute(
                "UPDATE access.api_keys SET revoked_at = now(), revision = (SELECT number FROM access.revision)"
            )
        await eventually_refused(cache, text)


async def test_a_key_that_is_made_after_it_was_refused_counts(database: str, connection: Connection) -> None:
    text = keys.new_text()

    async with caches(database) as [cache]:
        async with asyncio.timeout(120):
            while keys.key_id_of(text) not in cache.known:
                assert await cache.principal(text) is None
                await asyncio.sleep(0.01)
        keys.create(connection, name="app", scopes=["read"], text=text)
        async with asyncio.timeout(120):
            while await cache.principal(text) is None:
                await asyncio.sleep(0.01)


async def test_a_rotated_key_counts_until_its_overlap_ends(database: str, connection: Connection) -> None:
    old, old_text = keys.create(connection, name="app", scopes=["read"], users=["ada"])
    new, new_text = keys.rotate(connection, old.key_id, overlap=HOUR)
    assert (new.users, new.scopes, new.replaces) == (["ada"], ["read"], old.key_id)
    _, gone = keys.rotate(connection, new.key_id, overlap=timedelta())

    async with caches(database) as [cache]:
        for text, opens in ((old_text, True), (new_text, False), (gone, True)):
            assert (await cache.principal(text) is not None) == opens
    assert [key.status(datetime.now(UTC)) for key in keys.listed(connection)] == ["valid", "expired", "valid"]
    with pytest.raises(KeyInvalidError, match="is expired"):
        keys.rotate(connection, new.key_id, overlap=HOUR)
    # A rotation never gives an old key more time.
    keys.rotate(connection, old.key_id, overlap=10 * HOUR)
    expires = keys.find(connection, old.key_id).expires_at
    assert expires is not None
    assert expires < datetime.now(UTC) + 2 * HOUR


async def test_known_keys_go_on_while_postgres_is_away(database: str, connection: Connection) -> None:
    _, text = keys.create(connection, name="app", scopes=["read"])
    _, short = keys.create(connection, name="app", scopes=["read"], expires_at=datetime.now(UTC) + HOUR)
    name = connection.info.dbname

    async with caches(database) as [cache]:
        for each in (text, short):
            await cached(cache, each)
        server = make_conninfo(database, dbname="postgres")
        with psycopg.connect(server, autocommit=True) as owner:
            forbid = SQL("ALTER DATABASE {} ALLOW_CONNECTIONS {}")
            owner.execute(forbid.format(Identifier(name), SQL("false")))
            owner.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])
            try:
                assert await cache.principal(text) is not None
                assert await cache.principal(text[:-3] + "AAA") is None
                with pytest.raises(KeysUnavailableError):
                    await cache.principal(keys.new_text())
            finally:
                owner.execute(forbid.format(Identifier(name), SQL("true")))


def test_unfit_rights_are_refused_with_the_field(connection: Connection) -> None:
    for field, rights in (
        ("scopes", {"scopes": ["root"]}),
        ("scopes", {"scopes": []}),
        ("tenant", {"tenant": "Not a tenant"}),
        ("users", {"users": [" "]}),
        ("users", {"users": ["other\x1fada"]}),
        ("projects", {"projects": ["x" * 600]}),
        ("modes", {"modes": ["\0"]}),
        ("name", {"name": ""}),
    ):
        with pytest.raises(KeyInvalidError, match=f"^{field}: "):
            keys.create(connection, **({"name": "app", "scopes": ["read"]} | rights))  # type: ignore[arg-type]
    assert keys.listed(connection) == []


def test_the_first_key_is_made_once_and_known_to_a_new_database(
    connection: Connection, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("data") / "api.key"
    ensured(connection, path)
    text = key_in(path)
    assert path.stat().st_mode & 0o777 == 0o600
    ensured(connection, path)
    assert key_in(path) == text
    [first] = keys.listed(connection)
    assert (first.key_id, list(first.scopes)) == (keys.key_id_of(text), ["push", "read", "write", "user"])
    keys.revoke(connection, first.key_id)
    ensured(connection, path)
    assert keys.find(connection, first.key_id).revoked_at is not None, "a start brings no revoked key back"
