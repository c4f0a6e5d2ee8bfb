"""The audit log over HTTP: page by page, filtered, and only of the caller's tenant."""

from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient

from events.access.audit import Entry, record
from events.access.principal import Principal
from events.platform.database import Connection
from events.platform.settings import Settings
from retrieval.http.read_api import create_app

OURS = Principal(key_id="k1")
THEIRS = Principal(tenant="acme", key_id="k2")


@pytest.fixture
def client(database: str, connection: Connection) -> Iterator[TestClient]:
    record(
        connection,
        [
            Entry(service="read", operation="recall", outcome="allowed", users=("ada",), principal=OURS),
            Entry(service="read", operation="recall", outcome="denied", users=("bea",), principal=OURS),
            Entry(service="write", operation="push_turns", outcome="allowed", users=("ada", "bea"), principal=OURS),
            Entry(service="read", operation="recall", outcome="allowed", users=("acme\x1fada",), principal=THEIRS),
        ],
    )  # fmt: skip
    settings = Settings(database_url=database, embed_model="hash", audit="off", auth="off")
    with TestClient(create_app(settings)) as opened:
        yield opened


def positions(client: TestClient, **query: Any) -> list[int]:
    answer = client.get("/v1/audit", params=query)
    assert answer.status_code == 200, answer.text
    return [each["position"] for each in answer.json()["entries"]]


def test_every_filter_narrows_the_entries_of_the_tenant(client: TestClient) -> None:
    assert positions(client) == [3, 2, 1]
    assert positions(client, user_id="ada") == [3, 1]
    assert positions(client, user_id="nobody") == []
    assert positions(client, user_id="acme\x1fada") == []
    assert positions(client, key_id="k1", operation="recall") == [2, 1]
    assert positions(client, key_id="k2") == []
    assert positions(client, outcome="denied") == [2]
    assert positions(client, until="2000-01-01T00:00:00Z") == []
    assert positions(client, since="2000-01-01T00:00:00Z") == [3, 2, 1]


def test_pages_follow_each_other_without_a_gap(client: TestClient) -> None:
    first = client.get("/v1/audit", params={"limit": 2}).json()
    assert [each["position"] for each in first["entries"]] == [3, 2]
    second = client.get("/v1/audit", params={"limit": 2, "cursor": first["next_cursor"]}).json()
    assert [each["position"] for each in second["entries"]] == [1]
    assert second["next_cursor"] is None


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ({"limit": 1001}, "limit"), ({"limit": 0}, "limit"), ({"cursor": 0}, "cursor"), ({"cursor": 2**63}, "cursor"),
        ({"outcome": "fine"}, "outcome"), ({"since": "yesterday"}, "since"), ({"who": "x"}, "who"),
    ],
)  # fmt: skip
def test_an_invalid_filter_is_named(client: TestClient, query: dict[str, Any], field: str) -> None:
    answer = client.get("/v1/audit", params=query)
    assert (answer.status_code, answer.json()["field"]) == (422, field)
