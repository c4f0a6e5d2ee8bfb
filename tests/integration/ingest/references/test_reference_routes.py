"""References over HTTP: no op is lost, none is applied twice, and a refused one appends nothing."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from starlette.testclient import TestClient

from events.platform.database import Connection
from events.references.kinds.registry import BUILT_IN
from events.references.owners import stream_of
from events.references.reference_log import lock
from events.types.references import ReferenceName
from events.types.tenancy import DEFAULT_TENANT, storage_id
from projectors.cards.projector import CardsProjector
from projectors.generations.digest import digest_of
from projectors.references import ReferencesProjector
from tests.support.projectors.folding import count, fold_live, rebuild
from tests.support.waiting import eventually


def create(write: TestClient, kind: str = "todo_list", key: str = "groceries", **more: Any) -> dict[str, Any]:
    answer = write.post(f"/v1/references/{kind}", json={"user_id": "ada", "key": key, **more})
    assert answer.status_code == 201, answer.text
    found: dict[str, Any] = answer.json()
    return found


def patch(
    write: TestClient,
    op: str,
    kind: str = "todo_list",
    key: str = "groceries",
    headers: dict[str, str] | None = None,
    **more: Any,
) -> Any:
    return write.patch(
        f"/v1/references/{kind}/{key}", json={"user_id": "ada", "op": op, **more}, headers=headers
    )


def test_a_list_is_created_and_changed_and_told(write: TestClient) -> None:
    first = create(write)
    assert (first["version"], first["rendering"], first["tier"]) == (1, "groceries: (empty)", "session")
    added = patch(write, "add", text="oat milk").json()
    item = added["data"]["items"][0]["id"]
    done = patch(write, "mark_done", item_id=item)
    assert done.json()["rendering"] == "groceries: [✓] oat milk"
    assert (done.json()["version"], done.headers["etag"]) == (3, '"3"')
    assert patch(write, "mark_done", item_id=item).json()["version"] == 3


def test_a_second_creation_shows_what_is_there(write: TestClient) -> None:
    create(write)
    answer = write.post("/v1/references/todo_list", json={"user_id": "ada", "key": "groceries"})
    assert (answer.status_code, answer.json()["current"]["version"]) == (409, 1)
    assert create(write, project_id="garden")["project_id"] == "garden"


def test_given_data_get_ids_and_are_held_to_the_schema(write: TestClient) -> None:
    found = create(write, data={"items": [{"text": "figs"}, {"text": "dates", "done": True}]})
    assert found["rendering"] == "groceries: [ ] figs · [✓] dates"
    answer = write.post(
        "/v1/references/todo_list", json={"user_id": "ada", "key": "other", "data": {"items": [{"text": 5}]}}
    )
    assert (answer.status_code, answer.json()["field"]) == (422, "data/items/0/text")


def test_an_expected_version_guards_a_change_unless_the_wanted_state_holds(write: TestClient) -> None:
    create(write)
    item = patch(write, "add", text="soap").json()["data"]["items"][0]["id"]
    patch(write, "mark_done", item_id=item)
    late = patch(write, "update", item_id=item, text="black soap", headers={"if-match": '"2"'})
    assert (late.status_code, late.json()["current"]["version"]) == (409, 3)
    held = patch(write, "mark_done", item_id=item, expected_version=2)
    assert (held.status_code, held.json()["version"]) == (200, 3)
    assert patch(write, "update", item_id=item, text="black soap", expected_version=3).json()["version"] == 4


def test_a_repeat_of_a_command_that_changed_nothing_undoes_no_later_one(write: TestClient) -> None:
    create(write)
    patch(write, "add", text="yeast", item_id="a")
    patch(write, "mark_done", item_id="a")
    key = {"idempotency-key": "twice"}
    first = patch(write, "mark_done", item_id="a", headers=key).json()
    patch(write, "reopen", item_id="a")
    again = patch(write, "mark_done", item_id="a", headers=key).json()
    assert {**again, "token": 0} == {**first, "token": 0}
    other = patch(write, "remove", item_id="a", headers=key)
    assert (other.status_code, other.json()["field"]) == (422, "Idempotency-Key")
    assert patch(write, "reopen", item_id="a").json()["version"] == 4


GIVEN = {"key": "fruit", "data": {"items": [{"text": "figs"}, {"text": "dates", "done": True}]}}


@pytest.mark.parametrize(
    ("where", "first", "others"),
    [
        (
            "",
            GIVEN,
            [
                {**GIVEN, "data": {"items": [{"text": "figs"}, {"text": "dates"}]}},
                {**GIVEN, "data": {"items": [{"text": "figs"}]}},
                {**GIVEN, "data": None},
                {**GIVEN, "tier": "pinned"},
            ],
        ),
        ("/tier", {"tier": "pinned"}, [{"tier": "session"}]),
        ("/restore", {"version": 1}, [{"version": 2}]),
        ("/archive", {}, []),
    ],
    ids=["create", "tier", "restore", "archive"],
)
def test_a_key_of_another_command_is_refused(
    write: TestClient, connection: Connection, where: str, first: dict[str, Any], others: list[dict[str, Any]]
) -> None:
    create(write)
    patch(write, "add", text="tea")
    headers = {"idempotency-key": "k"}

    def sent(where: str, body: dict[str, Any]) -> Any:
        path = f"/v1/references/todo_list{where and '/groceries' + where}"
        return write.post(path, json={"user_id": "ada", **body}, headers=headers)

    done, again = sent(where, first), sent(where, first)
    assert done.status_code < 300, done.text
    assert {**again.json(), "token": 0} == {**done.json(), "token": 0}
    before = count(connection, "log.events")
    refused = [(where, each) for each in others]
    refused += [(each, {}) for each in ("/archive", "/restore") if where and each != where]
    for place, body in refused:
        other = sent(place, body)
        assert (other.status_code, other.json().get("field")) == (422, "Idempotency-Key"), body
    assert count(connection, "log.events") == before


def test_a_key_of_another_move_is_refused(write: TestClient) -> None:
    create(write)
    create(write, project_id="garden")
    headers = {"idempotency-key": "k"}

    def sent(source: str | None) -> Any:
        body = {"user_id": "ada", "project_id": source, "to_project_id": "house"}
        return write.post("/v1/references/todo_list/groceries/move", json=body, headers=headers)

    assert [sent(None).status_code, sent(None).status_code] == [200, 200]
    other = sent("garden")
    assert (other.status_code, other.json()["field"]) == (422, "Idempotency-Key")


def test_several_ops_in_one_request_are_one_version_or_none(
    write: TestClient, connection: Connection
) -> None:
    create(write)
    ops = [{"op": "add", "text": "oat milk", "item_id": "milk"}, {"op": "add", "text": "rye flour"}]
    key = {"idempotency-key": "two"}
    added = patch(write, "batch", ops=ops, headers=key).json()
    assert (added["version"], added["rendering"]) == (2, "groceries: [ ] oat milk · [ ] rye flour")
    before = count(connection, "log.events")
    assert patch(write, "batch", ops=ops, headers=key).json()["data"] == added["data"]
    other = patch(write, "batch", ops=ops[:1], headers=key)
    assert (other.status_code, other.json()["field"]) == (422, "Idempotency-Key")
    bad = patch(
        write, "batch", ops=[{"op": "mark_done", "item_id": "milk"}, {"op": "remove", "item_id": "tea"}]
    )
    assert (bad.status_code, bad.json()["field"]) == (422, "ops/1/item_id")
    assert count(connection, "log.events") == before


def test_an_archived_reference_takes_no_op_until_a_version_is_restored(write: TestClient) -> None:
    create(write)
    patch(write, "add", text="rice")
    patch(write, "clear")
    path = "/v1/references/todo_list/groceries"
    assert write.post(f"{path}/archive", json={"user_id": "ada"}).json()["archived"] is True
    assert patch(write, "add", text="x").status_code == 409
    never = write.post(f"{path}/restore", json={"user_id": "ada", "version": 99})
    assert (never.status_code, never.json()["field"]) == (422, "version")
    back = write.post(f"{path}/restore", json={"user_id": "ada", "version": 2}).json()
    assert (back["archived"], back["rendering"]) == (False, "groceries: [ ] rice")


def test_fifty_additions_at_once_keep_fifty_items(write: TestClient, database: str) -> None:
    create(write)
    with ThreadPoolExecutor(16) as many:
        answers = list(many.map(lambda n: patch(write, "add", text=f"item {n}"), range(50)))
    assert {answer.status_code for answer in answers} == {200}
    last = patch(write, "mark_done", item_id=answers[0].json()["data"]["items"][0]["id"]).json()
    assert (last["version"], len(last["data"]["items"])) == (52, 50)
    fold_live(database, ReferencesProjector())
    assert rebuild(database, ReferencesProjector()).events >= 52


@pytest.mark.parametrize(("second", "statuses"), [("1", [200, 409]), ("2", [200, 200])])
def test_of_two_changes_of_one_item_at_once_the_second_is_refused(
    write: TestClient, connection: Connection, second: str, statuses: list[int]
) -> None:
    create(write)
    patch(write, "add", text="rice", item_id="1")
    patch(write, "add", text="peas", item_id="2")
    stream = stream_of(ReferenceName(kind="todo_list", key="groceries"))
    with ThreadPoolExecutor(2) as many:
        with connection.transaction():
            lock(connection, storage_id(DEFAULT_TENANT, "ada"), stream)
            answers = [
                many.submit(patch, write, "update", item_id=item, text=text)
                for item, text in (("1", "brown rice"), (second, "white rice"))
            ]
            # Both commands have read the present value, and wait for the stream.
            waiting = "pg_locks WHERE locktype = 'advisory' AND NOT granted"
            eventually(lambda: count(connection, waiting) == len(answers))
        done = sorted((each.result() for each in answers), key=lambda each: int(each.status_code))
    assert [each.status_code for each in done] == statuses
    if second == "1":
        assert (done[1].json()["field"], done[1].json()["current"]["version"]) == ("item_id", 4)


def test_a_team_is_seen_by_its_members_alone(write: TestClient) -> None:
    member = "/v1/teams/kitchen/members"
    assert write.put(f"{member}/eve", json={"user_id": "ada"}).status_code == 404
    assert write.put(f"{member}/ada", json={"user_id": "ada"}).json()["members"] == ["ada"]
    assert write.put(f"{member}/bo", json={"user_id": "ada"}).json()["members"] == ["ada", "bo"]
    create(write, team_id="kitchen")
    path = "/v1/references/todo_list/groceries"
    body = {"op": "add", "text": "pans", "team_id": "kitchen"}
    assert write.patch(path, json={"user_id": "bo", **body}).status_code == 200
    missing = write.patch(path, json={"user_id": "bo", **body, "team_id": "other"})
    theirs = write.patch(path, json={"user_id": "eve", **body})
    assert (theirs.status_code, theirs.json()) == (404, missing.json())
    write.delete(f"{member}/bo", params={"user_id": "ada"})
    assert write.patch(path, json={"user_id": "bo", **body}).status_code == 404


def test_a_reference_moves_between_scopes_by_an_event(write: TestClient) -> None:
    create(write)
    patch(write, "add", text="nails")
    path = "/v1/references/todo_list/groceries"
    moved = write.post(f"{path}/move", json={"user_id": "ada", "to_project_id": "shed"}).json()
    assert (moved["project_id"], moved["rendering"]) == ("shed", "groceries: [ ] nails")
    assert patch(write, "add", text="x").status_code == 404
    assert patch(write, "add", text="screws", project_id="shed").status_code == 200
    assert create(write)["version"] > 1


@pytest.mark.parametrize("away_before", [False, True])
def test_a_moved_reference_keeps_its_versions(
    write: TestClient, read: TestClient, connection: Connection, away_before: bool
) -> None:
    for member in ("ada", "bo"):
        write.put(f"/v1/teams/kitchen/members/{member}", json={"user_id": "ada"})
    path, team = "/v1/references/todo_list/groceries", {"user_id": "bo", "team_id": "kitchen"}
    if away_before:
        create(write, team_id="kitchen")
        write.post(f"{path}/move", json=team | {"to_project_id": "elsewhere"})
    create(write)
    patch(write, "add", text="nails", item_id="n")
    patch(write, "add", text="screws", item_id="s")
    patch(write, "remove", item_id="n")
    write.post(f"{path}/restore", json={"user_id": "ada", "version": 3})
    patch(write, "clear")
    moved = write.post(f"{path}/move", json={"user_id": "ada", "to_team_id": "kitchen"}).json()
    assert (moved["team_id"], moved["data"]["items"]) == ("kitchen", [])
    told = read.get(f"{path}/history", params=team | {"values": True}).json()["versions"]
    ops = [each["op"] and each["op"]["op"] for each in told]
    assert ops[:7] == ["move", "clear", "restore", "remove", "add", "add", None]
    assert (told[1]["actor"], told[0]["version"]) == ("user/ada", moved["version"])
    assert [item["text"] for item in told[4]["after"]["items"]] == ["nails", "screws"]
    wanted = told[4]["version"]
    assert told[2]["op"]["version"] == wanted
    then = read.get(path, params=team | {"version": wanted}).json()
    assert then["rendering"] == "groceries: [ ] nails · [ ] screws"
    assert read.get(path, params=team | {"as_of": told[4]["at"]}).json()["data"] == then["data"]
    back = write.post(f"{path}/restore", json=team | {"version": wanted}).json()
    assert back["data"] == then["data"]
    never = write.post(f"{path}/restore", json=team | {"version": 99})
    assert (never.status_code, never.json()["field"]) == (422, "version")
    for projector in (CardsProjector(), ReferencesProjector()):
        fold_live(connection, projector, batch=3)
        live = digest_of(connection, projector, projector.name)
        rebuild(connection, projector)
        assert digest_of(connection, projector, projector.name) == live
    kept = connection.execute(
        "SELECT content FROM cards.cards WHERE kind = 'reference' AND title = 'groceries'"
    )
    expected = {("groceries: [ ] nails · [ ] screws",)} | (
        {("groceries: (empty)",)} if away_before else set()
    )
    assert {*kept.fetchall()} == expected


def test_a_declared_kind_is_used_like_a_built_in_one(write: TestClient) -> None:
    schema = {"type": "object", "properties": {"serves": {"type": "integer"}}}
    declared = write.put("/v1/reference-kinds/recipe", json={"schema": schema, "initial": {"serves": 2}})
    assert declared.json() == {"kind": "recipe", "changed": True}
    assert create(write, "recipe", "soup")["data"] == {"serves": 2}
    wrong = patch(write, "set", "recipe", "soup", path="/serves", value="many")
    assert (wrong.status_code, wrong.json()["field"]) == (422, "data/serves")
    assert (
        patch(write, "set", "recipe", "soup", path="/serves", value=4).json()["rendering"]
        == "soup: serves = 4"
    )
    assert write.put("/v1/reference-kinds/plan", json={"schema": {}}).status_code == 422


def test_every_version_is_the_reducer_applied_in_memory(write: TestClient) -> None:
    create(write)
    kind = BUILT_IN["todo_list"]
    data = kind.initial()
    ops: list[dict[str, Any]] = [
        {"op": "add", "text": "a", "item_id": "1"},
        {"op": "add", "text": "b", "item_id": "2", "due": "2026-06-01"},
        {"op": "reorder", "ids": ["2"]},
        {"op": "mark_done", "item_id": "1"},
        {"op": "remove", "item_id": "2"},
    ]
    for op in ops:
        name = op["op"]
        answer = patch(write, name, **{k: v for k, v in op.items() if k != "op"}).json()
        data = kind.apply(data, kind.complete(op, at=answer["updated_at"], new_id="-"))
        assert [each["text"] for each in answer["data"]["items"]] == [each["text"] for each in data["items"]]
        assert answer["rendering"] == f"groceries: {kind.render(data)}"
