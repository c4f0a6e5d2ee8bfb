"""Every request that reads or changes memory is in the audit log, and the log holds no content."""

import json
from typing import Any

import pytest
from fastapi import FastAPI, Request
from fastapi.testclient import TestClient
from starlette.types import ASGIApp, Receive, Scope, Send

from events.access import audit
from events.access.audit_writer import AuditWriter
from events.access.principal import NotYoursError, Principal
from events.http.access import Administrator, Reader
from events.http.answering import add_routes, routes_of
from events.http.audit import AuditLog, audit_of
from events.http.errors import ProblemError
from events.http.guard import PRINCIPAL
from events.http.service import body_of, install
from events.platform.database import Connection
from events.platform.settings import Settings
from tests.support.databases import execute

ADA = Principal(tenant="acme", key_id="k1", scopes=frozenset(("read",)), users=frozenset(("ada",)))
SECRET = "the moon is made of cheese"


class Authenticating:
    """Stands where the guard puts the principal of a key."""

    def __init__(self, app: ASGIApp, principal: Principal | None) -> None:
        self._app = app
        self._principal = principal

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._principal is not None:
            scope[PRINCIPAL] = self._principal
        await self._app(scope, receive, send)


def service(settings: Settings, principal: Principal | None = ADA) -> tuple[FastAPI, AuditLog | None]:
    """A service with a few routes, as the two services install them."""
    app = FastAPI()
    app.add_middleware(Authenticating, principal=principal)
    log = audit_of(settings, "read")
    install(app, settings, audit=log)
    app.state.done = []
    router = routes_of()

    @router.get("/v1/things/{thing}", operation_id="thing")
    def thing(thing: str, user_id: str, caller: Reader) -> str:
        app.state.done.append(user_id)
        try:
            return caller.storage_id(user_id)
        except NotYoursError:
            raise ProblemError(404, "Not found", "this user has no such thing") from None

    @router.post("/v1/things", operation_id="ask_thing")
    def ask(request: Request) -> Any:
        app.state.done.append("asked")
        return body_of(request)

    @router.delete("/v1/users/{user_id}", operation_id="erase_user")
    def erase(user_id: str, caller: Administrator) -> None: ...

    @router.get("/v1/broken", operation_id="broken")
    def broken() -> None:
        raise RuntimeError("broken")

    add_routes(app, router)
    return app, log


@pytest.fixture
def settings(database: str) -> Settings:
    return Settings(database_url=database)


def entries(connection: Connection) -> list[dict[str, Any]]:
    """All entries, the oldest first."""
    return audit.page(connection, audit.Filter(), limit=1000)[::-1]


def subjects(connection: Connection, *users: str) -> list[str]:
    key = audit.subject_key(connection)
    return sorted(audit.subject_of(key, user) for user in users)


def test_a_batch_of_questions_has_one_entry_with_every_user(
    settings: Settings, connection: Connection
) -> None:
    app, _ = service(settings)
    asked = [{"user_id": user, "query": SECRET} for user in ("ada", "bea", "ada")]
    with TestClient(app) as client:
        client.post("/v1/things", json={"questions": asked})
    [entry] = entries(connection)
    assert entry["subjects"] == subjects(connection, "acme\x1fada", "acme\x1fbea")
    assert SECRET not in json.dumps(entry)


def test_every_request_has_one_entry_with_its_outcome(
    settings: Settings, connection: Connection, caplog: pytest.LogCaptureFixture
) -> None:
    app, _ = service(settings)
    with TestClient(app, raise_server_exceptions=False) as client:
        answers = [
            client.get("/v1/things/x", params={"user_id": "ada"}),
            client.get("/v1/things/x", params={"user_id": "bea"}),
            client.post("/v1/things", json=[{"user_id": "ada", "text": SECRET}, {"user_id": "cy"}]),
            client.delete("/v1/users/ada"),
            client.post("/v1/things", content=b"{", headers={"content-type": "application/json"}),
            client.get("/v1/broken"),
            client.get("/healthz"),
            client.get("/v1/nothing"),
            client.request("BREW", "/v1/things/x"),
        ]
    assert [answer.status_code for answer in answers] == [200, 404, 200, 403, 422, 500, 200, 404, 405]
    found = entries(connection)
    assert [(each["operation"], each["method"], each["outcome"], each["status"]) for each in found] == [
        ("thing", "GET", "allowed", 200),
        ("thing", "GET", "denied", 404),
        ("ask_thing", "POST", "allowed", 200),
        ("erase_user", "DELETE", "denied", 403),
        ("ask_thing", "POST", "refused", 422),
        ("broken", "GET", "failed", 500),
    ]
    ada, bea, cy = ("acme\x1fada", "acme\x1fbea", "acme\x1fcy")
    assert [each["subjects"] for each in found] == [
        subjects(connection, ada), subjects(connection, bea), subjects(connection, ada, cy),
        subjects(connection, ada), [], [],
    ]  # fmt: skip
    who = [(each["service"], each["tenant"], each["key_id"], *each["scopes"]) for each in found]
    # The guard refused the fifth request before it knew the principal.
    assert who == [("read", "acme", "k1", "read")] * 4 + [
        ("read", None, None),
        ("read", "acme", "k1", "read"),
    ]
    assert [each["request_id"] for each in found] == [each.headers["x-request-id"] for each in answers[:6]]
    assert f"GET /v1/broken failed, request {found[5]['request_id']}" in caplog.messages
    assert SECRET not in json.dumps(found)
    assert '"ada"' not in json.dumps(found)  # three letters alone occur in hexadecimal digits
    assert "\\u001f" not in json.dumps(found)


