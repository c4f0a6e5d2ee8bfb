"""An app needs one address: each service passes on the requests that belong to the other."""

import json
from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from events.platform.settings import Settings
from retrieval.http.read_api import create_app as read_app
from tests.support.stack import Running
from tests.support.web import WEB


@pytest.fixture(params=["write", "read"])
def address(stack: Running, request: pytest.FixtureRequest) -> str:
    return {"write": stack.write_url, "read": stack.read_url}[request.param]


def test_either_address_takes_turns_answers_questions_and_exports(stack: Running, address: str) -> None:
    user = f"one-address-{address[-5:]}"
    said = {"user_id": user, "text": "My cat is called Pixel."}
    large = {"user_id": user, "text": "She purrs. " * 5_000}
    pushed = WEB.post(f"{address}/v1/turns", json=[said, large] * 5)
    assert pushed.status_code == 202
    assert pushed.headers.get_list("cache-control") == ["no-store"]
    stack.wait()
    question = {"user_id": user, "query": "what is my cat called?", "wait_for": pushed.json()["token"]}
    answer = WEB.post(f"{address}/v1/recall", json=question).raise_for_status().json()
    assert "Pixel" in answer["cards"][0]["content"]
    made = WEB.post(f"{address}/v1/references/todo_list", json={"user_id": user, "key": "cat"})
    assert made.status_code == 201
    found = WEB.get(f"{address}/v1/references/todo_list/cat", params={"user_id": user})
    assert found.status_code == 200
    exported = WEB.get(f"{address}/v1/users/{user}/export")
    assert exported.text.count("TurnRecorded") >= 10


def test_an_id_reaches_the_other_service_as_it_was_written(stack: Running, address: str) -> None:
    users = {
        "a%41": "a%2541", "aA": "aA", ".": "%2E", "..": "%2e%2E", "a\tb": "a%09b", "a/b": "a%2Fb",
        "a%2Fb": "a%252Fb", "a/export": "a%2fexport", "/": "%2F",
    }  # fmt: skip
    for user in users:
        turn = {"user_id": user, "text": f"I live in {len(user)} Harbour Street.", "turn_id": "1"}
        assert WEB.post(f"{address}/v1/turns", json=turn).status_code == 202
    stack.wait()
    for user, written in users.items():
        exported = WEB.get(f"{address}/v1/users/{written}/export")
        assert json.loads(exported.text.splitlines()[0])["user_id"] == user


def test_the_other_service_checks_what_is_passed_on(address: str) -> None:
    for path in ("turns", "recall"):
        stranger = WEB.post(f"{address}/v1/{path}", json={}, headers={"authorization": "Bearer nobody"})
        assert stranger.status_code == 401
        refused = WEB.post(f"{address}/v1/{path}", json={"user_id": "x", "nonsense": 1})
        assert (refused.status_code, refused.headers["content-type"]) == (422, "application/problem+json")


def test_a_wrong_path_or_method_says_what_is_right(address: str) -> None:
    for wrong, right in (
        ("recal", "recall"),
        ("turn", "turns"),
        ("contexts", "context"),
        ("treads", "threads"),
    ):
        problem = WEB.post(f"{address}/v1/{wrong}", json={})
        assert problem.status_code == 404
        assert problem.json()["detail"].endswith(f"the nearest path is /v1/{right}")
    assert WEB.get(f"{address}/v1/nothing/at/all").json()["detail"].endswith("see /docs")
    for path in ("turns", "recall"):
        problem = WEB.put(f"{address}/v1/{path}", json={})
        assert (problem.status_code, problem.headers["allow"]) == (405, "POST")
    # Both services have this path, with other methods.
    problem = WEB.put(f"{address}/v1/memory/ada", json={})
    assert problem.status_code == 405
    assert "GET" in problem.headers["allow"].split(", ")


def test_a_dead_other_service_is_named_and_harms_nothing_else(stack: Running) -> None:
    settings = replace(
        Settings(), auth="off", database_url=stack.database_url, write_url="http://127.0.0.1:1"
    )
    with TestClient(read_app(settings)) as client:
        away = client.post("/v1/turns", json={"user_id": "ann", "text": "hello"})
        assert (away.status_code, away.json()["title"]) == (503, "Other service away")
        assert "/v1/turns" in away.json()["detail"]
        assert client.get("/healthz").status_code == 200
