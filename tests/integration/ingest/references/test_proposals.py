"""What turns ask of references, and what is asked to be forgotten."""

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
from events.types.turns import TurnRecorded
from ingest.api.write_api import create_app
from ingest.recording.recorder import recorded_event
from ingest.references.proposer import PROCESSOR, Proposer
from projectors.references import ReferencesProjector
from tests.support.projectors.folding import count, event, fold_live, rebuild, settings_of
from tests.support.retrieval.overlay import Memory
from tests.support.waiting import PATIENT

NOW = datetime(2026, 5, 8, 16, 44, tzinfo=UTC)


def say(connection: Connection, database: str, *texts: str, role: Any = "user") -> None:
    for number, text in enumerate(texts):
        turn = TurnRecorded(
            turn_id=f"{role}-{text[:20]}-{number}", text=text, role=role, said_at=NOW, timezone="UTC",
            session_id="s", project_id="default",
        )  # fmt: skip
        log.append(connection, [recorded_event("ada", turn)])
    fold_live(database, ReferencesProjector())
    proposer = Proposer(settings_of(database, reference_proposals=True), lambda: False)
    PROCESSOR.open(connection)
    while proposer.step(connection):
        pass
    fold_live(database, ReferencesProjector())


def listed(connection: Connection) -> list[tuple[Any, ...]]:
    return connection.execute(
        "SELECT status, op->>'op', quote FROM \"references\".proposals ORDER BY position"
    ).fetchall()


def rendering(connection: Connection) -> str:
    row = connection.execute('SELECT rendering FROM "references".objects').fetchone()
    assert row is not None
    return str(row[0])


def test_a_sure_request_is_applied_and_flagged_as_derived(
    write: TestClient, connection: Connection, database: str
) -> None:
    write.post("/v1/references/todo_list", json={"user_id": "ada", "key": "baking"})
    say(connection, database, "Please add rye flour to my baking list.", "幫我把酵母加到baking清單")
    assert rendering(connection) == "baking: [ ] rye flour · [ ] 酵母"
    assert [row[0] for row in listed(connection)] == ["applied", "applied"]
    derived = connection.execute(
        "SELECT data->>'derived', data->>'quote' FROM log.events WHERE type = 'ReferenceChanged' ORDER BY position"
    ).fetchall()
    assert derived[0] == ("true", "Please add rye flour to my baking list.")
    say(connection, database, "cross the rye flour off my baking list")
    assert rendering(connection) == "baking: [✓] rye flour · [ ] 酵母"
    undone = write.post("/v1/references/todo_list/baking/restore", json={"user_id": "ada", "version": 3})
    assert undone.json()["rendering"] == "baking: [ ] rye flour · [ ] 酵母"


def test_words_that_ask_for_nothing_change_nothing(
    write: TestClient, connection: Connection, database: str
) -> None:
    write.post("/v1/references/todo_list", json={"user_id": "ada", "key": "baking"})
    before = count(connection, "log.events")
    say(
        connection, database, "I should probably buy yeast tomorrow", "cross the anchovies off my baking list"
    )
    say(connection, database, "add yeast to my baking list", role="assistant")
    assert count(connection, "log.events") == before + 3
    assert listed(connection) == []


def test_a_request_for_an_unknown_list_waits_until_it_is_approved(
    write: TestClient, connection: Connection, database: str
) -> None:
    say(connection, database, "add a head torch to my camping list", "put tea on the list")
    assert [row[0] for row in listed(connection)] == ["waiting", "waiting"]
    [first, second] = connection.execute(
        'SELECT proposal_id FROM "references".proposals ORDER BY position'
    ).fetchall()
    approved = write.post(f"/v1/proposals/{first[0]}/accept", json={"user_id": "ada"})
    assert (approved.status_code, approved.json()["rendering"]) == (200, "camping: [ ] head torch")
    again = write.post(f"/v1/proposals/{first[0]}/accept", json={"user_id": "ada"})
    assert (again.status_code, again.json()["field"]) == (409, "proposal_id")
    assert write.post(f"/v1/proposals/{second[0]}/refuse", json={"user_id": "ada"}).status_code == 200
    others = write.post(f"/v1/proposals/{second[0]}/accept", json={"user_id": "eve"})
    assert others.status_code == 404
    fold_live(database, ReferencesProjector())
    assert [row[0] for row in listed(connection)] == ["approved", "refused"]


def test_a_list_is_named_by_the_words_or_the_op_waits(
    write: TestClient, connection: Connection, database: str
) -> None:
    for key, project in (("baking", None), ("camping", "trip")):
        write.post("/v1/references/todo_list", json={"user_id": "ada", "key": key, "project_id": project})
    said = ("add call the plumber to my to-do list", "add salt to my list", "add a tent to my camping list")
    say(connection, database, *said, "幫我把酵母加到烘焙清單")
    proposals = connection.execute(
        'SELECT status, key, project_id, confidence FROM "references".proposals ORDER BY position'
    ).fetchall()
    assert proposals == [
        ("waiting", "todo", None, 0.8),
        ("waiting", "baking", None, 0.5),
        ("waiting", "camping", None, 0.8),
        ("waiting", "烘焙清單", None, 0.5),
    ]


def test_a_turn_is_proposed_from_once(write: TestClient, connection: Connection, database: str) -> None:
    write.post("/v1/references/todo_list", json={"user_id": "ada", "key": "baking"})
    say(connection, database, "add salt to my baking list")
    connection.execute("UPDATE log.checkpoints SET position = 0 WHERE processor = 'proposer'")
    proposer = Proposer(settings_of(database, reference_proposals=True), lambda: False)
    while proposer.step(connection):
        pass
    fold_live(database, ReferencesProjector())
    assert rendering(connection) == "baking: [ ] salt"
    assert len(listed(connection)) == 1


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
