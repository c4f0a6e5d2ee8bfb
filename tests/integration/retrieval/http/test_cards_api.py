"""Slices, groups, chains and histories of cards over HTTP."""

from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

from events.types.naming import TagAliased
from events.types.relations import CardsConnected, Predicate
from retrieval.cards.slice import AXES
from tests.support.conversing import START, Memory, day, instant_after, recorded, remembering
from tests.support.projectors.folding import rebuild
from tests.support.tables import rows

# --- slices


def test_every_axis_slices(memory: Memory) -> None:
    names = {
        memory.state("employer", "Acme", day(2), context_layer="work", tags=("work",)): "s",
        memory.event(
            "we shipped", day(3), session_id="one", agent_id="coder", mode="code", importance=9, weight=2.0
        ): "e1",
        memory.event(
            "Rex was walked", day(20), session_id="two", speaker="Mia", entity="Rex", turn_ids=("t9",),
            tags=("pets",), topics=("dogs",), episode=True, sentiment="positive", confidence=0.4,
            provenance="agent_inferred",
        ): "e2",
        memory.knowledge("JWT", "a signed token", day(21), document_id="paper.pdf"): "k",
    }  # fmt: skip
    memory.fold()
    for asked, found in rows(__file__, "test_cards_api.txt"):
        assert " | ".join(sorted(names[_id(card)] for card in memory.cards(**parse_qs(asked)))) == found, (
            asked
        )


def test_a_plus_of_an_offset_may_come_unescaped(memory: Memory) -> None:
    memory.event("breakfast", day(3))
    memory.fold()
    url = f"/v1/cards?user_id=alex&occurred_from={day(3):%Y-%m-%d}T17:00:00+08:00"
    assert [card["content"] for card in memory.read.get(url).json()["cards"]] == ["breakfast"]


def test_a_page_is_stable_while_cards_come_and_any_process_continues_it(memory: Memory) -> None:
    said = [memory.event(f"note {number}", day(number)) for number in range(6)]
    said.append(memory.state("residence", "Lyon", day(7)))
    said.sort()  # cards of one millisecond are ordered by their ids only
    memory.fold()
    first = memory.get("cards", limit=3)
    memory.event("in between", day(2))
    memory.state("employer", "Acme", day(1))
    memory.fold()
    with remembering(memory.database, memory.connection) as other:
        second = other.get("cards", limit=3, cursor=first["next_cursor"])
    third = memory.get("cards", limit=3, cursor=second["next_cursor"])
    pages = [[_id(card) for card in page["cards"]] for page in (first, second, third)]
    assert pages == [said[6:3:-1], said[3:0:-1], said[0::-1]]
    assert third["next_cursor"] is None


def test_the_past_is_shown_when_asked_for(memory: Memory) -> None:
    memory.state("residence", "Taipei", day(0), announced=True)
    memory.state("residence", "Kaohsiung", day(10), announced=True)
    memory.fold()
    assert memory.contents() == ["residence is Kaohsiung"]
    assert memory.contents(status="superseded") == ["residence is Taipei"]
    assert len(memory.contents(status="*")) == 2
    assert memory.contents(as_of=day(5).isoformat()) == ["residence is Taipei"]
    assert memory.contents(as_of=(START - timedelta(days=1)).isoformat()) == []
    assert memory.contents(as_of=day(5).isoformat(), status="future") == ["residence is Kaohsiung"]


# --- groups


