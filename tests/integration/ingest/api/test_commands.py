"""Verdicts, relations and verifications over HTTP are checked and appended once. A refused one appends nothing."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from events.types.relations import CardsConnected
from ingest.api.transactions import commanding
from retrieval.export.export import export
from retrieval.export.user_import import import_user
from tests.support.conversing import Memory, day, link, refused
from tests.support.projectors.folding import count

# --- relations


def test_a_relation_is_appended_once_however_often_it_is_sent(memory: Memory) -> None:
    old, new = memory.event("Alex has a pet", day(0)), memory.event("Alex has a dog", day(9))
    memory.fold()
    body = link(new, old, "expands", "a dog is a pet")
    first = memory.post("relations", **body)
    again = memory.post("relations", **body)
    assert (first["duplicate"], again["duplicate"]) == (False, True)
    assert {**again, "duplicate": False} == first
    assert count(memory.connection, "log.events WHERE type = 'CardsConnected'") == 1
    assert memory.post("relations", **body, agent_id="curator")["duplicate"] is False


def test_a_relation_that_cannot_be_is_refused(memory: Memory) -> None:
    old, new = memory.event("a pet", day(0)), memory.event("a dog", day(9))
    others = memory.of("eve").event("a cat", day(1))
    memory.fold()
    body = link(new, old, "expands", "so")
    refused(memory, "relations", 404, "to_card", **{**body, "to_card": str(others)})
    refused(memory, "relations", 404, "from_card", **{**body, "from_card": str(uuid4())})
    refused(memory, "relations", 422, "to_card", **{**body, "to_card": str(new)})
    problem = refused(memory, "relations", 422, "predicate", **{**body, "predicate": "likes"})
    assert all(name in problem["detail"] for name in ("update", "same_as", "affects_state"))
    refused(memory, "relations", 422, "reason", **{**body, "reason": "  "})
    refused(memory, "relations", 422, "reason", **{**body, "reason": "a\0b"})
    refused(memory, "relations", 422, "confidence", **{**body, "confidence": 1.5})
    refused(memory, "relations", 422, "from_card", **{**body, "from_card": "Rex"})
    refused(memory, "relations", 422, "colour", **{**body, "colour": "red"})
    refused(memory, "relations", 422, "user_id", **{**body, "user_id": ""})
    refused(memory.of("eve"), "relations", 404, "from_card", **body)


def test_no_way_leads_back_to_where_it_began(memory: Memory) -> None:
    cards = [str(memory.event(f"note {n}", day(n))) for n in range(3)]
    memory.fold()
    for newer, older, predicate in ((1, 0, "update"), (2, 1, "state_change")):
        memory.post("relations", **link(cards[newer], cards[older], predicate, "newer"))
    memory.fold()
    back: dict[str, Any] = {"from_card": cards[0], "to_card": cards[2], "reason": "back"}
    refused(memory, "relations", 409, "predicate", **back, predicate="update")
    # A relation that forms no chain may go both ways.
    memory.post("relations", **back, predicate="related_to")
    memory.fold()
    memory.post("relations", from_card=cards[2], to_card=cards[0], reason="back", predicate="related_to")


def test_only_a_retraction_changes_a_card(memory: Memory) -> None:
    cards = [memory.state("residence", city, day(n)) for n, city in enumerate(("Rome", "Milan"))]
    memory.fold()
    before = memory.connection.execute("SELECT c::text FROM cards.cards c ORDER BY 1").fetchall()
    for predicate in ("update", "expands", "qualifies", "parent_of", "related_to", "affects_state"):
        memory.post("relations", **link(cards[1], cards[0], predicate, "so"))
    memory.fold()
    assert memory.connection.execute("SELECT c::text FROM cards.cards c ORDER BY 1").fetchall() == before
    assert count(memory.connection, "cards.relations WHERE NOT implied") == 6


def residences(memory: Memory, status: str = "current") -> list[str]:
    memory.fold()
    return [card["value"] for card in memory.get("cards", kind="state", status=status)["cards"]]


def test_a_retraction_holds_until_it_is_withdrawn_and_what_is_said_again_holds_again(memory: Memory) -> None:
    milan, rome = memory.state("residence", "Milan", day(0)), memory.state("residence", "Rome", day(5))
    wrong = memory.event("I never lived in Rome", day(6))
    assert residences(memory) == ["Rome"]
    ends = {"from_card": str(wrong), "to_card": str(rome)}
    body: dict[str, Any] = {**ends, "predicate": "retracts", "reason": "a joke"}
    retraction = memory.post("relations", **body)
    assert residences(memory) == ["Milan"]
    assert residences(memory, "retracted") == ["Rome"]
    problem = memory.post(f"cards/{rome}/verify", answers=409)
    assert (problem["field"], problem["title"]) == ("card_id", "Retracted")

    back = f"relations/{retraction['event_id']}/withdraw"
    withdrawal = memory.post(back, reason="it was true")
    assert memory.post(back, reason="it was true") == {**withdrawal, "duplicate": True}
    assert residences(memory) == ["Rome"]
    memory.post(f"cards/{rome}/verify")
    memory.post(f"relations/{withdrawal['event_id']}/withdraw", reason="it was a joke after all")
    assert residences(memory) == ["Milan"]
    memory.post("relations", **body)
    assert residences(memory) == ["Milan"]

    again = memory.state("residence", "Rome", day(9))
    assert residences(memory) == ["Rome"]
    assert memory.get(f"cards/{again}")["turn_ids"] == ["t-0114"]
    assert memory.get(f"cards/{milan}")["superseded_at"].startswith("2026-01-14")


@pytest.mark.parametrize(
    ("held", "contrary"),
    [("same_as", "retracts"), ("retracts", "update"), ("contradicts", "same_as"), ("expands", "contradicts")],
)
def test_relations_that_contradict_each_other_are_refused(memory: Memory, held: str, contrary: str) -> None:
    old, new = memory.event("Alex has a pet", day(0)), memory.event("Alex has a dog", day(9))
    memory.fold()
    holds = memory.post("relations", **link(new, old, held, "so"))
    for from_card, to_card in ((new, old), (old, new)):
        body = {"from_card": str(from_card), "to_card": str(to_card), "reason": "so"}
        problem = refused(memory, "relations", 409, "predicate", predicate=contrary, **body)
        assert problem["relation_id"] == holds["event_id"]
    memory.post(f"relations/{holds['event_id']}/withdraw", reason="no")
    memory.post("relations", **link(new, old, contrary, "so"))


def test_a_relation_that_an_extractor_made_is_withdrawn(memory: Memory) -> None:
    milan, rome = memory.state("residence", "Milan", day(0)), memory.state("residence", "Rome", day(5))
    wrong = memory.event("I never lived in Rome", day(6))
    link = CardsConnected(from_card=wrong, to_card=rome, predicate="retracts", reason="the words say so")
    extracted = memory.say(link, day(6), actor="extractor")
    assert residences(memory) == ["Milan"]
    memory.post(f"relations/{extracted}/withdraw", reason="it was true")
    assert residences(memory) == ["Rome"]
    assert memory.get(f"cards/{milan}")["superseded_at"].startswith("2026-01")


def test_a_withdrawal_of_nothing_is_refused(memory: Memory) -> None:
    old, new = memory.event("a pet", day(0)), memory.event("a dog", day(9))
    memory.fold()
    made = memory.post("relations", **link(new, old, "expands", "so"))
    refused(memory, f"relations/{uuid4()}/withdraw", 404, "relation_id", reason="so")
    refused(memory.of("eve"), f"relations/{made['event_id']}/withdraw", 404, "relation_id", reason="so")
    refused(memory, f"relations/{old}/withdraw", 404, "relation_id", reason="so")
    refused(memory, f"relations/{made['event_id']}/withdraw", 422, "reason")


def test_the_guards_of_relations_hold_for_a_user_who_was_imported_under_another_name(memory: Memory) -> None:
    said = ("I lent Paolo a ladder", "Paolo borrowed my ladder", "I sold the ladder")
    lent, borrowed, sold = (str(memory.event(words, day(number))) for number, words in enumerate(said))
    memory.fold()
    same = link(borrowed, lent, "same_as", "one loan")
    sale = link(lent, sold, "retracts", "it was lent")
    for each in (same, sale):
        memory.post("relations", **each)
    detail = memory.post("relations", **link(sold, borrowed, "expands", "so"))
    memory.post(f"relations/{detail['event_id']}/withdraw", reason="no")
    import_user(memory.connection, list(export(memory.connection, memory.user)), "alex2")
    memory.fold()
    again = memory.of("alex2")
    found = {card["content"]: card["card_id"] for card in again.cards(status="all")}
    new = dict(zip((lent, borrowed, sold), map(found.__getitem__, said), strict=True))
    assert not new.keys() & set(new.values())
    same, sale = ({name: new.get(value, value) for name, value in each.items()} for each in (same, sale))
    made = [again.post("relations", **each) for each in (same, sale)]
    assert [each["duplicate"] for each in made] == [True, True]
    refused(again, "relations", 409, "predicate", **same | {"predicate": "contradicts"})
    back = f"relations/{made[1]['event_id']}/withdraw"
    refused(again, back, 403, "relation_id", reason="no", agent_id="helper")
    assert again.post(back, reason="sold after all")["duplicate"] is False
    [[withdrawn], *_] = memory.connection.execute(
        "SELECT event_id FROM log.events WHERE (user_id, type) = (%s, 'ConnectionWithdrawn') ORDER BY position",
        [again.user],
    )
    assert again.post(f"relations/{withdrawn}/withdraw", reason="yes")["duplicate"] is False


# --- verifications


def test_a_verification_is_appended_once(memory: Memory) -> None:
    card = memory.state("residence", "Rome", day(0))
    memory.fold()
    at: dict[str, Any] = {"verified_at": day(100).isoformat(), "by": "Alex"}
    first = memory.post(f"cards/{card}/verify", **at)
    assert memory.post(f"cards/{card}/verify", **at) == {**first, "duplicate": True}
    named = memory.post(f"cards/{card}/verify", request_id="r1")
    assert memory.post(f"cards/{card}/verify", request_id="r1") == {**named, "duplicate": True}
    assert count(memory.connection, "log.events WHERE type = 'CardVerified'") == 2


def test_a_verification_that_cannot_be_is_refused(memory: Memory) -> None:
    card = memory.state("residence", "Rome", day(0))
    memory.fold()
    refused(memory, f"cards/{uuid4()}/verify", 404, "card_id")
    refused(memory.of("eve"), f"cards/{card}/verify", 404, "card_id")
    refused(memory, "cards/Rome/verify", 422, "card_id")
    refused(memory, f"cards/{card}/verify", 422, "verified_at", verified_at="2026-02-30T00:00:00Z")
    refused(memory, f"cards/{card}/verify", 422, "verified_at", verified_at="2199-01-01T00:00:00Z")
    refused(memory, f"cards/{card}/verify", 422, "verified_at", verified_at=7)
    refused(memory, f"cards/{card}/verify", 422, "by", by="")


# --- verdicts


def test_a_verdict_that_cannot_be_is_refused(memory: Memory) -> None:
    unknown = f"arbitrations/{uuid4()}/verdict"
    refused(memory, unknown, 404, "arbitration_id", verdict="keep_old")
    problem = refused(memory, unknown, 422, "verdict", verdict="toss a coin")
    assert all(name in problem["detail"] for name in ("keep_old", "accept_new", "coexist"))
    refused(memory, unknown, 422, "verdict")
    refused(memory, "arbitrations/one/verdict", 422, "arbitration_id", verdict="keep_old")


def contested(memory: Memory) -> UUID:
    """An open arbitration: a fact that held for months, contradicted in passing."""
    memory.state("residence", "Rome", day(0))
    new = memory.state("residence", "Milan", day(90))
    memory.fold()
    [found] = memory.get("arbitrations")["arbitrations"]
    assert found["arbitration_id"] == str(new)
    return new


def test_a_verdict_is_given_once(memory: Memory) -> None:
    arbitration = contested(memory)
    path = f"arbitrations/{arbitration}/verdict"
    refused(memory.of("eve"), path, 404, "arbitration_id", verdict="accept_new")
    first = memory.post(path, verdict="accept_new", reason="asked her", by="Alex")
    # A repeated verdict gets the same answer before and after the fold. Another verdict comes too late.
    assert memory.post(path, verdict="accept_new") == {**first, "duplicate": True}
    assert refused(memory, path, 409, "arbitration_id", verdict="keep_old")["settled"] == "accept_new"
    memory.fold()
    assert memory.post(path, verdict="accept_new") == {**first, "duplicate": True}
    assert refused(memory, path, 409, "arbitration_id", verdict="keep_old")["settled"] == "accept_new"
    assert memory.get("arbitrations")["arbitrations"] == []
    [settled] = memory.get("arbitrations", status="accept_new")["arbitrations"]
    assert (settled["old_value"], settled["new_value"]) == ("Rome", "Milan")
    assert memory.contents() == ["residence is Milan"]
    assert settled["settled_at"] == first["recorded_at"]
    assert settled["said_at"] < settled["opened_at"] < settled["settled_at"]

    def listed(**then: Any) -> list[tuple[str, str | None]]:
        found = memory.get("arbitrations", status="*", **then)["arbitrations"]
        return [(each["status"], each["settled_at"]) for each in found]

    assert listed(known_at=settled["opened_at"]) == [("open", None)]
    assert listed(known_at=settled["settled_at"]) == [("accept_new", settled["settled_at"])]
    assert listed(known_at=day(90).isoformat()) == []
    assert listed(as_of=day(89).isoformat()) == []
    assert listed(as_of=day(90).isoformat()) == listed()


def test_a_command_is_done_when_its_announcement_is_lost(memory: Memory) -> None:
    # PostgreSQL refuses a notification of this length.
    with commanding(memory.connection, memory.user, types=("x" * 9_000,)):
        memory.state("residence", "Rome", day(0))
    assert count(memory.connection, "log.events") == 1
