"""Facts that change over months, asked about over HTTP: current values, past values and their history."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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


@examples
def test_a_fact_that_changed(
    stack: Running, before: str, after: str, question: str, old: str, new: str, ever: str
) -> None:
    user = Friend(stack, f"story {new}").tells(("2025-05-01", before), ("2025-05-21", after))
    assert user.values(question)[0] == new
    assert old not in user.values(question)
    assert user.values(question, as_of="2025-05-11T00:00:00Z")[0] == old
    assert {old, new} <= set(user.values(ever, k=10))
    was = next(card for card in user.cards(kind="state", status="superseded"))
    assert (was["value"], was["superseded_at"][:10]) == (old, "2025-05-21")
    assert user.read(f"cards/{was['card_id']}/latest")["card"]["value"] == new


@examples
def test_a_stack_accumulates_and_drops(stack: Running, told: tuple[str, ...], question: str) -> None:
    user = Friend(stack, f"story stack {question}").tells(
        *((f"2025-05-{day:02}", text) for day, text in zip((1, 8, 15), told, strict=True))
    )
    assert sorted(user.values(question)) == ["PostgreSQL", "Redis"]
    assert "MySQL" in user.values(question, as_of="2025-05-04T00:00:00Z")
    current = user.cards(concept_key="tech_stack")
    assert sorted(card["value"] for card in current) == ["PostgreSQL", "Redis"]