def test_the_share_of_each_agent_and_other_counts(memory: Memory) -> None:
    for number, agent in enumerate(("research", "coding", "research", "research")):
        memory.event("done", day(10 * number), agent_id=agent, tags=("a", "b") if number else ())
    memory.state("employer", "Acme", day(1))
    memory.fold()
    by_agent = memory.get("cards/aggregate", group_by="agent_id", kind="event")
    assert by_agent == {
        "group_by": ["agent_id"],
        "bucket": None,
        "groups": [
            {"agent_id": "research", "count": 3, "share": 0.75},
            {"agent_id": "coding", "count": 1, "share": 0.25},
        ],
        "total": 4,
    }
    by_month = memory.get("cards/aggregate", group_by="time,kind", bucket="month")
    assert [(group["time"][:7], group["kind"], group["count"]) for group in by_month["groups"]] == [
        ("2026-01", "event", 3),
        ("2026-01", "state", 1),
        ("2026-02", "event", 1),
    ]
    by_week = memory.get("cards/aggregate", group_by="occurred_at", bucket="week", kind="event")
    assert [group["occurred_at"][:10] for group in by_week["groups"]] == [
        "2026-01-05", "2026-01-12", "2026-01-19", "2026-02-02",
    ]  # fmt: skip
    by_tag = memory.get("cards/aggregate", group_by="tags", kind="event")
    assert {group["tags"]: group["count"] for group in by_tag["groups"]} == {"a": 3, "b": 3, None: 1}


def test_a_day_begins_where_the_asker_lives(memory: Memory) -> None:
    memory.event("late supper", day(0) + timedelta(hours=8))
    memory.fold()
    for zone, date in (("UTC", "2026-01-05"), ("Asia/Taipei", "2026-01-06")):
        found = memory.get("cards/aggregate", group_by="occurred_at", bucket="day", timezone=zone)
        [group] = found["groups"]
        assert group["occurred_at"][:19] == f"{date}T00:00:00"


def test_every_axis_groups(memory: Memory) -> None:
    memory.event("done", day(1), tags=("a",), topics=("b",))
    memory.state("employer", "Acme", day(1))
    memory.knowledge("JWT", "a signed token", day(1))
    memory.fold()
    for axis in AXES:
        found = memory.get("cards/aggregate", group_by=axis)
        assert sum(group["count"] for group in found["groups"]) == found["total"] == 3, axis


# --- the questions a cube answers


def test_all_knowledge_cards_of_a_month(memory: Memory) -> None:
    memory.knowledge("OAuth", "delegated access", day(1))
    begun = recorded(memory)
    memory.knowledge("JWT", "a signed token", day(2))
    memory.event("learned something", day(2))
    memory.fold()
    after = {"created_from": instant_after(begun), "created_to": "2199-01-01T00:00:00Z"}
    assert memory.contents(kind="knowledge", **after) == ["JWT is a signed token"]
    counted = memory.get("cards/aggregate", group_by="created_at", bucket="month", kind="knowledge")
    assert [group["count"] for group in counted["groups"]] == [2]


def test_what_was_inferred_rather_than_said_and_how_surely(memory: Memory) -> None:
    memory.state("likes", "tea", day(1), cardinality="multi_value")
    for confidence in (0.31, 0.39, 0.72):
        value = f"coffee {confidence}"
        memory.state(
            "likes",
            value,
            day(2),
            cardinality="multi_value",
            provenance="agent_inferred",
            confidence=confidence,
        )
    memory.fold()
    assert len(memory.contents(provenance="agent_inferred")) == 3
    graded = memory.get("cards/aggregate", group_by="confidence", provenance="agent_inferred")
    assert [(group["confidence"], group["count"]) for group in graded["groups"]] == [(0.3, 2), (0.7, 1)]
    assert memory.contents(provenance="agent_inferred", min_confidence=0.5) == ["likes is coffee 0.72"]


def test_what_is_about_a_concept_and_contradicts_itself(memory: Memory) -> None:
    memory.knowledge("JWT", "a signed token", day(0), aliases=("JSON Web Token",))
    said = [
        memory.event("A JWT must be kept in a cookie", day(1)),
        memory.event("Keep your JSON web tokens in local storage", day(2)),
        memory.event("A JWT has three parts", day(3)),
        memory.event("Cookies are best eaten warm", day(4)),
        memory.event("Cookies are best eaten cold", day(5)),
    ]
    memory.fold()
    for newer, older in ((1, 0), (4, 3)):
        memory.say(
            CardsConnected(
                from_card=said[newer], to_card=said[older], predicate="contradicts", reason="one or the other"
            )
        )
    memory.fold()
    assert len(memory.contents(about="jwt", kind="event")) == 3
    fighting = ["Keep your JSON web tokens in local storage", "A JWT must be kept in a cookie"]
    assert memory.contents(about="jwt", predicate="contradicts") == fighting
    jwt = memory.cards(kind="knowledge")[0]["card_id"]
    assert memory.contents(knowledge=jwt, predicate="contradicts") == fighting


