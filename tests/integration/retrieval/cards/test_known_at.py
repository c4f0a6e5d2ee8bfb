"""A recall at a transaction time answers as if the log ended at that instant."""

from datetime import datetime, timedelta
from typing import Any

from events.types.modes import CardReclassified
from tests.support.conversing import Memory, day, recorded


def test_a_fact_is_as_it_was_known(memory: Memory) -> None:
    before = recorded_nothing()
    taipei = memory.state("residence", "Taipei", day(0))
    first = recorded(memory)
    memory.state("residence", "Kaohsiung", day(10), announced=True)
    second = recorded(memory)
    memory.state("residence", "Tainan", day(5), announced=True)  # told late
    third = recorded(memory)
    memory.fold()

    def lives(known_at: str, **more: Any) -> list[tuple[str, str | None]]:
        cards = memory.cards(known_at=known_at, status="*", **more)
        ordered = sorted(cards, key=lambda card: card["effective_at"])
        return [(card["value"], card["superseded_at"] and card["superseded_at"][:10]) for card in ordered]

    assert lives(before) == []
    assert lives(first) == [("Taipei", None)]
    assert lives(second) == [("Taipei", "2026-01-15"), ("Kaohsiung", None)]
    assert lives(third) == [("Taipei", "2026-01-10"), ("Tainan", "2026-01-15"), ("Kaohsiung", None)]
    assert memory.contents(known_at=first) == ["residence is Taipei"]
    # Both together: what we believed then about what was true on the seventh day.
    assert memory.contents(known_at=second, as_of=day(7).isoformat()) == ["residence is Taipei"]
    assert memory.contents(known_at=third, as_of=day(7).isoformat()) == ["residence is Tainan"]
    # The same holds for everything that belongs to a card.
    assert memory.get(f"cards/{taipei}/latest", known_at=first)["card"]["value"] == "Taipei"
    assert memory.get(f"cards/{taipei}/latest", known_at=second)["card"]["value"] == "Kaohsiung"
    assert memory.get(f"cards/{taipei}/relations", known_at=first)["relations"] == []
    [edge] = memory.get(f"cards/{taipei}/relations", known_at=second)["relations"]
    assert (edge["predicate"], edge["other"]["value"]) == ("update", "Kaohsiung")
    [edge] = memory.get(f"cards/{taipei}/relations", known_at=third)["relations"]
    assert edge["other"]["value"] == "Tainan"
    assert len(memory.get(f"cards/{taipei}/history", known_at=second)["cards"]) == 2


def test_a_correction_was_believed_until_it_was_corrected(memory: Memory) -> None:
    memory.state("residence", "Taipei", day(0), session_id="one")
    believed = recorded(memory)
    memory.state(
        "residence",
        "Kaohsiung",
        day(0) + timedelta(minutes=1),
        session_id="one",
        statement="corrected",
        replaces="Taipei",
    )
    memory.fold()
    assert memory.contents(known_at=believed) == ["residence is Taipei"]
    assert memory.contents() == ["residence is Kaohsiung"]


def test_what_is_said_again_was_not_verified_before(memory: Memory) -> None:
    memory.state("likes", "tea", day(0), cardinality="multi_value")
    memory.knowledge("JWT", "a token", day(1))
    memory.event("breakfast", day(1))
    then = recorded(memory)
    memory.state("likes", "tea", day(50), cardinality="multi_value")
    memory.knowledge("JWT", "a signed, stateless token", day(51))
    memory.event("lunch", day(51))
    memory.fold()
    known = {card["kind"]: card for card in memory.cards(known_at=then)}
    assert len(known) == 3
    assert (known["state"]["mentions"], known["state"]["last_verified"][:10]) == (1, "2026-01-05")
    assert known["knowledge"]["definition"] == "a token"
    assert known["event"]["content"] == "breakfast"
    assert known["state"]["source_span"] is None


def test_what_was_confirmed_or_moved_later_was_not_so_before(memory: Memory) -> None:
    made = {
        memory.state("pet", "a gecko", day(0)): "state",
        memory.event("I repotted the fern", day(1)): "event",
        memory.knowledge("Baobab", "a tree", day(2)): "knowledge",
    }

    def remark(mode: str, at: datetime) -> dict[str, Any]:
        memory.fold()
        for card, kind in made.items():
            memory.post(f"cards/{card}/verify", verified_at=at.isoformat())
            given = CardReclassified(card_id=card, kind=kind, positions=(1,), mode=mode, by="ada")  # type: ignore[arg-type]
            memory.say(given)
        memory.fold()
        return {card["card_id"]: card for card in memory.cards()}

    before, then = remark("code", day(20)), recorded(memory)
    assert {(each["last_verified"][:10], each["mode"]) for each in before.values()} == {
        ("2026-01-25", "code")
    }
    after = remark("journal", day(30))
    assert {each["mode"] for each in after.values()} == {"journal"}
    for known in (
        *memory.cards(known_at=then),
        *(memory.get(f"cards/{card}", known_at=then) for card in made),
    ):
        assert before[known["card_id"]].items() <= known.items()


def test_nothing_of_it_shows_when_all_is_known(memory: Memory) -> None:
    for number, city in enumerate(("Rome", "Milan", "Turin")):
        memory.state("residence", city, day(10 * number), announced=True)
        memory.event(f"trip {number}", day(number))
        memory.knowledge("JWT", f"a token, as told {number}", day(number))
    memory.fold()
    now = recorded(memory)
    assert memory.cards(known_at=now, status="*") == memory.cards(status="*")
    for axis in ("kind", "value", "time", "tags", "predicate"):
        grouped = memory.get("cards/aggregate", group_by=axis, status="*")
        assert memory.get("cards/aggregate", group_by=axis, status="*", known_at=now) == grouped


def recorded_nothing() -> str:
    return "2020-01-01T00:00:00+00:00"
