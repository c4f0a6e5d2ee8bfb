"""The server is checked before anything is written. Migrations run once, whichever process starts first."""

import threading
import uuid

import psycopg
import pytest
from psycopg import sql

from events.platform.database import DatabaseUnfitError, address_of, connect, migrate
from tests.support.databases import url_of


def test_migrations_run_once_for_any_number_of_simultaneous_starts(empty_database: str) -> None:
    applied: list[str] = []

    def start() -> None:
        with connect(empty_database, application="test") as connection:
            applied.extend(migrate(connection))

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(applied) == sorted(set(applied))
    assert applied
    with connect(empty_database, application="test") as connection:
        assert migrate(connection) == []


def test_a_database_that_is_not_utf8_is_refused_with_the_remedy(postgres_url: str) -> None:
    name = f"latin_{uuid.uuid4().hex}"
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute(
            sql.SQL("CREATE DATABASE {} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0").format(
                sql.Identifier(name)
            )
        )
    try:
        with (
            connect(url_of(postgres_url, name), application="test") as connection,
            pytest.raises(DatabaseUnfitError, match="encoded in LATIN1: create one with CREATE DATABASE"),
        ):
            migrate(connection)
    finally:
        with psycopg.connect(postgres_url, autocommit=True) as admin:
            admin.execute(sql.SQL("DROP DATABASE {}").format(sql.Identifier(name)))


def test_a_role_that_may_not_install_extensions_gets_the_statement_to_run(
    postgres_url: str, empty_database: str
) -> None:
    role = f"poor_{uuid.uuid4().hex}"
    name = empty_database.rsplit("/", 1)[1]
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute(sql.SQL("CREATE ROLE {} LOGIN PASSWORD 'x'").format(sql.Identifier(role)))
    with psycopg.connect(empty_database, autocommit=True) as admin:
        admin.execute("DROP EXTENSION IF EXISTS vector")
    try:
        with (
            psycopg.connect(empty_database, user=role, password="x", autocommit=True) as connection,
            pytest.raises(DatabaseUnfitError, match="run CREATE EXTENSION vector as a superuser"),
        ):
            migrate(connection)
    finally:
        with psycopg.connect(postgres_url, autocommit=True) as admin:
            admin.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
            admin.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(role)))
            admin.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))


def test_a_database_of_a_newer_version_is_left_alone(database: str) -> None:
    with connect(database, application="test") as connection:
        connection.execute("INSERT INTO log.migrations (name) VALUES ('9999_tomorrow.sql')")
        with pytest.raises(DatabaseUnfitError, match=r"newer Cardlog \(9999_tomorrow.sql\)"):
            migrate(connection)


def test_an_address_never_shows_the_password() -> None:
    assert address_of("postgresql://me:secret@db:5433/cards") == "db:5433/cards"
    assert "secret" not in address_of("not a url secret")