def test_a_tag_is_found_by_its_aliases(memory: Memory) -> None:
    memory.event("one", day(0), tags=("JWT", "web"))
    memory.event("two", day(1), tags=("json web token",))
    memory.say(TagAliased(alias="json web token", tag="JWT"))
    memory.fold()
    for tag in ("JWT", "jwt", "JSON web token"):
        assert memory.contents(tag=tag) == ["two", "one"], tag
    assert memory.contents(tag=["jwt", "web"]) == ["one"]


# --- one card


def test_a_history_holds_all_there_was_and_latest_is_its_end(memory: Memory) -> None:
    cities = ("Taipei", "Kaohsiung", "Tainan")
    cards = [memory.state("residence", city, day(40 * n), announced=True) for n, city in enumerate(cities)]
    memory.fold()
    for card in cards:
        history = memory.get(f"cards/{card}/history")
        assert [one["value"] for one in history["cards"]] == list(cities)
        assert [one["status"] for one in history["cards"]] == ["superseded", "superseded", "current"]
        assert memory.get(f"cards/{card}/latest")["card"]["value"] == "Tainan"
    assert memory.get(f"cards/{cards[0]}/latest")["chain"] == [str(card) for card in cards]
    then = memory.get(f"cards/{cards[0]}/latest", as_of=day(50).isoformat())
    assert then["card"]["value"] == "Kaohsiung"


def test_relations_say_how_why_and_by_whom(memory: Memory) -> None:
    pet, dog = memory.event("Alex has a pet", day(0)), memory.event("Alex has a dog, Rex", day(30))
    memory.fold()
    memory.post(
        "relations", from_card=str(dog), to_card=str(pet), predicate="expands", reason="a dog is a pet",
        confidence=0.75, agent_id="curator",
    )  # fmt: skip
    memory.fold()
    [edge] = memory.get(f"cards/{pet}/relations")["relations"]
    shown = {
        name: edge[name] for name in ("predicate", "reason", "confidence", "direction", "implied", "actor")
    }
    assert shown == {
        "predicate": "expands", "reason": "a dog is a pet", "confidence": 0.75, "direction": "in",
        "implied": False, "actor": "agent/curator",
    }  # fmt: skip
    assert edge["other"]["content"] == "Alex has a dog, Rex"
    assert memory.get(f"cards/{dog}/relations", predicate="expands")["relations"][0]["direction"] == "out"
    assert memory.get(f"cards/{dog}/relations", predicate="update")["relations"] == []
    assert memory.contents(related_to=str(pet)) == ["Alex has a dog, Rex"]
    assert len(memory.contents(predicate="expands")) == 2


def test_numbers_too_small_for_their_column_are_nothing(memory: Memory) -> None:
    least = 5e-324
    pet = memory.event("Alex has a pet", day(0), confidence=least, weight=least)
    dog = memory.state("pet", "Rex", day(30), confidence=1e-60, weight=1e-60)
    memory.fold()
    memory.post(
        "relations",
        from_card=str(dog),
        to_card=str(pet),
        predicate="expands",
        reason="why",
        confidence=1e-100,
    )
    memory.fold()
    assert [edge["confidence"] for edge in memory.get(f"cards/{pet}/relations")["relations"]] == [0.0]
    assert {(card["confidence"], card["weight"]) for card in memory.cards()} == {(0.0, 0.0)}


