"""Prose proposes ops: a sure one is applied and flagged, another waits, and each turn is proposed from once."""

from datetime import UTC, datetime
from typing import Any

from starlette.testclient import TestClient

from events.platform.database import Connection
from events.store import log
from events.types.turns import TurnRecorded
from ingest.recording.recorder import recorded_event
from ingest.references.proposer import PROCESSOR, Proposer
from projectors.references import ReferencesProjector
from tests.support.projectors.folding import count, fold_live, settings_of

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
