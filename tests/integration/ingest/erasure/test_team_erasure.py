"""An erased user leaves no words in references of teams and no membership; what others said there stays."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from events.access.principal import Principal
from events.platform.database import Connection, connect
from events.references.declarations import members
from events.references.owners import team_owner
from events.references.reference_log import current
from ingest.api.write_api import create_app
from ingest.erasure import subjects, tombstones
from ingest.erasure.erasure import Terms
from projectors.forgetting import ForgettingProjection
from projectors.rebuild.rebuild import Rebuild
from projectors.references import ReferencesProjector
from tests.integration.ingest.erasure.test_tombstones import eraser_of
from tests.support.databases import backed_up
from tests.support.events.principals import As
from tests.support.ingest.memories import Memory, words_in_tables

CANARY = "Zyxwortflosse"
TEAM = team_owner("default", "kitchen")
TERMS = Terms(by="test")


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
def memory(database: str, redis_url: str, redis: object, sealed: None) -> Memory:
    return Memory(database, redis_url=redis_url)


@pytest.fixture
def kitchen(memory: Memory) -> Iterator[Kitchen]:
    memory.projectors = [ReferencesProjector()]
    memory.fold()
    app = As(create_app(memory.settings, lambda: [ForgettingProjection(each) for each in memory.projectors]))
    with TestClient(app, base_url="http://localhost") as client:
        yield Kitchen(client, app)


def check_kept(memory: Memory, connection: Connection) -> None:
    memory.fold()
    assert words_in_tables(connection, CANARY) == {}
    assert members(connection, "default", "kitchen") == ["bo", "cy"]
    shopping = current(connection, TEAM, "reference/team/todo_list/shopping")
    assert shopping is not None
    assert [(item["text"], item["done"]) for item in shopping.data["items"]] == [("Saucepanset", True)]
    assert shopping.archived
    assert current(connection, TEAM, "reference/team/todo_list/secret") is None
    assert Rebuild(memory.settings, ReferencesProjector(), workers=1, verify=True).run().equal


def test_an_erased_user_leaves_no_words_in_a_team_and_no_membership(
    memory: Memory, connection: Connection, kitchen: Kitchen
) -> None:
    memory.fold()
    assert words_in_tables(connection, CANARY)
    kitchen.app.principal = Principal(tenant="default", key_id="k", users=frozenset({"ada"}))
    receipt = kitchen.client.delete("/v1/users/ada").json()
    assert kitchen.client.get(f"/v1/erasures/{receipt['erasure_id']}").json()["counts"] == receipt["counts"]
    for other in (
        Principal(tenant="default", key_id="k", users=frozenset({"bo"})),
        Principal(tenant="acme", key_id="k"),
    ):
        kitchen.app.principal = other
        assert kitchen.client.get(f"/v1/erasures/{receipt['erasure_id']}").status_code == 404
    check_kept(memory, connection)
    assert subjects.erase_user(memory.eraser(), connection, "ada", TERMS).users == []
    # What was said again still knows who said it.
    subjects.erase_user(memory.eraser(), connection, "bo", TERMS)
    assert members(connection, "default", "kitchen") == ["cy"]
    assert words_in_tables(connection, "Saucepanset") == {}


def test_a_restored_backup_of_a_team_is_erased_again(
    memory: Memory, connection: Connection, kitchen: Kitchen, postgres_url: str, tmp_path: Path
) -> None:
    memory.fold()
    file = tmp_path / "tombstones.jsonl"
    kitchen.client.close()
    database = connection.info.dbname
    connection.close()
    with backed_up(postgres_url, database) as backup:
        with connect(memory.settings.database_url, application="test") as again:
            subjects.erase_user(eraser_of(memory, file), again, "ada", TERMS)
        restored = Memory(backup)
        restored.projectors = memory.projectors
        with connect(restored.settings.database_url, application="test") as old:
            assert words_in_tables(old, CANARY)
            subjects.replay(eraser_of(restored, file), old, tombstones.read(file))
            check_kept(restored, old)
            assert subjects.replay(eraser_of(restored, file), old, tombstones.read(file)) == []
