"""Workers and operators do their work with their own roles, under row-level security."""

import io
from collections.abc import Iterator

import pytest

from deploy.security.roles import WORKERS_AND_SERVICES, create, url_of
from events.platform.database import Connection, connect, migrate
from events.store import archive, log
from events.types.tenancy import storage_id
from projectors.cards.projector import CardsProjector
from projectors.rebuild.swap import rollback
from tests.support.forking import forked
from tests.support.projectors.folding import count, fold_live, moved, noted, rebuild
from tests.support.roles import roles_for, seeing
from tests.support.stack import clean_environment

ADA, EVE = storage_id("acme", "ada"), "eve"


@pytest.fixture
def service(database: str, connection: Connection) -> Iterator[str]:
    """The URL of a role of workers and services, over a log of two tenants."""
    with roles_for(database, WORKERS_AND_SERVICES) as (url,):
        with connect(url, application="recorder") as recorder:
            told = [
                moved("Rome", 1),
                moved("Milan", 5),
                *(noted(f"saw a {what}", ADA) for what in ("fox", "hen")),
            ]
            log.append(recorder, [*told, noted("saw a cat", EVE)])
        yield url


def test_a_reader_reads_each_new_generation_without_another_grant(service: str, database: str) -> None:
    fold_live(service)
    with roles_for(database, ("reader",)) as (reader,):

        def seen(tenant: str) -> list[str]:
            with seeing(reader, tenant) as session:
                return [row[0] for row in session.execute("SELECT content FROM cards.cards ORDER BY content")]

        for _ in range(2):
            assert seen("acme") == ["saw a fox", "saw a hen"]
            assert "saw a cat" in seen("default")
            rebuild(service)
        with connect(service, application="rollback") as worker:
            rollback(worker, CardsProjector())
        assert seen("acme") == ["saw a fox", "saw a hen"]


def test_an_admin_imports_what_a_service_exported(
    service: str, empty_database: str, connection: Connection
) -> None:
    exported = io.BytesIO()
    with connect(service, application="export") as worker:
        archive.export_log(worker, exported.write)
    with connect(empty_database, application="migrate") as owner:
        migrate(owner)
    with (
        roles_for(empty_database, ("admin",)) as (admin,),
        connect(admin, application="import") as importer,
        connect(empty_database, application="look") as owner,
    ):
        exported.seek(0)
        archive.import_log(importer, exported)
        assert count(owner, "log.events") == count(connection, "log.events") == 5
        assert log.heads(owner) == log.heads(connection)


def test_a_role_without_rights_is_told_the_remedy_without_the_statement(
    database: str, connection: Connection
) -> None:
    password = create(connection, "without_rights")
    try:
        url = url_of(database, "without_rights", password)
        servers = {"CARDLOG_DATABASE_URL": url, "CARDLOG_REDIS_URL": "redis://127.0.0.1:1"}
        done = forked(["log", "stats"], clean_environment() | servers)
    finally:
        connection.execute("DROP ROLE without_rights")
    remedy = "set CARDLOG_ADMIN_DATABASE_URL to the URL of the role that owns the database"
    assert done.stderr == f"cardlog log: permission denied for schema log; {remedy}\n"
