"""An erased user leaves no words in references of teams and no membership; what others said there stays."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from events.access.principal import Principal
from events.platform.database import Connection
from events.references.declarations import members
from events.references.owners import team_owner
from events.references.reference_log import current
from ingest.api.write_api import create_app
from projectors.forgetting import ForgettingProjection
from projectors.references import ReferencesProjector
from tests.support.events.principals import As
from tests.support.ingest.memories import Memory

CANARY = "Zyxwortflosse"
TEAM = team_owner("default", "kitchen")


class Kitchen:
    """A team of ada, bo and cy with lists in which they wrote in turns."""

    def __init__(self, client: TestClient, app: As) -> None:
        self.client, self.app = client, app
        self.send("PUT", "teams/kitchen/members/ada", user_id="ada")
        for member in ("bo", "cy"):
            self.send("PUT", f"teams/kitchen/members/{member}", user_id="ada")
        self.create("ada", "shopping", data={"items": [{"text": f"{CANARY} tea"}]})
        self.op("bo", "shopping", op="add", text="Saucepanset", item_id="pans")
        self.op("ada", "shopping", op="add", text=f"{CANARY} cake", agent_id="helper")
        self.op("cy", "shopping", op="mark_done", item_id="pans", agent_id="helper")
        self.create("ada", "secret")
        self.op("ada", "secret", op="add", text=CANARY)
        self.send("POST", "references/todo_list/shopping/archive", user_id="ada", reason=CANARY)

    def send(self, method: str, path: str, **body: Any) -> Any:
        if path.startswith("references/"):
            body |= {"team_id": "kitchen"}
        answer = self.client.request(method, f"/v1/{path}", json=body)
        assert answer.status_code < 300, answer.text
        return answer.json()

    def create(self, user: str, key: str, **body: Any) -> None:
        self.send("POST", "references/todo_list", user_id=user, key=key, **body)

    def op(self, user: str, key: str, **body: Any) -> None:
        self.send("PATCH", f"references/todo_list/{key}", user_id=user, **body)


@pytest.fixture
def memory(database: str, connection: Connection, redis_url: str, redis: object, sealed: None) -> Memory:
    return Memory(database, connection, redis_url=redis_url)


@pytest.fixture
def kitchen(memory: Memory) -> Iterator[Kitchen]:
    memory.projectors = [ReferencesProjector()]
    memory.fold()
    app = As(create_app(memory.settings, lambda: [ForgettingProjection(each) for each in memory.projectors]))
    with TestClient(app, base_url="http://localhost") as client:
        yield Kitchen(client, app)


def check_kept(memory: Memory) -> None:
    connection = memory.connection
    memory.fold()
    assert memory.words(CANARY) == {}
    assert members(connection, "default", "kitchen") == ["bo", "cy"]
    shopping = current(connection, TEAM, "reference/team/todo_list/shopping")
    assert shopping is not None
    assert [(item["text"], item["done"]) for item in shopping.data["items"]] == [("Saucepanset", True)]
    assert shopping.archived
    assert current(connection, TEAM, "reference/team/todo_list/secret") is None
    assert memory.rebuilt_equal()


def test_an_erased_user_leaves_no_words_in_a_team_and_no_membership(memory: Memory, kitchen: Kitchen) -> None:
    memory.fold()
    assert memory.words(CANARY)
    kitchen.app.principal = Principal(tenant="default", key_id="k", users=frozenset({"ada"}))
    receipt = kitchen.client.delete("/v1/users/ada").json()
    assert kitchen.client.get(f"/v1/erasures/{receipt['erasure_id']}").json()["counts"] == receipt["counts"]
    for other in (
        Principal(tenant="default", key_id="k", users=frozenset({"bo"})),
        Principal(tenant="acme", key_id="k"),
    ):
        kitchen.app.principal = other
        assert kitchen.client.get(f"/v1/erasures/{receipt['erasure_id']}").status_code == 404
    check_kept(memory)
    assert memory.erase("user", "ada").users == []
    # What was said again still knows who said it.
    memory.erase("user", "bo")
    assert members(memory.connection, "default", "kitchen") == ["cy"]
    assert memory.words("Saucepanset") == {}


def test_a_restored_backup_of_a_team_is_erased_again(
    memory: Memory, kitchen: Kitchen, postgres_url: str, tmp_path: Path
) -> None:
    memory.fold()
    file = tmp_path / "tombstones.jsonl"
    memory.settings = replace(memory.settings, tombstones_file=str(file))
    kitchen.client.close()
    with memory.backed_up(postgres_url) as restored:
        memory.erase("user", "ada")
        assert restored.words(CANARY)
        restored.replay(file)
        check_kept(restored)
        assert restored.replay(file) == []
