"""Core documents under row-level security: projector, reader and curator do their work, and no tenant sees another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import psycopg
import pytest
from starlette.testclient import TestClient

from events.access.principal import SCOPES, Principal
from events.platform.database import Connection
from events.store import log
from events.types.tenancy import storage_id
from ingest.api.write_api import create_app as write_app
from projectors.core.documents import documents_of
from projectors.core.projector import CoreProjector
from retrieval.http.read_api import create_app as read_app
from tests.support.events.principals import As
from tests.support.projectors.folding import fold_live, moved, rebuild, settings_of
from tests.support.retrieval.core_documents import add
from tests.support.roles import roles_for, seeing
from tests.support.waiting import PATIENT

ADA, NAMESAKE = storage_id("acme", "ada"), storage_id("globex", "ada")
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
        connection, [replace(moved("Rome", 1), user_id=ADA), replace(moved("Oslo", 1), user_id=NAMESAKE)]
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
            ("acme", {ADA}),
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
