"""Erasures over HTTP: receipts, dry runs, scopes, and the same answer for what is missing and what is not yours."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from starlette.testclient import TestClient

from events.access.principal import ANYBODY, Principal
from events.people.people_log import told_of
from events.platform.database import Connection
from events.platform.key_file import new_key
from events.sealing import sealer as sealing
from events.sealing.key_encryption import LocalKeyEncryption
from events.sealing.sealer import Sealer
from ingest.api.write_api import create_app
from ingest.erasure import retention
from ingest.erasure.retention import Rule
from projectors.forgetting import ForgettingProjection
from tests.support.events.principals import As
from tests.support.ingest.memories import SAID_AT, Memory


@pytest.fixture
def memory(database: str, redis_url: str, redis: object, connection: Connection) -> Iterator[Memory]:
    sealing.use(Sealer(LocalKeyEncryption([new_key()])))
    made = Memory(database, connection, redis_url=redis_url)
    made.say("ada", "I live in Montevideo.", "My dog is called Bartholomew.")
    made.say("bea", "I met Clementine.", turn_id="met")
    made.say("acme\x1fada", "I live in Bergen, says Clementine.")
    made.understand()
    yield made
    sealing.use(None)


@pytest.fixture
def service(memory: Memory) -> Iterator[tuple[TestClient, As]]:
    app = As(create_app(memory.settings, lambda: [ForgettingProjection(each) for each in memory.projectors]))
    with TestClient(app, base_url="http://localhost") as client:
        yield client, app


def test_users_persons_and_turns_are_erased_with_a_receipt(
    service: tuple[TestClient, As], memory: Memory
) -> None:
    client, _ = service
    dry = client.delete("/v1/users/ada", params={"dry_run": True}).json()
    assert (dry["dry_run"], dry["counts"]["turns"]) == (True, 2)
    assert memory.words("Montevideo")
    receipt = client.delete("/v1/users/ada").json()
    assert receipt["counts"] == dry["counts"]
    assert receipt["steps"]["erased"]
    assert receipt["steps"]["scrubbed"] is None
    assert memory.words("Montevideo") == {}
    assert client.get(f"/v1/erasures/{receipt['erasure_id']}").json()["counts"] == receipt["counts"]
    assert client.delete("/v1/people/clementine", params={"user_id": "ada"}).status_code == 404
    assert client.delete("/v1/turns/met", params={"user_id": "ada"}).status_code == 404
    assert client.delete("/v1/turns/met", params={"user_id": "bea"}).json()["counts"]["turns"] == 1
    for path in ("users/ada", "people/nobody", "turns/met?user_id=bea"):
        real = client.delete(f"/v1/{path}")
        dry = client.delete(f"/v1/{path}", params={**real.request.url.params, "dry_run": True})
        assert (dry.status_code, dry.json()) == (real.status_code, real.json()) == (404, dry.json())


def test_a_person_is_erased_in_the_callers_tenant_alone(
    service: tuple[TestClient, As], memory: Memory
) -> None:
    client, app = service
    app.principal = Principal(tenant="acme", key_id="k1")
    receipt = client.delete("/v1/people/Clementine").json()
    assert (receipt["users"], receipt["by"]) == (1, "k1")
    assert memory.words("Bergen") == {}
    assert memory.words("Clementine")
    # The receipt of another tenant is not there.
    app.principal = ANYBODY
    assert client.get(f"/v1/erasures/{receipt['erasure_id']}").status_code == 404


def test_one_of_two_people_of_a_name_is_erased_by_id(service: tuple[TestClient, As], memory: Memory) -> None:
    client, _ = service
    texts = ("My aunt Sigrid grows leeks.", "Sigrid from work brought quinces.", "Sigrid likes pomelos.")
    for number, text in enumerate(texts):
        memory.say("cleo", text, session_id=f"s{number}")
    client.post("/v1/people", json={"user_id": "cleo", "name": "Sigrid", "kinship": "aunt"})
    memory.understand()
    dry = client.delete("/v1/people/Sigrid", params={"dry_run": True}).json()
    [aunt, other] = sorted(told_of(memory.connection, "cleo").people().people, key=lambda each: each.kinship)
    assert dry["counts"]["turns"] == 3
    [shared] = dry["shared_names"]
    ids = sorted((str(aunt.person_id), str(other.person_id)))
    assert (shared["name"], shared["person_ids"]) == ("sigrid", ids)
    assert client.delete(f"/v1/people/{aunt.person_id}").json()["counts"]["turns"] == 1
    left = {word: bool(memory.words(word)) for word in ("leeks", "quinces", "pomelos")}
    assert left == {"leeks": False, "quinces": True, "pomelos": True}
    assert [each.person_id for each in told_of(memory.connection, "cleo").people().people] == [
        other.person_id
    ]
    assert client.delete(f"/v1/people/{aunt.person_id}").status_code == 404


def test_a_key_needs_the_scope_and_the_user(service: tuple[TestClient, As], memory: Memory) -> None:
    client, app = service
    app.principal = Principal(scopes=frozenset(("push", "read", "write")))
    assert client.delete("/v1/users/ada").status_code == 403
    assert client.delete("/v1/people/Clementine").status_code == 403
    assert client.delete("/v1/turns/met", params={"user_id": "bea"}).json()["title"] == "Key of no user"
    app.principal = Principal(scopes=frozenset(("admin",)))
    assert client.delete("/v1/turns/met", params={"user_id": "bea"}).status_code == 403
    app.principal = Principal(users=frozenset(("bea",)))
    foreign, missing = client.delete("/v1/users/ada"), client.delete("/v1/users/nobody")
    assert (foreign.status_code, foreign.json()) == (404, missing.json())
    assert memory.words("Montevideo")


def test_names_that_cannot_be_meant_are_refused_with_the_field(service: tuple[TestClient, As]) -> None:
    client, _ = service
    answer = client.delete("/v1/people/x")
    assert (answer.status_code, answer.json()["field"]) == (422, "name")


def test_a_rule_of_retention_takes_the_old_turns_of_its_mode(memory: Memory, connection: Connection) -> None:
    memory.say("ada", "I live in Kathmandu.", mode="journal")
    memory.say("ada", "I live in Antananarivo.", mode="code")
    memory.understand()
    days = (datetime.now(UTC) - SAID_AT).days
    retention.declare(connection, Rule(tenant="default", mode="*", keep_days=days + 2))
    retention.declare(connection, Rule(tenant="default", mode="journal", keep_days=max(1, days - 1)))
    counted = retention.run(memory.eraser(), connection, dry_run=True, by="test")
    assert [outcome.counts.get("turns", 0) for _, outcome in counted] == [0, 1]
    assert memory.words("Kathmandu")
    assert retention.run_when_due(memory.eraser(), connection)
    assert memory.words("Kathmandu") == {}
    assert memory.words("Antananarivo")
    # A day must pass before the next run.
    assert retention.run_when_due(memory.eraser(), connection) == []
    retention.declare(connection, Rule(tenant="default", mode="*", keep_days=max(1, days - 1)))
    assert retention.run_when_due(memory.eraser(), connection)
    assert memory.words("Antananarivo") == {}
    assert memory.words("Bergen")
