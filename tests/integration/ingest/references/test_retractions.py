"""A request to forget becomes a proposal to retract. Nothing is retracted before somebody approves it."""

from datetime import UTC, datetime, timedelta
from typing import Any

from psycopg.rows import dict_row
from redis import Redis
from starlette.testclient import TestClient

from events.platform.database import Connection, connect
from events.platform.settings import Settings
from ingest.api.write_api import create_app
from ingest.references.proposer import PROCESSOR, Proposer
from projectors.references import ReferencesProjector
from tests.support.projectors.folding import fold_live, rebuild, settings_of
from tests.support.retrieval.overlay import Memory
from tests.support.waiting import PATIENT

SAID = (
    "My wife is called Anna.", "I live in Porto.", "I work at Acme.", "My dog is called Rex.",
    "My wife is called Anna.",
)  # fmt: skip
START = datetime(2026, 5, 4, 9, tzinfo=UTC)


def tell(memory: Memory, database: str, *texts: str, day: int = 0, **allowed: Any) -> None:
    for number, text in enumerate(texts):
        at = START + timedelta(days=day, minutes=number)
        memory.push(text, said_at=at.isoformat(), turn_id=f"{day}-{number}")
    memory.record()
    memory.extract()
    fold_live(database)
    proposer = Proposer(settings_of(database, **allowed), lambda: False)
    with connect(database, application="test") as connection:
        PROCESSOR.open(connection)
        while proposer.step(connection):
            pass
    fold_live(database, ReferencesProjector())


def contents(connection: Connection) -> list[str]:
    rows = connection.execute(
        "SELECT content FROM cards.cards WHERE NOT retracted ORDER BY content"
    ).fetchall()
    return [row[0] for row in rows]


def proposals(connection: Connection) -> list[dict[str, Any]]:
    with connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute('SELECT * FROM "references".proposals ORDER BY position').fetchall()


def test_a_request_waits_and_an_answer_retracts(
    database: str, connection: Connection, redis: Redis, redis_url: str
) -> None:
    memory = Memory(settings_of(database, redis_url=redis_url, **PATIENT), redis)
    fold_live(database, ReferencesProjector())
    tell(memory, database, *SAID, forget_proposals=True)
    before = contents(connection)
    assert proposals(connection) == []
    requests = (
        "Please forget my wife's name.",
        "忘掉我說的地址",
        "I forgot my umbrella.",
        "forget my cat's name",
    )
    tell(memory, database, *requests, day=1, forget_proposals=True)
    waiting = proposals(connection)
    assert [(each["status"], each["op"]["op"], each["quote"]) for each in waiting] == [
        ("waiting", "retract", requests[0]), ("waiting", "retract", requests[1]),
    ]  # fmt: skip
    assert "Anna" in waiting[0]["op"]["content"]
    assert "Porto" in waiting[1]["op"]["content"]
    # Nothing is retracted yet, and the requests made no cards.
    assert [each for each in contents(connection) if "umbrella" not in each] == before
    settings: Settings = settings_of(database, redis_url=redis_url, **PATIENT)
    with TestClient(create_app(settings), base_url="http://localhost") as api:
        wife, address = (each["proposal_id"] for each in waiting)
        mine = {"user_id": "ann"}
        assert api.post(f"/v1/proposals/{wife}/accept", json={"user_id": "bo"}).status_code == 404
        approved = api.post(f"/v1/proposals/{wife}/accept", json=mine)
        assert approved.status_code == 200, approved.text
        assert (approved.json()["status"], approved.json()["events"]) == ("approved", 4)
        assert api.post(f"/v1/proposals/{wife}/accept", json=mine).status_code == 409
        assert api.post(f"/v1/proposals/{address}/refuse", json=mine).status_code == 200
        assert api.post(f"/v1/proposals/{address}/accept", json=mine).status_code == 409
    fold_live(database)
    fold_live(database, ReferencesProjector())
    left = contents(connection)
    assert not [each for each in left if "Anna" in each]
    assert {each for each in before if "Anna" not in each} <= set(left)
    assert [each["status"] for each in proposals(connection)] == ["approved", "refused"]
    rebuild(database)
    assert contents(connection) == left


def test_without_the_setting_nothing_is_proposed(
    database: str, connection: Connection, redis: Redis, redis_url: str
) -> None:
    memory = Memory(settings_of(database, redis_url=redis_url, **PATIENT), redis)
    fold_live(database, ReferencesProjector())
    tell(memory, database, *SAID, "please forget my wife's name", reference_proposals=True)
    assert proposals(connection) == []
