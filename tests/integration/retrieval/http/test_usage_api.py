"""What models cost over HTTP: summed by day, operation and user, of the caller's tenant only."""

from datetime import UTC, datetime, timedelta
from typing import Any

from fastapi.testclient import TestClient

from events.platform.database import Connection
from events.platform.settings import Settings
from events.store import log
from events.types.curation import CuratorRan
from events.types.envelope import NewEvent, Payload, uuid7
from events.types.extraction import ExtractionFailed, TurnsExtracted, Usage
from retrieval.http.read_api import create_app


def _event(user: str, payload: Payload) -> NewEvent:
    return NewEvent(
        event_id=uuid7(), user_id=user, stream=f"extraction/{user}", payload=payload,
        occurred_at=datetime.now(UTC), actor="test",
    )  # fmt: skip


def _extracted(user: str, **usage: Any) -> NewEvent:
    payload = TurnsExtracted(
        extractor="claude", model="m", prompt_version="1", turn_ids=("t",), turn_positions=(1,),
        usage=Usage(**usage), cards=0,
    )  # fmt: skip
    return _event(user, payload)


def test_usage_is_summed_by_the_wanted_axes_and_within_the_tenant(
    database: str, connection: Connection
) -> None:
    failed = ExtractionFailed(
        extractor="claude", model="m", prompt_version="1", turn_ids=("t",), turn_positions=(1,), reason="no",
        attempts=2, usage=Usage(calls=2, input_tokens=5, cost_usd=None),
    )  # fmt: skip
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
    settings = Settings(database_url=database, embed_model="hash", audit="off", auth="off")
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
