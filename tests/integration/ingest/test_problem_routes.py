"""Problems and threads over HTTP, and problems that turns tell."""

import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from events.platform.database import Connection
from events.problems.problem import Problem, fold, in_order
from events.problems.problem_log import entries
from events.store import log
from events.types.envelope import NewEvent, uuid7
from events.types.extraction import CardsWithdrawn
from events.types.problems import ProblemAttempted
from ingest.extraction.extraction_events import events_of
from ingest.extraction.extractor_port import SessionBatch
from ingest.recording.recorder import recorded_event
from projectors.generations.digest import digest_of
from projectors.problems import ProblemsProjector
from tests.support.conversing import Memory, day
from tests.support.ingest.rules import EXTRACTOR, turn
from tests.support.projectors.folding import count, fold_live, rebuild
from tests.support.tables import rows

PATH = "/v1/memory/ada/problems"
SUGARS = {"description": "Post-dinner glucose spikes", "priority": 8}


def opened(write: TestClient, **more: Any) -> str:
    answer = write.post(PATH, json=SUGARS | more)
    assert answer.status_code == 201, answer.text
    found: str = answer.json()["problem_id"]
    return found


def tried(write: TestClient, problem: str, approach: str, **more: Any) -> Any:
    return write.post(f"{PATH}/{problem}/attempt", json={"approach": approach, **more})


@pytest.mark.parametrize("folded", [True, False])
def test_a_problem_is_opened_tried_closed_and_reopened(
    write: TestClient, read: TestClient, database: str, folded: bool
) -> None:
    problem = opened(write, turn_ids=["t1"])
    tried(write, problem, "Walking after dinner", date="2023-11-20", successful=True)
    tried(write, problem, "Reduced carb portion", outcome="no change", successful=False, turn_ids=["t2"])
    again = tried(write, problem, "walking after dinner", outcome="20-30 point reduction").json()
    assert [(each["approach"], each["outcome"], each["successful"]) for each in again["attempts"]] == [
        ("Walking after dinner", "20-30 point reduction", True),
        ("Reduced carb portion", "no change", False),
    ]
    assert (again["status"], again["priority"], again["turn_ids"]) == ("active", 8, ["t1", "t2"])
    write.post(f"{PATH}/{problem}/priority", json={"priority": 3, "reason": "better now"})
    closed = write.post(f"{PATH}/{problem}/close", json={"resolution": "walks every evening"}).json()
    assert (closed["status"], closed["resolution"], closed["priority"]) == (
        "closed",
        "walks every evening",
        3,
    )
    if folded:
        fold_live(database, ProblemsProjector(), batch=2)
    assert read.get(PATH).json()["problems"] == []
    [shown] = read.get(PATH, params={"status": "*"}).json()["problems"]
    assert shown == {name: closed[name] for name in shown}
    write.post(f"{PATH}/{problem}/reopen", json={})
    found = read.get(f"{PATH}/{problem}").json()
    assert (found["status"], found["closed_at"], found["version"]) == ("active", None, 7)
    assert [each["type"].removeprefix("Problem") for each in found["history"]] == [
        "Opened", "Attempted", "Attempted", "Attempted", "Prioritized", "Closed", "Reopened",
    ]  # fmt: skip
    assert [each["turn_ids"] for each in found["history"]][:3] == [["t1"], [], ["t2"]]


def test_a_day_is_taken_for_an_instant_and_the_times_of_the_log_stay_its_own(
    write: TestClient, read: TestClient, database: str
) -> None:
    before = datetime.now(UTC)
    problem = opened(write, since="2023-11-01")
    tried(write, problem, "Walking after dinner", date="2023-11-20")
    shown = tried(write, problem, "Tea", date=datetime.now(UTC).date().isoformat()).json()
    for folded in (False, True):
        if folded:
            fold_live(database, ProblemsProjector())
        assert (shown["since"], shown["until"]) == ("2023-11-01T12:00:00+00:00", None)
        assert shown["attempts"][0]["date"] == "2023-11-20T12:00:00+00:00"
        assert datetime.fromisoformat(shown["attempts"][1]["date"]) <= datetime.now(UTC)
        assert before <= datetime.fromisoformat(shown["opened_at"])
        assert shown["opened_at"] < shown["updated_at"]
        [shown] = read.get(PATH).json()["problems"]
    write.post(f"{PATH}/{problem}/close", json={})
    again = write.post(PATH, json=SUGARS | {"since": "2023-12-01"})
    assert (again.status_code, again.json()["field"]) == (422, "since")


