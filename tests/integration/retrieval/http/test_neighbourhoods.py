"""The cards around a card or a name over HTTP: in rings, and within the bounds of cards and bytes."""

from typing import Any

from events.types.relations import CardsConnected
from tests.support.conversing import Memory, day


def _connected(memory: Memory, newer: Any, older: Any) -> None:
    memory.say(CardsConnected(from_card=newer, to_card=older, predicate="expands", reason="more of it"))


def _around(memory: Memory, path: str, **query: Any) -> dict[str, Any]:
    answer = memory.read.get(path, params={"user_id": memory.user, **query})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def test_the_rings_around_a_card_and_around_a_name(memory: Memory) -> None:
    cards = [
        memory.event(f"{word} went for a walk", day(n)) for n, word in enumerate(("Rex", "Bo", "Kit", "Ann"))
    ]
    for newer, older in zip(cards[1:], cards, strict=False):
        _connected(memory, newer, older)
    memory.fold()
    found = _around(memory, f"/v1/cards/{cards[0]}/neighbourhood")
    rings = {each["content"].split()[0]: each["ring"] for each in found["nodes"]}
    assert (rings, found["cut"]) == ({"Rex": 0, "Bo": 1, "Kit": 2}, False)
    assert {(each["from_card"], each["to_card"], each["predicate"]) for each in found["edges"]} == {
        (str(cards[1]), str(cards[0]), "expands"),
        (str(cards[2]), str(cards[1]), "expands"),
    }
    named = _around(memory, "/v1/neighbourhood", about="Bo")
    assert {each["content"].split()[0]: each["ring"] for each in named["nodes"]} == {
        "Bo": 1,
        "Rex": 2,
        "Kit": 2,
    }
    assert _around(memory, "/v1/neighbourhood", about="Zanzibar") == {"nodes": [], "edges": [], "cut": False}


def test_a_neighbourhood_is_bounded_in_cards_and_bytes(memory: Memory) -> None:
    middle = memory.event("Rex", day(0))
    for number in range(320):
        _connected(memory, memory.event(f"{number} {'犬🐕' * 300}", day(1)), middle)
    memory.fold()
    path = f"/v1/cards/{middle}/neighbourhood"
    answer = memory.read.get(path, params={"user_id": memory.user})
    assert len(answer.content) <= 200_000
    found = answer.json()
    assert 50 < len(found["nodes"]) <= 300
    assert (found["nodes"][0]["ring"], found["cut"]) == (0, True)
    assert len(found["edges"]) == len(found["nodes"]) - 1
    few = _around(memory, path, limit=5)
    assert (len(few["nodes"]), few["cut"]) == (5, True)
