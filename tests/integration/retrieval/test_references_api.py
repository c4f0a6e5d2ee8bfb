"""References over HTTP, to read: a write is seen at once, the past stays, and nobody reads another's."""

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest
from starlette.testclient import TestClient

from projectors.cards.projector import CardsProjector
from projectors.references import ReferencesProjector
from retrieval.pool import Pool
from retrieval.references import ReferenceReader
from tests.support.projectors.folding import fold_live
from tests.support.retrieval.channels import pooled
from tests.support.tables import examples


@dataclass
class Services:
    """Both services over one database."""

    write: TestClient
    read: TestClient
    database: str

    def create(self, kind: str, key: str, **more: Any) -> dict[str, Any]:
        answer = self.write.post(f"/v1/references/{kind}", json={"user_id": "ada", "key": key, **more})
        assert answer.status_code == 201, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def op(self, kind: str, key: str, **more: Any) -> dict[str, Any]:
        answer = self.write.patch(f"/v1/references/{kind}/{key}", json={"user_id": "ada", **more})
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def get(self, path: str, **params: Any) -> Any:
        return self.read.get(f"/v1/{path}", params={"user_id": "ada", **params})

    def context(self, question: str) -> str:
        answer = self.read.post("/v1/context", json={"user_id": "ada", "query": question})
        assert answer.status_code == 200, answer.text
        return str(answer.json()["text"])


@pytest.fixture
def services(database: str, write: TestClient, read: TestClient) -> Services:
    return Services(write, read, database)


def test_a_write_is_read_at_once_with_its_version(services: Services) -> None:
    services.create("todo_list", "chores")
    services.op("todo_list", "chores", op="add", text="sweep", item_id="s")
    answer = services.get("references/todo_list/chores")
    assert (answer.json()["rendering"], answer.headers["etag"]) == ("chores: [ ] sweep", '"2"')


def test_an_old_version_and_an_earlier_instant_tell_the_value_then(services: Services) -> None:
    services.create("variable", "stack")
    then = services.op("variable", "stack", op="set", path="/db", value="MariaDB")["updated_at"]
    services.op("variable", "stack", op="set", path="/db", value="PostgreSQL")
    assert services.get("references/variable/stack", version=2).json()["data"] == {"db": "MariaDB"}
    assert services.get("references/variable/stack", as_of=then).json()["data"] == {"db": "MariaDB"}
    assert services.get("references/variable/stack").json()["data"] == {"db": "PostgreSQL"}
    assert services.get("references/variable/stack", as_of="2020-01-01T00:00:00Z").status_code == 404
    never = services.get("references/variable/stack", version=9)
    assert (never.status_code, never.json()["field"]) == (422, "version")


def test_the_cards_of_then_have_the_values_of_then(services: Services) -> None:
    services.create("variable", "stack", project_id="lab")
    then = services.op("variable", "stack", project_id="lab", op="set", path="/db", value="MariaDB")[
        "updated_at"
    ]
    services.op("variable", "stack", project_id="lab", op="set", path="/db", value="PostgreSQL")
    path, body = "/v1/references/variable/stack/move", {"user_id": "ada", "project_id": "lab"}
    assert services.write.post(path, json=body | {"to_project_id": "home"}).status_code == 200
    fold_live(services.database, CardsProjector())

    def shown(**asked: str) -> list[tuple[str, str, str]]:
        cards = services.get("cards", kind="reference", project_id="*", status="*", **asked).json()["cards"]
        return [(each["project_id"], each["content"], each["status"]) for each in cards]

    assert [place for place, *_ in shown()] == ["home"]
    before = [("lab", "stack: db = MariaDB", "current")]
    assert shown(known_at=then) == shown(known_at=then, as_of=then) == before


def test_the_history_tells_each_op_with_what_was_before_and_after(services: Services) -> None:
    services.create("todo_list", "chores")
    services.op(
        "todo_list", "chores", op="add", text="sweep", item_id="s", turn_ids=["t-1"], agent_id="helper"
    )
    services.op("todo_list", "chores", op="mark_done", item_id="s")
    first = services.get("references/todo_list/chores/history", limit=2, values=True).json()
    done, added = first["versions"]
    assert (added["op"]["text"], added["actor"], added["turn_ids"]) == ("sweep", "agent/helper", ["t-1"])
    assert added["before"] == {"items": []}
    assert done["before"] == added["after"]
    rest = services.get(
        "references/todo_list/chores/history", cursor=first["next_cursor"], values=True
    ).json()
    assert [(each["version"], each["type"], each["before"]) for each in rest["versions"]] == [
        (1, "ReferenceCreated", None)
    ]
    assert rest["next_cursor"] is None


