"""What an operator reads of requests and of usage."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi.testclient import TestClient

from events.access.audit import Entry, record
from events.access.principal import Principal
from events.platform.database import Connection
from events.store import log
from events.types.curation import CuratorRan
from events.types.envelope import NewEvent, Payload
from events.types.extraction import Usage
from retrieval.http.read_api import create_app
from tests.support.events.payloads import FAILED, READING
from tests.support.projectors.folding import event, settings_of

OURS = Principal(key_id="k1")
THEIRS = Principal(tenant="acme", key_id="k2")


@pytest.fixture
def client(connection: Connection) -> Iterator[TestClient]:
    record(
        connection,
        [
            Entry(service="read", operation="recall", outcome="allowed", users=("ada",), principal=OURS),
            Entry(service="read", operation="recall", outcome="denied", users=("bea",), principal=OURS),
            Entry(service="write", operation="push_turns", outcome="allowed", users=("ada", "bea"), principal=OURS),
            Entry(service="read", operation="recall", outcome="allowed", users=("acme\x1fada",), principal=THEIRS),
        ],
    )  # fmt: skip
    settings = settings_of(connection, embed_model="hash", audit="off", auth="off")
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


def _event(user: str, payload: Payload) -> NewEvent:
    return event(payload, user, stream=f"extraction/{user}", occurred_at=datetime.now(UTC))


def _extracted(user: str, **usage: Any) -> NewEvent:
    return _event(user, replace(READING, extractor="claude", model="m", usage=Usage(**usage)))


def test_usage_is_summed_by_the_wanted_axes_and_within_the_tenant(connection: Connection) -> None:
    failed = replace(
        FAILED, extractor="claude", model="m", attempts=2, usage=Usage(calls=2, input_tokens=5, cost_usd=None)
    )
    log.append(
        connection,
        [
            _extracted("ada", calls=1, input_tokens=100, output_tokens=10, latency_ms=9, cost_usd=0.25),
            _extracted("bea", calls=3, input_tokens=50, cache_read_tokens=7, cost_usd=0.0000005),
            _extracted("ada", latency_ms=4),  # the rules asked no model
            _extracted("acme\x1fada", calls=9, input_tokens=9_000, cost_usd=9.0),
            _event("ada", failed),
            _event("ada", CuratorRan(position=1, usage=Usage(calls=1, output_tokens=3, cost_usd=0.5))),
        ],
    )
    settings = settings_of(connection, embed_model="hash", audit="off", auth="off")
    with TestClient(create_app(settings)) as client:

        def asked(**query: Any) -> list[dict[str, Any]]:
            answer = client.get("/v1/usage", params=query)
            assert answer.status_code == 200, answer.text
            groups: list[dict[str, Any]] = answer.json()["usage"]
            return groups

        by_operation = {each["operation"]: each for each in asked()}
        assert by_operation.keys() == {"extraction", "failed_extraction", "curation"}
        extraction = by_operation["extraction"]
        assert (extraction["calls"], extraction["input_tokens"], extraction["cache_read_tokens"]) == (
            4,
            150,
            7,
        )
        assert (extraction["cost_usd"], extraction["unpriced"]) == (0.2500005, 0)
        assert datetime.fromisoformat(extraction["day"]).date() <= datetime.now(UTC).date()
        assert (
            by_operation["failed_extraction"]["cost_usd"],
            by_operation["failed_extraction"]["unpriced"],
        ) == (0, 1)
        by_user = asked(group_by="user")
        assert [(each["user_id"], each["calls"], each["day"]) for each in by_user] == [
            ("ada", 4, None), ("bea", 3, None),
        ]  # fmt: skip
        assert [each["calls"] for each in asked(user_id="bea")] == [3]
        assert asked(until="2000-01-01T00:00:00Z") == []
        limited = client.get("/v1/usage", params={"group_by": "user", "limit": 1}).json()
        assert (len(limited["usage"]), limited["more"]) == (1, True)
        long_ago = (datetime.now(UTC) - timedelta(days=93)).isoformat()
        refused = client.get("/v1/usage", params={"since": long_ago})
        assert (refused.status_code, refused.json()["field"]) == (422, "since")