def test_a_problem_that_is_open_is_not_opened_twice(write: TestClient) -> None:
    problem = opened(write)
    answer = write.post(PATH, json={"description": "glucose spikes post dinner"})
    assert (answer.status_code, answer.json()["field"]) == (409, "description")
    assert answer.json()["current"]["problem_id"] == problem
    assert opened(write, description="Knee pain") != problem
    assert opened(write, project_id="clinic") != problem
    write.post(f"{PATH}/{problem}/close", json={})
    assert opened(write) == problem


def test_a_repeated_command_returns_the_first_answer(write: TestClient, connection: Connection) -> None:
    key = {"idempotency-key": "k"}
    first = write.post(PATH, json=SUGARS, headers=key).json()
    tried(write, first["problem_id"], "Walking")
    again = write.post(PATH, json=SUGARS, headers=key).json()
    assert again | {"token": 0} == first | {"token": 0}
    other = write.post(f"{PATH}/{first['problem_id']}/attempt", json={"approach": "Tea"}, headers=key)
    assert (other.status_code, other.json()["field"]) == (422, "Idempotency-Key")
    for elsewhere in ({"project_id": "clinic"}, {"mode": "journal"}):
        other = write.post(PATH, json=SUGARS | elsewhere, headers=key)
        assert (other.status_code, other.json()["field"]) == (422, "Idempotency-Key")
    assert count(connection, "log.events WHERE type = 'ProblemOpened'") == 1


def test_a_repeat_of_a_closing_that_changed_nothing_closes_nothing_later(write: TestClient) -> None:
    problem = opened(write)
    path, key = f"{PATH}/{problem}", {"idempotency-key": "k"}
    write.post(f"{path}/close", json={})
    first = write.post(f"{path}/close", json={}, headers=key)
    write.post(f"{path}/reopen", json={})
    again = write.post(f"{path}/close", json={}, headers=key)
    assert again.json() | {"token": 0} == first.json() | {"token": 0}
    assert write.post(f"{path}/reopen", json={}).json()["version"] == 3


def test_a_refused_command_appends_nothing(write: TestClient, connection: Connection) -> None:
    problem = opened(write)
    before = count(connection, "log.events")
    read = [
        (path, json.loads(body, strict=False), *to)
        for path, body, *to in rows(__file__, "refused_problems.txt")
    ]
    long = ("", {"description": "糖" * 400}, "422", "description")
    for path, body, status, field in (*read, long):
        answer = write.post(f"{PATH}{path.format(id=problem, other=uuid4())}", json=body)
        assert answer.headers["content-type"] == "application/problem+json", path
        assert (answer.status_code, answer.json()["field"]) == (int(status), field), (path, body, answer.text)
    assert write.post(PATH, json={"description": "x", "priority": 10**400}).status_code == 422
    assert count(connection, "log.events") == before


def test_commands_at_once_keep_every_attempt(write: TestClient, read: TestClient, database: str) -> None:
    problem = opened(write)
    with ThreadPoolExecutor(8) as many:
        answers = list(many.map(lambda n: tried(write, problem, f"remedy number {n}"), range(20)))
    assert {answer.status_code for answer in answers} == {200}
    assert len(read.get(PATH).json()["problems"][0]["attempts"]) == 20
    fold_live(database, ProblemsProjector())
    assert len(read.get(PATH).json()["problems"][0]["attempts"]) == 20