@pytest.mark.parametrize("folded", [False, True])
def test_a_list_shows_what_is_folded_and_what_is_not(services: Services, folded: bool) -> None:
    services.create("todo_list", "chores", tier="pinned")
    fold_live(services.database, ReferencesProjector())
    services.op("todo_list", "chores", op="add", text="sweep")
    services.create("plan", "garden", project_id="home")
    if folded:
        fold_live(services.database, ReferencesProjector())
    page = services.get("references", limit=1).json()
    assert [each["key"] for each in page["references"]] == ["garden"]
    following = services.get("references", limit=1, cursor=page["next_cursor"]).json()
    assert [each["rendering"] for each in following["references"]] == ["chores: [ ] sweep"]
    assert following["next_cursor"] is None
    assert [each["key"] for each in services.get("references", tier="pinned").json()["references"]] == [
        "chores"
    ]
    assert [each["key"] for each in services.get("references", project_id="home").json()["references"]] == [
        "garden"
    ]


class Folding(ReferenceReader):
    """A reader in whose reads the projector folds after every question."""

    def __init__(self, pool: Pool, database: str) -> None:
        super().__init__(pool)
        self._database = database

    async def _rows(self, owner: str, query: Any, /, **parameters: Any) -> list[dict[str, Any]]:
        rows = await super()._rows(owner, query, **parameters)
        await asyncio.to_thread(fold_live, self._database, ReferencesProjector())
        return rows


@pytest.mark.parametrize("folded", [True, False])
def test_a_fold_between_two_questions_changes_no_list(services: Services, folded: bool) -> None:
    services.create("variable", "stack")
    if folded:
        fold_live(services.database, ReferencesProjector())
    services.op("variable", "stack", op="set", path="/cache", value="Redis")

    found = pooled(
        services.database, lambda pool: Folding(pool, services.database).present(["ada"]), pool_size=2
    )
    assert [(each.version, each.data) for each in found] == [(2, {"cache": "Redis"})]


def test_an_archived_reference_is_listed_only_when_asked_for(services: Services) -> None:
    services.create("todo_list", "chores")
    services.write.post("/v1/references/todo_list/chores/archive", json={"user_id": "ada"})
    assert services.get("references").json()["references"] == []
    assert len(services.get("references", archived=True).json()["references"]) == 1


def test_a_member_lists_the_references_of_the_team(services: Services) -> None:
    for member in ("ada", "bo"):
        services.write.put(f"/v1/teams/crew/members/{member}", json={"user_id": "ada"})
    services.create("todo_list", "tools", team_id="crew")
    fold_live(services.database, ReferencesProjector())
    found = services.read.get("/v1/references", params={"user_id": "bo"}).json()["references"]
    assert [(each["key"], each["team_id"]) for each in found] == [("tools", "crew")]


@pytest.mark.parametrize("folded", [True, False])
def test_a_members_question_finds_the_list_of_the_team(services: Services, folded: bool) -> None:
    for member in ("ada", "bo"):
        services.write.put(f"/v1/teams/crew/members/{member}", json={"user_id": "ada"})
    fold_live(services.database, CardsProjector())
    fold_live(services.database, ReferencesProjector())
    services.create("todo_list", "tools", team_id="crew")
    then = services.op("todo_list", "tools", op="add", text="a torque wrench", team_id="crew")["updated_at"]
    services.op("todo_list", "tools", op="add", text="a jack", team_id="crew")
    if folded:
        fold_live(services.database, CardsProjector())
        fold_live(services.database, ReferencesProjector())

    def found(user: str, query: str = "which torque wrench is on the list?", **more: Any) -> list[str]:
        answer = services.read.post("/v1/recall", json={"user_id": user, "query": query, **more})
        assert answer.status_code == 200, answer.text
        return [card["content"] for card in answer.json()["cards"]]

    now = "tools: [ ] a torque wrench · [ ] a jack"
    assert found("ada") == found("bo") == found("bo", mode="code") == [now]
    assert found("bo", as_of=then) == ["tools: [ ] a torque wrench"]
    assert found("eve") == found("bo", project_id="shop") == found("bo", kinds=["event"]) == []
    prompt = services.read.post("/v1/context", json={"user_id": "bo", "query": "the torque wrench"}).json()
    assert now in prompt["text"]
    services.write.post("/v1/references/todo_list/tools/archive", json={"user_id": "ada", "team_id": "crew"})
    assert found("bo") == []
    services.write.post(
        "/v1/references/todo_list/tools/restore", json={"user_id": "ada", "team_id": "crew", "version": 3}
    )
    assert found("bo") == [now]
    left = services.write.request("DELETE", "/v1/teams/crew/members/bo", params={"user_id": "ada"})
    assert left.status_code == 200, left.text
    assert (found("bo"), found("ada")) == ([], [now])