def test_what_the_guard_refuses_is_recorded_without_a_principal(
    settings: Settings, connection: Connection
) -> None:
    app, _ = service(settings, principal=None)
    with TestClient(app) as client:
        assert client.delete("/v1/users/ada", headers={"origin": "https://evil.example"}).status_code == 403
        assert client.get("/v1/things/x?user_id=ada", headers={"host": "evil.example"}).status_code == 421
    found = entries(connection)
    assert [(each["operation"], each["outcome"], each["key_id"], each["scopes"]) for each in found] == [
        ("erase_user", "denied", None, []),
        ("thing", "refused", None, []),
    ]
    assert found[0]["subjects"] == found[1]["subjects"] == subjects(connection, "ada")


def test_foreign_text_cannot_stop_the_audit_log(settings: Settings, connection: Connection) -> None:
    hostile = Principal(key_id="\ud800\x00\n" + "k" * 10_000, scopes=frozenset(("read",)))
    app, _ = service(settings, principal=hostile)
    with TestClient(app) as client:
        client.post(
            "/v1/things", content=b'{"user_id": "\\ud800"}', headers={"content-type": "application/json"}
        )
        client.post("/v1/things", json={"user_id": "ada\x1f" * 10_000})
        client.get("/v1/things/x", params=[("user_id", str(number)) for number in range(3000)])
    found = entries(connection)
    assert len(found) == 3
    assert all(len(each["key_id"]) == 200 for each in found[1:])  # the guard refused the first body
    assert "\n" not in found[1]["key_id"]


@pytest.fixture
def missing(settings: Settings) -> Settings:
    """Settings of a database that does not answer, as while PostgreSQL is away."""
    return Settings(database_url=settings.database_url.rpartition("/")[0] + "/nothing_here")


def test_without_postgres_requests_go_on_and_strict_answers_503(missing: Settings) -> None:
    app, log = service(missing)
    with TestClient(app) as client:
        assert client.get("/v1/things/x", params={"user_id": "ada"}).status_code == 200
    assert log is not None
    assert log.writer.lost == 1
    app, log = service(Settings(database_url=missing.database_url, audit="strict"))
    with TestClient(app) as client:
        refused = client.get("/v1/things/x", params={"user_id": "ada"})
        assert client.get("/healthz").status_code == 200
    assert (refused.status_code, refused.json()["title"]) == (503, "Audit unavailable")
    assert "CARDLOG_AUDIT=strict" in refused.json()["detail"]
    assert app.state.done == []


def test_strict_commits_an_entry_before_the_request_acts(settings: Settings, connection: Connection) -> None:
    app, _ = service(Settings(database_url=settings.database_url, audit="strict"))
    seen: list[list[str]] = []

    @app.get("/v1/seen", operation_id="seen")
    def look() -> None:
        seen.append([each["outcome"] for each in entries(connection)])

    with TestClient(app) as client:
        assert client.get("/v1/seen").status_code == 200
    assert seen == [["begun"]]
    begun, done = entries(connection)
    assert (begun["request_id"], done["outcome"]) == (done["request_id"], "allowed")


def test_off_records_nothing(settings: Settings, connection: Connection) -> None:
    app, log = service(Settings(database_url=settings.database_url, audit="off"))
    with TestClient(app) as client:
        assert client.get("/v1/things/x", params={"user_id": "ada"}).status_code == 200
    assert log is None
    assert entries(connection) == []


def test_lost_entries_are_counted_and_reported_when_postgres_is_back(
    settings: Settings, connection: Connection, postgres_url: str
) -> None:
    name = settings.database_url.rpartition("/")[2]
    execute(postgres_url, "ALTER DATABASE {} ALLOW_CONNECTIONS false", name)
    writer = AuditWriter(settings.database_url, "read", most=3)
    for number in range(10):
        writer.put(audit.Entry(service="read", operation=f"o{number}", outcome="allowed"))
    assert (writer.lost, writer.waiting) == (7, 3)
    execute(postgres_url, "ALTER DATABASE {} ALLOW_CONNECTIONS true", name)
    writer.stop()
    found = entries(connection)
    assert [each["operation"] for each in found] == ["o0", "o1", "o2", "audit"]
    assert (found[-1]["outcome"], found[-1]["requests"]) == ("lost", 7)


def test_an_entry_that_the_server_refuses_is_lost_alone(settings: Settings, connection: Connection) -> None:
    writer = AuditWriter(settings.database_url, "read")
    for number, status in enumerate((200, 200, 10**6, 200)):
        writer.put(audit.Entry(service="read", operation=f"o{number}", outcome="allowed", status=status))
    writer.stop()
    assert [each["operation"] for each in entries(connection)] == ["o0", "o1", "o3"]
    assert writer.lost == 1


def test_an_entry_given_twice_is_written_once(connection: Connection) -> None:
    entry = audit.Entry(service="read", operation="o", outcome="allowed")
    assert audit.record(connection, [entry, entry]) == 1
    assert audit.record(connection, [entry]) == 0
    assert [each["position"] for each in entries(connection)] == [1]


@pytest.mark.parametrize(
    "change",
    ["UPDATE audit.entries SET outcome = 'allowed'", "DELETE FROM audit.entries", "TRUNCATE audit.entries"],
)
def test_nothing_changes_an_entry(connection: Connection, change: str) -> None:
    audit.record(connection, [audit.Entry(service="read", operation="o", outcome="denied")])
    with pytest.raises(Exception, match=r"audit\.entries is append-only"):
        connection.execute(change.encode())
