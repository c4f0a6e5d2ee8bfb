"""Modes over HTTP: declarations are kept, and a refused one appends nothing."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from starlette.testclient import TestClient

from events.modes.mode_log import registry_of
from events.platform.database import Connection
from ingest.api.write_api import create_app
from projectors.embedding.embedders import dimension_of
from tests.support.projectors.folding import count, settings_of
from tests.support.tables import rows
from tests.support.waiting import PATIENT


@pytest.fixture
def put(database: str, redis_url: str) -> Iterator[Callable[..., Any]]:
    settings = settings_of(database, redis_url=redis_url, **PATIENT)
    app = create_app(
        settings, dimension_of=lambda model: 512 if model == "odd" else dimension_of(settings, model)
    )
    with TestClient(app, base_url="http://localhost") as client:

        def send(path: str, method: str = "PUT", **body: Any) -> Any:
            return client.request(method, f"/v1/{path}", json={"user_id": "ada", **body})

        send.client = client  # type: ignore[attr-defined]
        yield send


def test_a_mode_is_declared_renamed_and_deleted(
    put: Callable[..., Any], read: TestClient, connection: Connection
) -> None:
    first = put("modes/code", embedder="hash-768", description="programming", default_decay="slow")
    assert first.status_code == 200, first.text
    assert first.json() | {"declared_at": None} == {
        "name": "code", "project_id": None, "embedder": "hash-768", "dimension": 768, "description": "programming",
        "default_decay": "slow", "prompt_overrides": {}, "is_default": False, "declared_at": None, "changed": True,
    }  # fmt: skip
    again = put("modes/code", is_default=True).json()
    assert (again["embedder"], again["is_default"], again["changed"]) == ("hash-768", True, True)
    assert put("modes/code", is_default=True).json()["changed"] is False
    assert put(
        "modes/日記", project_id="home", prompt_overrides={"tone": "keep the words for feelings"}
    ).is_success
    assert put("projects/home", default_mode="日記").json()["default_mode"] == "日記"
    renamed = put("modes/code/rename", "POST", new_name="programming")
    assert (renamed.json()["name"], renamed.json()["is_default"]) == ("programming", True)
    assert put("modes/code/rename", "POST", new_name="programming").json()["changed"] is False
    seen = read.get("/v1/modes", params={"user_id": "ada"}).json()
    assert [(each["name"], each["project_id"], each["of"], each["dimension"]) for each in seen["modes"]] == [
        ("programming", None, "user", 768),
        ("日記", "home", "project", 384),
    ]
    assert seen["default_mode"] == "programming"
    assert seen["former_names"] == {"code": "programming"}
    assert seen["projects"] == [{"project_id": "home", "default_mode": "日記", "description": ""}]
    delete = put.client.delete  # type: ignore[attr-defined]
    assert delete("/v1/modes/programming", params={"user_id": "ada"}).json()["changed"] is True
    assert delete("/v1/modes/programming", params={"user_id": "ada"}).json()["changed"] is False
    assert delete("/v1/modes/nothing", params={"user_id": "ada"}).status_code == 404
    left = read.get("/v1/modes", params={"user_id": "ada", "project_id": "other"}).json()
    assert (left["modes"], left["default_mode"]) == ([], None)
    assert read.get("/v1/modes", params={"user_id": "bea"}).json()["modes"] == []
    assert registry_of(connection, "ada").modes[0].deleted
    assert count(connection, "log.events") == 6


def test_what_cannot_be_declared_is_refused_with_the_field(
    put: Callable[..., Any], connection: Connection
) -> None:
    client: TestClient = put.client  # type: ignore[attr-defined]
    read = [
        (path, json.loads(body, strict=False), field)
        for path, body, field in rows(__file__, "refused_modes.txt")
    ]
    for path, body, field in (
        *read,
        ("modes/code", {"embedder": "模型" * 90}, "embedder"),
        ("modes/" + "x" * 65, {}, "name"),
        ("modes/code", {"description": "x" * 501}, "description"),
        ("modes/code", {"prompt_overrides": {f"a{n}": "x" for n in range(9)}}, "prompt_overrides"),
    ):
        content = json.dumps({"user_id": "ada", **body})
        answer = client.put(f"/v1/{path}", content=content, headers={"content-type": "application/json"})
        assert (answer.status_code, answer.json()["field"]) == (422, field), (path, body, answer.text)
    assert count(connection, "log.events") == 0


def test_a_missing_model_is_told_with_the_remedy_and_no_path_of_the_server(put: Callable[..., Any]) -> None:
    told = put("modes/code", embedder="nobody/has-this-model").json()
    assert told["detail"] == (
        "embedder: nobody/has-this-model is not on the server; put its files there, and try it with "
        "`cardlog doctor`, or name another model"
    )


def test_names_do_not_collide(put: Callable[..., Any]) -> None:
    for name in ("a", "b"):
        assert put(f"modes/{name}").is_success
    assert put("modes/a/rename", "POST", new_name="b").status_code == 409
    assert put("modes/a/rename", "POST", new_name="general").status_code == 422
    assert put("modes/a/rename", "POST", new_name="c").is_success
    taken = put("modes/a")
    assert (taken.status_code, taken.json()["field"]) == (409, "name")
    assert put("modes/a/rename", "POST", new_name="d").status_code == 404
    assert put("modes/c/rename", "POST", new_name="a").is_success
    assert put("modes/a").json()["changed"] is False


def test_there_are_at_most_so_many_modes(put: Callable[..., Any]) -> None:
    for number in range(32):
        assert put(f"modes/m{number}").is_success
    assert put("modes/one-more").status_code == 422