WORDS = st.sampled_from(("back pain", "bad sleep", "morning sugars", "背痛", "早上的血糖"))
STEPS = st.one_of(
    st.tuples(st.just("open"), WORDS),
    st.tuples(st.sampled_from(("close", "reopen", "attempt", "priority")), WORDS),
)


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(STEPS, min_size=1, max_size=12), st.integers(1, 4))
def test_any_commands_leave_tables_that_a_rebuild_makes_again(
    write: TestClient, read: TestClient, connection: Connection, steps: list[tuple[str, str]], batch: int
) -> None:
    path = f"/v1/memory/{uuid4()}/problems"
    ids: dict[str, str] = {}
    for step, words in steps:
        if step == "open":
            answer = write.post(path, json={"description": words})
            if answer.status_code == 201:
                ids[words] = answer.json()["problem_id"]
        elif words in ids:
            body = {"attempt": {"approach": "tea"}, "priority": {"priority": 9}}.get(step, {})
            assert write.post(f"{path}/{ids[words]}/{step}", json=body).status_code == 200
    before = read.get(path, params={"status": "*"}).json()
    fold_live(connection, ProblemsProjector(), batch=batch)
    assert read.get(path, params={"status": "*"}).json() == before
    live = digest_of(connection, ProblemsProjector(), "problems")
    rebuild(connection, ProblemsProjector())
    assert digest_of(connection, ProblemsProjector(), "problems") == live


SAID = (
    "I tried blackout curtains for my insomnia and it helped.",
    "I've been struggling with insomnia. Also, I keep getting migraines.",
    "I tried melatonin for my insomnia but it didn't work.",
    "My migraines are gone.",
    "我最近一直為失眠所苦。",
)


def problems(connection: Connection) -> list[Problem]:
    return in_order(fold(entries(connection, "u1")).by_id.values())


def said(connection: Connection) -> list[NewEvent]:
    """Records the turns and what the extractor reads in them, each in a session of its own."""
    appended: list[NewEvent] = []
    for number, text in enumerate(SAID):
        one = turn(text, number)
        one = replace(one, turn=replace(one.turn, session_id=f"s{number}"))
        batch = SessionBatch((one,))
        read = events_of(batch, EXTRACTOR.extract(batch), EXTRACTOR)
        log.append(connection, [recorded_event("u1", one.turn), *read])
        appended += read
    return appended


def test_turns_open_try_and_close_and_a_withdrawn_reading_goes(connection: Connection) -> None:
    read = said(connection)
    found = problems(connection)
    assert {(each.description, each.status) for each in found} == {
        ("insomnia", "active"), ("migraines", "closed"), ("失眠", "active"),
    }  # fmt: skip
    [insomnia] = [each for each in found if each.description == "insomnia"]
    assert [(each.approach, each.successful) for each in insomnia.attempts] == [
        ("blackout curtains", True),
        ("melatonin", False),
    ]
    assert set(insomnia.turn_ids) == {"t0", "t1", "t2"}
    fold_live(connection, ProblemsProjector(), batch=2)
    assert problems(connection) == found
    [gone] = [
        each
        for each in read
        if isinstance(each.payload, ProblemAttempted) and each.payload.approach == "melatonin"
    ]
    row = connection.execute(
        "SELECT position FROM log.events WHERE event_id = %s", [gone.event_id]
    ).fetchone()
    assert row is not None
    withdrawn = CardsWithdrawn(event_ids=(gone.event_id,), positions=(row[0],), reason="read again")
    log.append(connection, [replace(gone, event_id=uuid7(), payload=withdrawn, causation_id=None)])
    for folded in (False, True):
        if folded:
            fold_live(connection, ProblemsProjector())
        [insomnia] = [each for each in problems(connection) if each.description == "insomnia"]
        assert [each.approach for each in insomnia.attempts] == ["blackout curtains"]
    live = digest_of(connection, ProblemsProjector(), "problems")
    rebuild(connection, ProblemsProjector())
    assert digest_of(connection, ProblemsProjector(), "problems") == live


@pytest.fixture
def memory(database: str, connection: Connection, read: TestClient, write: TestClient) -> Memory:
    return Memory(database, connection, read, write, user="ada")


