"""Bad input about references: a problem that names the field and the remedy, and nothing is appended."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from events.platform.database import Connection
from ingest.api.write_api import create_app as write_app
from retrieval.http.read_api import create_app as read_app
from tests.support.databases import copied
from tests.support.projectors.folding import count, settings_of
from tests.support.tables import examples, examples_and
from tests.support.waiting import PATIENT

LIST = "/v1/references/todo_list"
GROCERIES = f"{LIST}/groceries"


@pytest.fixture(scope="module")
def database(postgres_url: str, template: str) -> Iterator[str]:
    """A database for all tests of this file, because refused input changes nothing."""
    with copied(postgres_url, template) as url:
        yield url


@pytest.fixture(scope="module")
def read(database: str, redis_url: str) -> Iterator[TestClient]:
    settings = settings_of(database, redis_url=redis_url, **PATIENT)
    with TestClient(read_app(settings), base_url="http://localhost") as client:
        yield client


@pytest.fixture(scope="module")
def api(database: str, redis_url: str) -> Iterator[TestClient]:
    with TestClient(
        write_app(settings_of(database, redis_url=redis_url, auth="off")), base_url="http://localhost"
    ) as client:
        answer = client.post(LIST, json={"user_id": "ada", "key": "groceries"})
        assert answer.status_code == 201, answer.text
        yield client


def send(
    api: TestClient, method: str, path: str, body: dict[str, Any], headers: dict[str, str] | None = None
) -> Any:
    """Sends JSON in which lone surrogates and NUL stand as escapes, as a program could write them."""
    return api.request(
        method,
        path,
        content=json.dumps({"user_id": "ada"} | body).encode(),
        headers={"content-type": "application/json"} | (headers or {}),
    )


def refused(answer: Any, status: int, field: str) -> dict[str, Any]:
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json"), (
        answer.text
    )
    problem: dict[str, Any] = answer.json()
    assert problem["field"] == field, problem
    assert problem["detail"]
    return problem


@examples_and(
    ("POST", LIST, {"key": "k" * 201}, 422, "key"),
    ("POST", LIST, {"key": "鍵" * 67}, 422, "key"),
    ("POST", LIST, {"key": "x", "data": {"items": [{"text": "a"}] * 1001}}, 422, "data"),
    ("POST", "/v1/references/variable", {"key": "x", "data": "v" * 65_536}, 422, "data"),
    ("POST", "/v1/references/variable", {"key": "x", "data": "v" * 17_000}, 422, "data"),
    ("PATCH", GROCERIES, {"op": "add", "text": "x" * 3000}, 422, "text"),
)
def test_a_command_that_does_not_fit_names_the_field(
    api: TestClient,
    connection: Connection,
    method: str,
    path: str,
    body: dict[str, Any],
    status: int,
    field: str,
) -> None:
    before = count(connection, "log.events")
    refused(send(api, method, path, body), status, field)
    assert count(connection, "log.events") == before


@examples_and(("recipe", {"schema": {"description": "x" * 70_000}}, "schema"))
def test_a_kind_that_cannot_be_declared_names_the_field(
    api: TestClient, connection: Connection, name: str, body: dict[str, Any], field: str
) -> None:
    before = count(connection, "log.events")
    answer = api.put(f"/v1/reference-kinds/{name}", json=body)
    refused(answer, 422, field)
    assert count(connection, "log.events") == before


def test_the_allowed_values_are_told(api: TestClient) -> None:
    unknown = refused(send(api, "PATCH", GROCERIES, {"op": "ad", "text": "x"}), 422, "op")
    assert "mark_done" in unknown["allowed"]
    assert "text" in refused(send(api, "PATCH", GROCERIES, {"op": "add", "txt": "x"}), 422, "txt")["allowed"]
    kind = refused(send(api, "POST", "/v1/references/list", {"key": "x"}), 404, "kind")
    assert kind["allowed"] == ["decision_log", "plan", "todo_list", "variable"]
    send(api, "POST", LIST, {"key": "few", "data": {"items": [{"text": "x", "id": "7"}]}})
    missing = refused(send(api, "PATCH", f"{LIST}/few", {"op": "mark_done", "item_id": "8"}), 422, "item_id")
    assert missing["allowed"] == ["7"]


def test_a_list_is_full_at_a_thousand_items(api: TestClient, connection: Connection) -> None:
    items = [{"text": "x", "id": str(number)} for number in range(1000)]
    made = send(api, "POST", LIST, {"key": "full", "data": {"items": items}})
    before = count(connection, "log.events")
    problem = refused(made, 422, "data") if made.status_code != 201 else None
    if problem is None:
        refused(send(api, "PATCH", f"{LIST}/full", {"op": "add", "text": "x"}), 422, "data")
    assert count(connection, "log.events") == before


def test_ops_are_refused_when_the_value_grows_too_long(api: TestClient, connection: Connection) -> None:
    assert send(api, "POST", LIST, {"key": "long"}).status_code == 201
    added = {"op": "add", "text": "y" * 2000}
    for _ in range(8):
        assert send(api, "PATCH", f"{LIST}/long", added).status_code == 200
    before = count(connection, "log.events")
    problem = refused(send(api, "PATCH", f"{LIST}/long", added), 422, "data")
    assert "16384" in problem["detail"]
    assert count(connection, "log.events") == before


@pytest.mark.parametrize(
    ("headers", "field"),
    [
        ({"if-match": "7"}, "If-Match"),
        ({"if-match": '"7", "8"'}, "If-Match"),
        ({"if-match": '"' + "9" * 30 + '"'}, "If-Match"),
        ({"idempotency-key": "k" * 201}, "Idempotency-Key"),
        ({"idempotency-key": ""}, "Idempotency-Key"),
        ({"idempotency-key": "  "}, "Idempotency-Key"),
    ],
)
def test_a_header_that_does_not_fit_is_named(
    api: TestClient, connection: Connection, headers: dict[str, str], field: str
) -> None:
    before = count(connection, "log.events")
    answer = send(api, "PATCH", GROCERIES, {"op": "add", "text": "x"}, headers)
    assert refused(answer, 422, answer.json()["field"])["field"].casefold() == field.casefold()
    assert count(connection, "log.events") == before


@examples
def test_a_question_that_does_not_fit_names_the_field(
    api: TestClient, read: TestClient, path: str, params: dict[str, str], status: int, field: str
) -> None:
    refused(read.get(f"/v1/{path}", params={"user_id": "ada"} | params), status, field)
