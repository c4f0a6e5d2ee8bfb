"""The seven predicates of the essay on statements, each in its example and with what it means to a reader."""

from __future__ import annotations

from typing import Any

from tests.support.person import Person


def said(person: Person, words: str, at: str) -> dict[str, Any]:
    person.say(words, said_at=f"{at}T09:00:00Z", session_id=at)
    return card(person, words)


def card(person: Person, words: str) -> dict[str, Any]:
    [found] = [each for each in person.cards(kind="event", status="all") if each["content"] == words]
    return found


def relate(person: Person, newer: dict[str, Any], predicate: str, older: dict[str, Any]) -> None:
    ends = {"from_card": newer["card_id"], "to_card": older["card_id"]}
    body: dict[str, Any] = {"predicate": predicate, "reason": "told so", **ends}
    if predicate == "retracts":
        person.write("relations", status=403, agent_id="curator", **body)
        person.write("relations", status=202, **body)
    else:
        person.write("relations", status=202, agent_id="curator", **body)
    person.stack.wait()


def related(person: Person, predicate: str, older: str, newer: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Says both sentences, relates their cards, and returns the older and the newer card."""
    relate(person, said(person, newer, "2026-03-10"), predicate, said(person, older, "2026-01-10"))
    return card(person, older), card(person, newer)


def test_changes_form_a_chain_that_ends_in_what_is_true_now(person: Person) -> None:
    pet, dog = related(person, "expands", "Alex has a pet at home.", "The pet of Alex is a dog, Rex.")
    died = said(person, "Rex passed away in his sleep.", "2026-05-10")
    relate(person, died, "state_change", dog)
    assert person.read(f"cards/{dog['card_id']}/latest")["card"]["card_id"] == died["card_id"]
    history = person.read(f"cards/{pet['card_id']}/history")["cards"]
    assert [each["card_id"] for each in history] == [each["card_id"] for each in (pet, dog, died)]
    [edge] = [
        each for each in person.read(f"cards/{died['card_id']}/relations")["relations"]
        if each["predicate"] == "state_change"
    ]  # fmt: skip
    assert (edge["reason"], edge["confidence"]) == ("told so", 1.0)
    assert edge["event_id"]
    assert "curator" in edge["actor"]
