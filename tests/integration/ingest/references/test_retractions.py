"""A request to forget becomes a proposal to retract. Nothing is retracted before somebody approves it."""

from datetime import UTC, datetime, timedelta
from typing import Any

from psycopg.rows import dict_row
from redis import Redis
from starlette.testclient import TestClient

from events.platform.database import Connection, connect
from events.platform.settings import Settings
from events.problems.problem import fold
from events.problems.problem_log import entries
from events.store import log
from events.types.cards import StateAsserted
from events.types.envelope import partition_of
from events.types.problems import ProblemAttempted, ProblemOpened
from ingest.api.write_api import create_app
from ingest.references.proposer import PROCESSOR, Proposer
from projectors.references import ReferencesProjector
from tests.support.projectors.folding import event, fold_live, rebuild, settings_of
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


def test_what_was_read_from_the_forgotten_words_goes_too(
    database: str, connection: Connection, redis: Redis, redis_url: str
) -> None:
    settings = settings_of(database, redis_url=redis_url, **PATIENT)
    fold_live(database, ReferencesProjector())
    said = ("I moved to Porto in May.", "My dog is called Rex. I met Clementine in Oslo yesterday.")
    tell(Memory(settings, redis), database, *said, forget_proposals=True)
    told = [
        each for each in log.read(connection, partition_of("ann")) if isinstance(each.payload, StateAsserted)
    ]
    porto, rex = (each.payload.origin for each in told)
    for origin, problem in ((porto, "insomnia"), (rex, "migraines")):
        opened = ProblemOpened(description=problem, origin=origin)
        tried = ProblemAttempted(approach="a move", tried_at=START, origin=origin, problem=problem)
        log.append(connection, [event(opened, "ann"), event(tried, "ann")])
    tell(
        Memory(settings, redis),
        database,
        "Please forget my address",
        "forget my dog's name",
        day=1,
        forget_proposals=True,
    )
    with TestClient(create_app(settings), base_url="http://localhost") as api:
        for each in proposals(connection):
            answer = api.post(f"/v1/proposals/{each['proposal_id']}/accept", json={"user_id": "ann"})
            assert answer.status_code == 200, answer.text
    fold_live(database)
    assert [each for each in contents(connection) if "Porto" in each or "Rex" in each] == []
    assert [each for each in contents(connection) if "Clementine" in each], "other words of the turn stay"
    assert fold(entries(connection, "ann")).by_id == {}


def test_without_the_setting_nothing_is_proposed(
    database: str, connection: Connection, redis: Redis, redis_url: str
) -> None:
    memory = Memory(settings_of(database, redis_url=redis_url, **PATIENT), redis)
    fold_live(database, ReferencesProjector())
    tell(memory, database, *SAID, "please forget my wife's name", reference_proposals=True)
    assert proposals(connection) == []
