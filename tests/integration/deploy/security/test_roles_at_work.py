"""Each role does its work and no other, and is told what it lacks."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psycopg
import pytest
from starlette.testclient import TestClient

from deploy.commands.operate.doctor import doctor
from deploy.commands.operate.proof import run_verify
from deploy.security.roles import WORKERS_AND_SERVICES, create, sign_tenants, url_of
from events.access.principal import SCOPES, Principal
from events.health.health_status import read_health
from events.platform.database import Connection, DatabaseUnfitError, connect, migrate
from events.store import archive, authentication, log
from events.types.tenancy import storage_id
from ingest.api.write_api import create_app as write_app
from projectors.cards.projector import CardsProjector
from projectors.core.documents import documents_of
from projectors.core.projector import CoreProjector
from projectors.rebuild.swap import rollback
from projectors.runner import Runner
from retrieval.http.read_api import create_app as read_app
from tests.support.events.principals import As
from tests.support.forking import forked
from tests.support.projectors.folding import count, fold_live, moved, noted, rebuild, settings_of
from tests.support.retrieval.core_documents import add
from tests.support.roles import roles_for, seeing
from tests.support.stack import clean_environment
from tests.support.waiting import PATIENT, eventually, working

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


ADA_OF_ACME, NAMESAKE = storage_id("acme", "ada"), storage_id("globex", "ada")
TABLES = ("documents", "snapshots", "changes", "queue", "card_statements", "card_remarks")


@dataclass
class Roles:
    """The URLs of three roles, and the services as the last two of them run."""

    projector: str
    reader: str
    asking: tuple[As, As]
    read: TestClient
    write: TestClient

    def of(self, tenant: str) -> Roles:
        """From now on a key of ``tenant`` asks."""
        for each in self.asking:
            each.principal = Principal(tenant=tenant, scopes=frozenset(SCOPES))
        return self


@pytest.fixture
def roles(database: str, redis_url: str, connection: Connection) -> Iterator[Roles]:
    """Two users of one name, of two tenants, whose cards feed their documents."""
    log.append(
        connection,
        [replace(moved("Rome", 1), user_id=ADA_OF_ACME), replace(moved("Oslo", 1), user_id=NAMESAKE)],
    )
    with roles_for(database, ("projector",), ("reader",), ("curator",)) as (projector, reader, curator):
        fold_live(projector, CoreProjector())
        writing = settings_of(curator, redis_url=redis_url, **PATIENT)
        asking = (
            As(read_app(settings_of(reader, redis_url="", **PATIENT))),
            As(write_app(writing, documents=lambda: documents_of(writing))),
        )
        with TestClient(asking[0]) as read, TestClient(asking[1]) as write:
            yield Roles(projector, reader, asking, read, write)


def residence(roles: Roles) -> Any:
    answer = roles.read.get("/v1/memory/ada", params={"paths": "/profile/residence"})
    assert answer.status_code == 200, answer.text
    return answer.json()["snippets"][0]["value"]


def wrong(roles: Roles) -> str:
    """Sends a patch that does not fit. Returns its entry."""
    ops = [{"op": "test", "path": "/profile/name", "value": "nobody"}, add("/profile/name", "x")]
    answer = roles.write.post("/v1/memory/ada/events", json={"patch": ops, "actor": "user"})
    assert answer.status_code == 409, answer.text
    entry: str = answer.json()["queue_id"]
    return entry


def test_each_role_does_its_work_and_a_rebuild_is_equal(roles: Roles) -> None:
    assert (residence(roles.of("acme")), residence(roles.of("globex"))) == ("Rome", "Oslo")
    patched = roles.of("acme").write.post(
        "/v1/memory/ada/events", json={"patch": [add("/profile/name", "Ada")], "actor": "user"}
    )
    assert patched.status_code == 200, patched.text
    wrong(roles)
    fold_live(roles.projector, CoreProjector())
    assert roles.read.get("/v1/memory/ada").json()["document"]["profile"]["name"] == "Ada"
    done = rebuild(roles.projector, CoreProjector(), verify=True)
    assert done.equal, done.unequal
    assert (residence(roles), residence(roles.of("globex"))) == ("Rome", "Oslo")


def test_another_tenant_sees_and_changes_nothing(roles: Roles) -> None:
    entry = wrong(roles.of("acme"))
    fold_live(roles.projector, CoreProjector())
    for table in TABLES:
        for tenant, seen in (
            ("acme", {ADA_OF_ACME}),
            ("globex", {NAMESAKE}),
            ("default", set()),
            (None, set()),
            ("*", set()),
        ):
            with seeing(roles.reader, tenant) as session:
                found = {row[0] for row in session.execute(f"SELECT user_id FROM core.{table}".encode())}
                assert found <= seen, (table, tenant)
                if table in ("documents", "changes", "card_statements"):
                    assert found == seen, (table, tenant)
    with seeing(roles.reader, "acme") as session, pytest.raises(psycopg.errors.InsufficientPrivilege):
        session.execute("DELETE FROM core.documents")
    other = roles.of("default")
    for path in ("", "/history", "/queue", "/diff?from=0&to=1"):
        assert other.read.get(f"/v1/memory/ada{path}").status_code == 404, path
    assert other.of("globex").read.get("/v1/memory/ada/queue").json() == {"entries": []}
    for answer in ("approve", "refuse"):
        assert other.write.post(f"/v1/memory/ada/queue/{entry}/{answer}", json={}).status_code == 404
    migrated = {"text": "User likes tea.", "dry_run": True}
    report = other.write.post("/v1/memory/ada/migrate", json=migrated).json()
    assert [each["patch"][-1]["value"] for each in report["applied"]] == ["tea"]
    assert [
        each["queue_id"] for each in roles.of("acme").read.get("/v1/memory/ada/queue").json()["entries"]
    ] == [entry]


SAID = "set CARDLOG_LOG_KEY_FILE to the key file that belongs to this log"


@pytest.fixture
def key(connection: Connection, tmp_path: Path) -> Iterator[Path]:
    """The log key whose proof the database asks for. No process uses the key yet."""
    path = tmp_path / "log.key"
    authentication.create(path, {})
    sign_tenants(connection, path)
    yield path
    authentication.use(None)


def test_a_missing_or_another_log_key_is_named_and_not_taken_for_a_damaged_log(
    key: Path, database: str, connection: Connection, redis_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    fold_live(database)
    log.append(connection, [noted("one")])
    authentication.create(key.with_name("other.key"), {})
    stop = threading.Event()
    with (
        roles_for(database, WORKERS_AND_SERVICES) as [url],
        working(Runner(settings_of(url), CardsProjector(), stop.is_set).run, stop),
    ):
        for name in ("", str(key.with_name("other.key"))):
            authentication.use_file(name)
            settings = settings_of(url, redis_url=redis_url, log_key_file=name)
            eventually(lambda: read_health(connection).reader("cards").state == "stuck")
            assert SAID in str(read_health(connection).reader("cards").detail)
            assert doctor(settings=settings, data=None) == 1
            told = capsys.readouterr().out
            assert "FAIL  postgres: the database asks for a proof of its log key" in told
            assert "cardlog log key new" not in told
            with pytest.raises(DatabaseUnfitError, match=SAID):
                run_verify(cardlog=settings)
        authentication.use_file(str(key))
        eventually(lambda: read_health(connection).reader("cards").behind == 0)
