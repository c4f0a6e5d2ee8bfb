"""Facts that change over months, asked about over HTTP: current values, past values and their history."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from tests.support.person import Person
from tests.support.stack import Running
from tests.support.tables import examples


@dataclass(frozen=True)
class Friend(Person):
    """A user who states things over time, each day in a session of its own."""

    zone: str = "UTC"

    def tells(self, *told: tuple[str, str]) -> Friend:
        turns = [
            {
                "user_id": self.user, "text": text, "said_at": f"{day}T10:00:00Z", "session_id": day,
                "timezone": self.zone, "turn_id": f"{day} {text}",
            }
            for day, text in told
        ]  # fmt: skip
        self.stack.push(*turns)
        self.stack.wait()
        return self

    def values(self, question: str, **more: Any) -> list[str]:
        """Returns the values of the states in a recall, best first."""
        return [card["value"] for card in self.recall(question, **more) if card["kind"] == "state"]

    def contents(self, question: str, **more: Any) -> list[str]:
        return [card["content"].rstrip(".") for card in self.recall(question, **more)]

    def post(self, path: str, **body: Any) -> str:
        return str(self.write(path, status=202, **body)["token"])

    def relates(self, newer: dict[str, Any], older: dict[str, Any], predicate: str, reason: str) -> str:
        return self.post(
            "relations", from_card=newer["card_id"], to_card=older["card_id"], predicate=predicate,
            reason=reason, agent_id="curator",
        )  # fmt: skip

    def card(self, start: str, **query: Any) -> dict[str, Any]:
        """Returns the card whose content begins so. A state comes before the turn it came from."""
        cards = self.cards(status="*", limit=500, **query)
        [card, *_] = sorted(
            (card for card in cards if card["content"].startswith(start)),
            key=lambda card: (card["kind"] != "state", bool(card.get("episode"))),
        )
        return dict(card)


NOW = "2025-11-01T12:00:00Z"


def test_rex(stack: Running) -> None:
    alex = Friend(stack, "story rex").tells(
        ("2024-01-10", "Alex has a pet."),
        ("2024-02-10", "Alex has a dog named Rex."),
        ("2025-10-20", "Rex died last week."),
    )
    pet, dog, died = (
        alex.card(start) for start in ("Alex has a pet", "Alex has a dog named Rex", "Rex died")
    )
    alex.relates(dog, pet, "expands", "the pet is a dog, Rex")
    token = alex.relates(died, dog, "state_change", "Rex died")
    today: dict[str, Any] = {"as_of": NOW, "wait_for": token}

    has = alex.recall("Does Alex have a dog?", **today)
    assert has[0]["content"].startswith("Rex died")
    assert dog["card_id"] not in [
        card["card_id"] for card in has
    ]  # a past value does not answer a question about the present

    had = alex.recall("Did Alex have a dog last March?", **today)
    assert dog["card_id"] in [card["card_id"] for card in had]
    assert alex.recall("Does Alex have a dog?", as_of="2025-03-15T00:00:00Z")[0]["value"] == "Rex"
    assert "Rex" not in str(alex.recall("Does Alex have a dog?", as_of="2024-01-31T00:00:00Z"))

    assert any("Rex" in content for content in alex.contents("What was the dog's name?", **today)[:2])

    history = alex.contents("Alex's pet history", **today)
    assert {"Alex has a pet", "Alex has a dog named Rex", "Rex died"} <= set(history)
    walked = alex.read(f"cards/{pet['card_id']}/history")["cards"]
    assert [card["card_id"] for card in walked] == [card["card_id"] for card in (pet, dog, died)]
    assert alex.read(f"cards/{dog['card_id']}/latest")["card"]["card_id"] == died["card_id"]


@dataclass
class Change:
    """A fact, its change twenty days later, and a question about it."""

    before: str
    after: str
    question: str
    old: str
    new: str
    ever: str


CHANGES = {
    "browser": Change(
        "My browser is Firefox.", "I switched to Chrome today.", "Which browser do I use?", "Firefox", "Chrome",
        "Which browsers have I ever used?",
    ),
    "employer zh": Change(
        "我在台積電上班。", "我換工作了,現在在聯發科上班。", "我在哪裡上班?", "台積電", "聯發科", "我曾經在哪裡上班?"
    ),
    "residence": Change(
        "I live in Taipei.", "I moved to Kaohsiung.", "Where do I live?", "Taipei", "Kaohsiung",
        "Where have I ever lived?",
    ),
    "release zh": Change(
        "發布日期是七月。", "發布日期改到八月。", "發布日期是什麼時候?", "七月", "八月", "發布日期有什麼變化?"
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_a_fact_that_changed(stack: Running, name: str) -> None:
    change = CHANGES[name]
    user = Friend(stack, f"story {name}").tells(("2025-05-01", change.before), ("2025-05-21", change.after))
    assert user.values(change.question)[0] == change.new
    assert change.old not in user.values(change.question)
    assert user.values(change.question, as_of="2025-05-11T00:00:00Z")[0] == change.old
    assert {change.old, change.new} <= set(user.values(change.ever, k=10))
    old = next(card for card in user.cards(kind="state", status="superseded"))
    assert (old["value"], old["superseded_at"][:10]) == (change.old, "2025-05-21")
    assert user.read(f"cards/{old['card_id']}/latest")["card"]["value"] == change.new


@examples
def test_a_stack_accumulates_and_drops(stack: Running, told: tuple[str, ...], question: str) -> None:
    user = Friend(stack, f"story stack {question}").tells(
        *((f"2025-05-{day:02}", text) for day, text in zip((1, 8, 15), told, strict=True))
    )
    assert sorted(user.values(question)) == ["PostgreSQL", "Redis"]
    assert "MySQL" in user.values(question, as_of="2025-05-04T00:00:00Z")
    current = user.cards(concept_key="tech_stack")
    assert sorted(card["value"] for card in current) == ["PostgreSQL", "Redis"]
