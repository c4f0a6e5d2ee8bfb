"""The examples of the note on references: a running list has one value at a time, and its past stays."""

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
