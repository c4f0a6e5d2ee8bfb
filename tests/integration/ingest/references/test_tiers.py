"""The tiers of references, and what a read of one costs."""

import json
from datetime import UTC, datetime, timedelta

import pytest
from starlette.testclient import TestClient

from events.platform.database import Connection
from events.references.kinds.registry import BUILT_IN
from events.references.owners import stream_of
from events.references.reference_log import STATE, state_parameters
from events.types.references import ReferenceName
from events.types.tenancy import DEFAULT_TENANT, storage_id
from ingest.decider import Command
from ingest.references import reference_commands
from ingest.references.reference_commands import ReferenceStream
from ingest.references.tiers import review
from projectors.references import ReferencesProjector
from retrieval.http.read_api import create_app as read_app
from tests.support.projectors.folding import fold_live, settings_of
from tests.support.projectors.plans import rows_read
from tests.support.waiting import PATIENT


def today() -> datetime:
    """The servers count days on their own clock, and a run of the tests may cross midnight."""
    return datetime.now(UTC)


@pytest.fixture
def api(database: str, write: TestClient) -> TestClient:
    for key in ("used", "idle"):
        write.post("/v1/references/todo_list", json={"user_id": "ada", "key": key})
    fold_live(database, ReferencesProjector())
    return write


def moves(
    connection: Connection, database: str, now: datetime | None = None, **settings: int
) -> list[tuple[str, str]]:
    found = review(connection, settings_of(database, **settings), now or today())
    fold_live(database, ReferencesProjector())
    return [(each.name.key, each.tier) for each in found]


def test_reading_on_several_days_pins_a_reference(
    api: TestClient, connection: Connection, database: str, redis_url: str
) -> None:
    with TestClient(read_app(settings_of(database, redis_url=redis_url, **PATIENT))) as read:
        for _ in range(4):
            assert read.get("/v1/references/todo_list/used", params={"user_id": "ada"}).status_code == 200
    assert connection.execute("SELECT stream, uses FROM log.reference_use").fetchall() == [
        ("reference/user/todo_list/used", 4)
    ]
    assert moves(connection, database) == []  # one busy day pins nothing
    for day in (1, 2):
        connection.execute(
            "INSERT INTO log.reference_use SELECT user_id, stream, day - %s, 4 FROM log.reference_use WHERE day = %s",
            [day, today().date()],
        )
    assert moves(connection, database) == [("used", "pinned")]
    assert moves(connection, database) == []
    [(reason,)] = connection.execute(
        "SELECT data->>'reason' FROM log.events WHERE type = 'ReferenceTierChanged'"
    ).fetchall()
    assert reason == "read 12 times on 3 of the last 14 days"


def test_an_untouched_reference_drifts_to_the_archive_and_comes_back_with_a_write(
    api: TestClient, connection: Connection, database: str
) -> None:
    later = today() + timedelta(days=91)
    connection.execute(
        "INSERT INTO log.reference_use VALUES ('ada', 'reference/user/todo_list/used', %s, 1)",
        [later.date() - timedelta(days=20)],
    )
    assert moves(connection, database, later) == [("idle", "archive")]
    back = api.patch("/v1/references/todo_list/idle", json={"user_id": "ada", "op": "add", "text": "x"})
    assert back.json()["tier"] == "session"


def test_a_limit_of_zero_turns_a_rule_off(api: TestClient, connection: Connection, database: str) -> None:
    later = today() + timedelta(days=500)
    assert moves(connection, database, later, reference_archive_days=0) == []


VERSIONS = 200
NAME = ReferenceName(kind="variable", key="stack", project_id=None, team_id=None)


def test_the_present_value_is_read_without_the_history(connection: Connection) -> None:
    owner, kind = storage_id(DEFAULT_TENANT, "ada"), BUILT_IN["variable"]
    stream = ReferenceStream(connection, NAME, Command(owner=owner, actor="user/ada", at=datetime.now(UTC)))
    with connection.transaction():
        reference_commands.create(stream, kind, None, "session")
        for number in range(VERSIONS):
            op = {"op": "set", "path": "/count", "value": number}
            reference_commands.apply(stream, kind, op)
    explained = b"EXPLAIN (ANALYZE, FORMAT JSON) " + STATE.as_bytes(connection)
    row = connection.execute(explained, state_parameters(owner, stream_of(NAME))).fetchone()
    assert row is not None
    [found] = row[0] if isinstance(row[0], list) else json.loads(row[0])
    assert rows_read(found["Plan"]) < VERSIONS / 4
