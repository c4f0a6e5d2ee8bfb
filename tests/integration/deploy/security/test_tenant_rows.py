"""Row-level security: a session sees the rows of one tenant, and a process has only the rights that it needs."""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from typing import LiteralString

import psycopg
import pytest
from hypothesis import given
from hypothesis import strategies as st
from psycopg import sql

from deploy.security.roles import PROCESSES, WORKERS_AND_SERVICES, Process, tenant_weaknesses
from events.platform.database import Connection, connect
from events.platform.settings import Settings
from events.store import log
from events.types.tenancy import storage_id, tenant_of
from projectors.embedding.embedder import HashEmbedder
from projectors.embedding.embedders import Embedders
from projectors.generations.generations import ensure_live
from projectors.rebuild.rebuild import Rebuild
from projectors.registry import projectors
from projectors.vectors.projector import VectorsProjector
from retrieval.pool import Pool
from tests.support.databases import copied, url_of
from tests.support.projectors.folding import event, fold_live
from tests.support.retrieval.channels import noted, pooled
from tests.support.roles import roles_for, seeing
from tests.support.tables import rows

TENANTS = ("default", "acme", "globex")
FORBIDDEN = rows(__file__, "forbidden.txt")


@pytest.fixture(scope="module")
def connection(postgres_url: str, template: str) -> Iterator[Connection]:
    """The owner of a database with a card of the user "ada" of each tenant. No test changes it."""
    with copied(postgres_url, template) as database, connect(database, application="owner") as opened:
        for projector in projectors(Settings()):
            ensure_live(opened, projector)
        for tenant in TENANTS:
            log.append(opened, [event(noted(f"{tenant} keeps bees"), user=storage_id(tenant, "ada"))])
        fold_live(database)
        yield opened


@pytest.fixture(scope="module")
def urls(postgres_url: str, connection: Connection) -> Iterator[dict[str, str]]:
    """The URL of a role of workers and services, and of one role for each process."""
    database = url_of(postgres_url, connection.info.dbname)
    with roles_for(database, WORKERS_AND_SERVICES, *((each,) for each in PROCESSES)) as found:
        yield dict(zip(("service", *PROCESSES), found, strict=True))


def tables(connection: Connection) -> list[sql.Identifier]:
    rows = connection.execute(
        """SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
           JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'user_id'
           WHERE c.relkind IN ('r', 'p', 'v') AND n.nspname IN ('log', 'cards', 'vectors')"""
    ).fetchall()
    assert len(rows) > 15
    return [sql.Identifier(*row) for row in rows]


def users(connection: Connection, table: sql.Composable) -> set[str]:
    query = sql.SQL("SELECT DISTINCT user_id FROM {}").format(table)
    try:
        with connection.transaction():
            return {row[0] for row in connection.execute(query)}
    except psycopg.errors.InsufficientPrivilege:
        return set()  # the role may not read the table at all


def test_a_session_sees_the_rows_of_its_tenant_and_without_one_no_row(
    urls: dict[str, str], connection: Connection
) -> None:
    held = [(table, users(connection, table)) for table in tables(connection)]
    for role in ("reader", "curator", "service"):
        for tenant in (None, "", "nobody", "Acme", "acme\x1fada", "*", *TENANTS):
            with seeing(urls[role], tenant) as session:
                for table, everybody in held:
                    every = role == "service" and tenant == "*"
                    seen = {user for user in everybody if every or tenant_of(user) == tenant}
                    assert users(session, table) == seen, (role, tenant, table)


def test_users_of_two_tenants_with_one_name_never_meet(urls: dict[str, str]) -> None:
    with seeing(urls["reader"], "acme") as session:
        found = session.execute("SELECT content FROM cards.cards").fetchall()
    assert found == [("acme keeps bees",)]


OF_NO_TENANT = {
    "access.api_keys", "access.revision", "access.secret",
    "access.sign_in_links", "audit.entries", "audit.head", "audit.subject_key",
    "erasure.retention", "log.blueprints", "log.checkpoints", "log.generations", "log.heads", "log.heartbeats",
    "log.migrations", "log.tenant_key", "log.token_key", "vector_cache.vectors",
    "vectors.blocked_slots", "vectors.spaces",
    "vectors_g1.blocked_slots", "vectors_g1.spaces",
}  # fmt: skip
"""The tables without rows of a tenant's users, or whose readers name the tenant themselves."""


def test_one_connection_of_the_read_service_sees_each_tenant_in_turn_and_nobody_without_one(
    urls: dict[str, str],
) -> None:
    async def seen(pool: Pool, tenant: str | None) -> set[str]:
        user = storage_id(tenant or "default", "ada")
        async with pool.without_tenant(10) if tenant is None else pool.connected(user, 10) as connection:
            return {
                row[0]
                for row in await (await connection.execute("SELECT user_id FROM cards.cards")).fetchall()
            }

    async def look(pool: Pool) -> list[set[str]]:
        tenants = ("acme", "globex", None, "acme", "acme", None, "default")
        return [await seen(pool, tenant) for tenant in tenants]

    acme, globex, default = ({storage_id(tenant, "ada")} for tenant in ("acme", "globex", "default"))
    assert pooled(urls["reader"], look) == [acme, globex, set(), acme, acme, set(), default]


