"""The examples of the note on references: a running list has one value at a time, and its past stays."""

from __future__ import annotations

import itertools
from datetime import UTC, datetime
from typing import Any

from tests.support.person import Person
from tests.support.web import WEB


def test_a_question_about_the_past_sees_the_list_of_then(person: Person) -> None:
    def op(**change: Any) -> Any:
        return person.write("references/todo_list/today", method="PATCH", **change)

    person.write("references/todo_list", key="today", tier="pinned", status=201)
    op(op="add", text="buy milk", item_id="milk")
    then = datetime.now(UTC).isoformat()
    op(op="mark_done", item_id="milk")
    op(op="add", text="fix bug", item_id="bug")
    person.stack.wait()

    def lists(**asked: Any) -> list[str]:
        return [card["content"] for card in person.recall("what is on my todo list?", **asked)]

    now = "today: [✓] buy milk · [ ] fix bug"
    assert lists(kinds=["reference"]) == [now]
    for asked in ({"as_of": then}, {"known_at": then}):
        assert lists(kinds=["reference"], **asked) == ["today: [ ] buy milk"], asked
        prompt = person.context("what is on my todo list?", **asked)["text"]
        assert "[ ] buy milk" in prompt
        assert "fix bug" not in prompt
    assert "fix bug" in person.context("what is on my todo list?")["text"]
    assert lists(kinds=["reference"], as_of="2020-01-01T00:00:00Z") == []


def test_a_turn_of_the_system_makes_no_card_and_the_door_says_so(person: Person) -> None:
    person.say("I live in Oslo.", role="system")
    assert person.read("cards")["cards"] == []
    assert "recorded and makes no card" in WEB.get(f"{person.stack.write_url}/openapi.json").text


def test_a_running_list_is_one_value_with_an_audit_trail(person: Person) -> None:
    path = "references/todo_list/groceries"

    def op(**change: Any) -> Any:
        return person.write(path, method="PATCH", **change)

    person.write("references/todo_list", key="groceries", status=201)
    op(op="add", text="buy milk", item_id="milk")
    op(op="add", text="bread", item_id="bread")
    op(op="mark_done", item_id="milk")
    op(op="update", item_id="bread", text="rye bread")
    op(op="reorder", ids=["bread", "milk"])
    now = person.read(path)
    assert now["rendering"] == "groceries: [ ] rye bread · [✓] buy milk"
    assert [item["id"] for item in now["data"]["items"]] == ["bread", "milk"]

    steps = person.read(f"{path}/history", values="true")["versions"]
    assert [step["version"] for step in steps] == [6, 5, 4, 3, 2, 1]
    assert all(step["before"] == older["after"] for step, older in itertools.pairwise(steps))
    assert person.read(path, version="2")["rendering"] == "groceries: [ ] buy milk"

    person.say("I should probably buy milk tomorrow.")
    assert person.read(path)["version"] == 6
    found = person.recall("what am I working on?", kinds=["reference"])
    assert [card["content"] for card in found] == [now["rendering"]]
    assert f">{now['rendering']}</reference>" in person.context("what's on my list?")["text"]
    op(op="clear")
    assert person.read(path)["data"]["items"] == []


def test_the_stack_of_a_project_is_a_variable(person: Person) -> None:
    path = "references/variable/stack"
    shop: dict[str, Any] = {"project_id": "shop"}
    data = {"database": "Postgres"}
    person.write("references/variable", key="stack", data=data, status=201, **shop)
    for key, value in (("database", "Postgres + pgvector"), ("cache", "Redis")):
        person.write(path, method="PATCH", op="merge", value={key: value}, **shop)
    stack = person.read(path, **shop)
    assert stack["data"] == {"database": "Postgres + pgvector", "cache": "Redis"}
    assert stack["rendering"] == "stack: cache = Redis · database = Postgres + pgvector"
    person.read(path, status=404)