def send(memory: Memory, path: str, status: int = 200, **body: Any) -> Any:
    answer = memory.write.post(f"/v1/threads{path}", json={"user_id": "ada", **body})
    assert answer.status_code == status, answer.text
    return answer.json()


def titles(memory: Memory, **asked: str) -> list[str]:
    found = memory.read.get("/v1/threads", params={"user_id": "ada", **asked}).json()["threads"]
    return [each["title"] for each in found]


def test_a_thread_is_opened_filled_renamed_closed_and_opened_again(memory: Memory) -> None:
    late = memory.event("Ada packed the piano", day(5))
    early = memory.event("Ada saw a flat in Ghent", day(1))
    memory.fold()
    thread = send(memory, "", 201, title="the move", reason="said twice")["thread_id"]
    filled = send(memory, f"/{thread}/cards", card_ids=[str(late), str(early), str(late)], reason="alike")
    assert filled["cards"] == 2
    assert (
        send(memory, f"/{thread}/cards", card_ids=[str(late)], reason="again")["version"] == filled["version"]
    )
    shown = memory.read.get(f"/v1/threads/{thread}", params={"user_id": "ada"}).json()
    assert [each["content"] for each in shown["cards"]] == ["Ada saw a flat in Ghent", "Ada packed the piano"]
    assert {each["reason"] for each in shown["cards"]} == {"alike"}
    send(memory, f"/{thread}/rename", title="the new flat")
    assert titles(memory) == ["the new flat"]
    send(memory, f"/{thread}/close", reason="moved in")
    assert (titles(memory), titles(memory, status="closed")) == ([], ["the new flat"])
    again = send(memory, f"/{thread}/reopen", reason="the boiler")
    assert (again["status"], again["cards"], titles(memory)) == ("open", 2, ["the new flat"])


def test_an_open_thread_is_in_the_prompt_and_a_closed_one_is_not(memory: Memory) -> None:
    memory.state("residence", "Ghent", day(1))
    memory.fold()
    thread = send(memory, "", 201, title="<b>the move</b>")["thread_id"]
    asked = {"user_id": "ada", "query": "where do I live?"}
    blocks = {each["name"]: each for each in memory.read.post("/v1/context", json=asked).json()["blocks"]}
    assert ">&lt;b&gt;the move&lt;/b&gt;</thread>" in blocks["threads"]["text"]
    assert blocks["threads"]["stable"]
    send(memory, f"/{thread}/close")
    assert "the move" not in memory.read.post("/v1/context", json=asked).json()["text"]


def test_what_a_thread_cannot_have_is_refused_by_name(memory: Memory) -> None:
    thread = send(memory, "", 201, title="the move")["thread_id"]
    taken = send(memory, "", 409, title="The Move")
    assert (taken["field"], taken["current"]["thread_id"]) == ("title", thread)
    stranger = memory.of("bea")
    theirs = stranger.state("residence", "Quito", day(0))
    memory.fold()
    for card in (str(theirs), str(uuid4())):
        assert send(memory, f"/{thread}/cards", 404, card_ids=[card], reason="x")["field"] == "card_ids"
    assert send(memory, f"/{uuid4()}/close", 404)["field"] == "thread_id"
    assert send(memory, "", 422, title="x" * 10_000)["field"] == "title"
    none = memory.write.post(f"/v1/threads/{thread}/close", json={"user_id": "bea"})
    assert none.status_code == 404


def test_a_repeated_command_opens_one_thread(memory: Memory) -> None:
    key = {"Idempotency-Key": "one"}
    body = {"user_id": "ada", "title": "the move"}
    first, second = (memory.write.post("/v1/threads", json=body, headers=key) for _ in range(2))
    assert first.json()["thread_id"] == second.json()["thread_id"]
    other = memory.write.post("/v1/threads", json=body | {"title": "work"}, headers=key)
    assert (other.status_code, other.json()["field"]) == (422, "Idempotency-Key")