@pytest.fixture(scope="module")
def generations(postgres_url: str, connection: Connection) -> Connection:
    """The same database with a retired generation of every projection."""
    settings = replace(Settings(), database_url=url_of(postgres_url, connection.info.dbname))
    others = [each for each in projectors(settings) if each.name != "vectors"]
    for projector in (*others, VectorsProjector(Embedders(HashEmbedder))):
        Rebuild(settings, projector, workers=1).run()
    return connection


def forced(connection: Connection) -> dict[str, bool]:
    """Returns every table but the server's own ones, and whether its owner, too, sees the rows of one tenant only."""
    rows = connection.execute(
        """SELECT n.nspname || '.' || c.relname,
                  c.relrowsecurity AND c.relforcerowsecurity
                  AND EXISTS (SELECT FROM pg_policy p
                              WHERE p.polrelid = c.oid AND p.polname = 'tenant' AND p.polcmd = '*'
                                AND pg_get_expr(p.polqual, p.polrelid) LIKE '%tenant%user_id%')
                  AND NOT EXISTS (SELECT FROM pg_policy p
                                  WHERE p.polrelid = c.oid AND p.polname NOT IN ('tenant', 'every_tenant'))
           FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
           WHERE c.relkind IN ('r', 'p') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'"""
    ).fetchall()
    return dict(rows)


def test_every_table_of_every_generation_forces_the_policy_of_tenants(generations: Connection) -> None:
    found = forced(generations)
    assert {name.split(".")[0] for name in found} >= {
        schema for each in projectors(Settings()) for schema in (each.name, f"{each.name}_g1")
    }
    assert {name for name, is_forced in found.items() if not is_forced} == OF_NO_TENANT
    for name in found.keys() - OF_NO_TENANT:
        table = sql.Identifier(*name.split("."))
        for broken in (
            "DROP POLICY tenant ON {}",
            "ALTER TABLE {} NO FORCE ROW LEVEL SECURITY",
            "CREATE POLICY open ON {} USING (true)",
        ):
            with generations.transaction(force_rollback=True):
                generations.execute(sql.SQL(broken).format(table))
                assert not forced(generations)[name], broken


@pytest.mark.parametrize("process", PROCESSES)
def test_a_process_without_a_tenant_sees_no_row_of_any_table(
    urls: dict[str, str], generations: Connection, process: Process
) -> None:
    filled = set()
    with seeing(urls[process], None) as unknown, seeing(urls[process], "") as empty:
        for name in sorted(forced(generations).keys() - OF_NO_TENANT):
            count = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(*name.split(".")))
            if generations.execute(count).fetchone() != (0,):
                filled.add(name)
            for session in (unknown, empty):
                with suppress(psycopg.errors.InsufficientPrivilege), session.transaction():
                    assert session.execute(count).fetchone() == (0,), name
    assert filled >= {"log.events", "cards.cards", "vectors.card_vectors_384"}


@pytest.mark.parametrize("process", PROCESSES)
def test_a_process_may_not_do_the_work_of_another(urls: dict[str, str], process: Process) -> None:
    of = {"everybody", process, "admin" if process == "admin" else "all but admin"}
    assert [each for who, each in FORBIDDEN if who == process]
    for who, statement in FORBIDDEN:
        if who in of:
            with (
                seeing(urls[process], "acme") as session,
                pytest.raises(psycopg.errors.InsufficientPrivilege),
            ):
                session.execute(statement.encode())


def test_an_append_stays_in_the_tenant_of_the_session(urls: dict[str, str]) -> None:
    ours, theirs = (event(noted("new"), user=storage_id(tenant, "eve")) for tenant in ("acme", "globex"))
    for tenant, other in (("acme", theirs), ("*", ours), (None, ours)):
        with seeing(urls["curator"], tenant) as session, pytest.raises(psycopg.errors.InsufficientPrivilege):
            log.append(session, [other])
    with seeing(urls["curator"], "acme") as session:
        log.append(session, [ours])
        assert session.execute(
            "SELECT count(*) FROM log.events WHERE user_id = %s", [ours.user_id]
        ).fetchone() == (1,)
    with seeing(urls["recorder"], "*") as session:
        log.append(session, [ours, theirs])


def test_the_doctor_names_a_table_that_lost_a_policy(connection: Connection) -> None:
    def unprotected() -> list[str]:
        return [each for each in tenant_weaknesses(connection) if "is not protected" in each]

    assert unprotected() == []
    broken: tuple[LiteralString, ...] = (
        "DROP POLICY tenant ON cards.cards",
        "ALTER TABLE cards.cards NO FORCE ROW LEVEL SECURITY",
        "ALTER TABLE cards.cards DISABLE ROW LEVEL SECURITY",
        "CREATE POLICY open ON cards.cards USING (true)",
        "ALTER VIEW cards.command_targets RESET (security_invoker)",
        "CREATE TABLE public.notes (user_id text)",
    )
    for statement in broken:
        with connection.transaction(force_rollback=True):
            connection.execute(statement)
            assert len(unprotected()) == 1, statement
    with connection.transaction(force_rollback=True):
        connection.execute("CREATE TABLE public.notes (user_id text); SELECT log.protect('public.notes')")
        assert unprotected() == []


@given(
    text=st.text(
        st.characters(exclude_characters="\0", exclude_categories=["Cs"]) | st.just("\x1f"), max_size=20
    )
)
def test_both_rules_of_a_storage_id_agree(connection: Connection, text: str) -> None:
    assert connection.execute("SELECT log.tenant_of(%s)", [text]).fetchone() == (tenant_of(text),)
