"""A log with a key for the tests that change it."""

import secrets
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from psycopg import sql

from deploy.command import main
from events.platform.database import connect
from events.platform.settings import variable_of
from events.store import authentication, log
from tests.support.events.guarded_log import EVENTS, Log, turn


@pytest.fixture
def guarded(
    database: str,
    redis_url: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Iterator[Log]:
    connection = connect(database, application="test")
    role, password = f"service {secrets.token_hex(6)} it's 100%", "x"
    connection.execute(
        sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(sql.Identifier(role), sql.Literal(password))
    )

    def run(*arguments: str) -> tuple[int, str]:
        capsys.readouterr()
        status = main(arguments)
        authentication.use(None)
        return status, capsys.readouterr().out

    parts = urlsplit(database)
    url = psycopg.conninfo.make_conninfo(
        host=parts.hostname or "", port=str(parts.port), dbname=parts.path[1:], user=role, password=password
    )
    monkeypatch.setenv(variable_of("admin_database_url"), database)
    monkeypatch.setenv(variable_of("redis_url"), redis_url)
    monkeypatch.setenv(variable_of("embed_model"), "hash")
    monkeypatch.setenv(variable_of("database_url"), url)
    log.append(connection, [turn("old")])
    key = tmp_path / "log.key"
    assert run("grant", "--role", role)[0] == 0
    assert run("log", "key", "new", str(key))[0] == 0
    monkeypatch.setenv(variable_of("log_key_file"), str(key))
    try:
        with connect(url, application="test") as service:
            found = Log(connection, service, key, run)
            found.append(*(f"turn {n}" for n in range(2, EVENTS + 1)))
            authentication.use_file(str(key))
            log.append(service, [turn(f"turn {n}", "bea") for n in range(3)])
            authentication.use(None)
            yield found
    finally:
        authentication.use(None)
        connection.execute(sql.SQL("DROP OWNED BY {} CASCADE").format(sql.Identifier(role)))
        connection.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(role)))
        connection.close()