def test_the_kinds_name_their_ops_and_schemas(services: Services) -> None:
    services.write.put(
        "/v1/reference-kinds/recipe", json={"schema": {"type": "object"}, "description": "a meal"}
    )
    fold_live(services.database, ReferencesProjector())
    kinds = services.read.get("/v1/reference-kinds").json()["kinds"]
    found = {each["kind"]: each for each in kinds}
    assert set(found) == {"todo_list", "plan", "decision_log", "variable", "recipe"}
    assert "mark_done" in found["todo_list"]["ops"]
    assert found["recipe"]["schema"] == {"type": "object"}


@examples
def test_a_shopping_list_is_kept_up_to_date(
    services: Services, key: str, texts: tuple[str, ...], question: str, rendering: str
) -> None:
    services.create("todo_list", key)
    first, second, third = (
        services.op("todo_list", key, op="add", text=text)["data"]["items"][-1]["id"] for text in texts
    )
    full = services.get(f"references/todo_list/{key}").json()
    services.op("todo_list", key, op="mark_done", item_id=first)
    services.op("todo_list", key, op="remove", item_id=second)
    services.op("todo_list", key, op="reorder", ids=[third, first])
    assert services.get(f"references/todo_list/{key}").json()["rendering"] == rendering
    told = services.get(f"references/todo_list/{key}/history").json()["versions"]
    ops = ["reorder", "remove", "mark_done", "add", "add", "add", None]
    assert [each["op"] and each["op"]["op"] for each in told] == ops
    then = services.get(f"references/todo_list/{key}", as_of=full["updated_at"]).json()
    assert then == full
    assert all(text in then["rendering"] for text in texts)

    # Found by the question as a card, in a block of its own; without any question once it is pinned.
    fold_live(services.database, CardsProjector())
    found = services.context(question)
    assert f'<references>\n<reference n="1">{rendering}</reference>\n</references>\n' in found
    services.write.post(f"/v1/references/todo_list/{key}/tier", json={"user_id": "ada", "tier": "pinned"})
    pinned = f"<references>\n<reference>{rendering}</reference>\n</references>\n"
    assert pinned in services.context("zzz")
    assert services.context("zzz").partition(pinned)[0] == services.context(question).partition(pinned)[0]


@examples
def test_the_stack_of_a_project_is_one_value(
    services: Services, key: str, part: str, claims: tuple[str, ...], rendering: str
) -> None:
    services.create("variable", key, project_id="parcels", data={"cache": "Valkey"}, tier="pinned")
    told = [
        services.op("variable", key, project_id="parcels", op="set", path=part, value=claim)
        for claim in claims
    ]
    present = services.get(f"references/variable/{key}", project_id="parcels").json()
    assert (present["rendering"], present["version"]) == (rendering, 4)
    for number, each in enumerate(told):
        then = services.get(
            f"references/variable/{key}", project_id="parcels", as_of=each["updated_at"]
        ).json()
        assert then["data"][part[1:]] == claims[number]
    history = services.get(f"references/variable/{key}/history", project_id="parcels", values=True).json()
    assert [each["after"][part[1:]] for each in history["versions"][:3]] == list(reversed(claims))
    prompt = services.context("zzz")
    assert f"<reference>{rendering}</reference>" in prompt
    assert claims[1] not in prompt