def test_what_is_the_same_can_be_listed_once(memory: Memory) -> None:
    cards = [memory.event(f"Rex ran, round {n}", day(n)) for n in range(3)]
    for newer, older in ((2, 1), (1, 0)):
        memory.say(
            CardsConnected(from_card=cards[newer], to_card=cards[older], predicate="same_as", reason="again")
        )
    memory.fold()
    assert len(memory.contents()) == 3
    assert memory.contents(collapse=True) == ["Rex ran, round 0"]


def test_what_was_retracted_or_superseded_by_an_edge_is_hidden(memory: Memory) -> None:
    cat, dog = (
        memory.state("pet", name, day(n), cardinality="multi_value") for n, name in enumerate(("cat", "dog"))
    )
    gone = memory.event("the dog died", day(30))
    memory.fold()
    assert len(memory.contents(kind="state")) == 2
    relations: list[tuple[UUID, UUID, Predicate]] = [(dog, cat, "retracts"), (gone, dog, "state_change")]
    for newer, older, predicate in relations:
        memory.say(
            CardsConnected(from_card=newer, to_card=older, predicate=predicate, reason="so it was said")
        )
    memory.fold()
    assert memory.contents(kind="state") == []
    assert memory.contents(kind="state", status="retracted") == ["pet is cat"]
    assert memory.contents(kind="state", as_of=day(20).isoformat()) == ["pet is dog"]
    assert memory.get(f"cards/{dog}/latest")["card"]["content"] == "the dog died"

    again = memory.state("pet", "dog", day(40), cardinality="multi_value")
    memory.fold()
    assert memory.contents(kind="state") == ["pet is dog"]
    assert memory.get(f"cards/{dog}/latest")["card"]["card_id"] == str(again)
    assert memory.get(f"cards/{dog}")["superseded_at"] == memory.get(f"cards/{again}")["effective_at"]
    assert memory.contents(kind="state", as_of=day(35).isoformat()) == []
    assert rebuild(memory.database, verify=True).equal


def test_concepts_are_related_both_ways_and_episodes_know_their_cards(memory: Memory) -> None:
    oauth = memory.knowledge("OAuth", "delegated access", day(0), turn_ids=("t1",))
    jwt = memory.knowledge("JWT", "a signed token", day(1), related_titles=("OAuth",), turn_ids=("t2",))
    told = memory.event("JWT is a signed token", day(1), episode=True, turn_ids=("t2",))
    bread = memory.knowledge("Sourdough", "a bread", day(2), turn_ids=("t3",))
    memory.fold()

    def linked(card: UUID, mark: str) -> list[UUID]:
        return [UUID(other["card_id"]) for other in memory.get(f"cards/{card}/relations")[mark]]

    assert linked(jwt, "related") == [oauth]
    assert linked(oauth, "related") == [jwt]
    assert linked(jwt, "episode") == [told]
    assert linked(told, "gave_rise_to") == [jwt]
    assert linked(oauth, "episode") == []
    memory.post("relations", from_card=str(bread), to_card=str(jwt), predicate="related_to", reason="a joke")
    memory.fold()
    assert linked(bread, "related") == [jwt]
    assert sorted(linked(jwt, "related")) == sorted([oauth, bread])


def test_a_card_that_became_part_of_another_is_still_found(memory: Memory) -> None:
    said = memory.state("residence", "Rome", day(10), turn_ids=("later",))
    memory.fold()
    earlier = memory.state("residence", "Rome", day(0), turn_ids=("earlier",))
    memory.fold()
    for path in ("", "/latest", "/history", "/relations"):
        assert memory.get(f"cards/{said}{path}")
    assert memory.get(f"cards/{said}")["card_id"] == str(earlier)
    memory.post(f"cards/{said}/verify", verified_at=day(40).isoformat())
    memory.fold()
    assert memory.get(f"cards/{earlier}")["last_verified"] == day(40).isoformat()


# --- problems


def _id(card: dict[str, Any]) -> Any:
    return UUID(card["card_id"])
