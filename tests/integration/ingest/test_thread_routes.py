"""Threads over HTTP: opened, filled, renamed, closed and opened again, seen at once and told in a prompt."""

from typing import Any
from uuid import uuid4

import pytest
from starlette.testclient import TestClient

from events.platform.database import Connection
from tests.support.conversing import Memory, day


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
