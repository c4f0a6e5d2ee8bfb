"""Each predicate has one reading rule, and recall, prompts, slices, counts, people and the core document hold it."""

import re
from typing import Any

import pytest
from starlette.testclient import TestClient

from events.types.people import PersonNoted
from projectors.core.projector import CoreProjector
from projectors.people import PeopleProjector
from retrieval.http.read_api import create_app
from tests.support.conversing import Memory, day
from tests.support.projectors.folding import ORIGIN, fold_live, rebuild, settings_of
from tests.support.retrieval.channels import recall
from tests.support.waiting import ALONE

COARSE, FINE = "Mia plays an instrument", "Mia plays a cello instrument"
BOTH = [FINE, COARSE]

KEYS = {COARSE: "instrument", FINE: "hobby"}

# predicate: the cards that answer, the best first; those of a slice; whether an alert is given
RULES: dict[str, tuple[list[str], list[str], bool]] = {
    "expands": (BOTH, BOTH, False),
    "qualifies": ([COARSE, FINE], BOTH, False),
    "contradicts": ([COARSE, FINE], BOTH, True),
    "update": ([FINE], [FINE], False),
    "state_change": ([FINE], [FINE], False),
    "retracts": ([FINE], [FINE], False),
    "same_as": ([COARSE], [COARSE], False),
}


@pytest.mark.parametrize("predicate", RULES)
def test_a_predicate_is_read_alike_everywhere(memory: Memory, predicate: str) -> None:
    answers, listed, alerted = RULES[predicate]
    coarse = memory.state(
        "instrument", "one", day(0), content=COARSE, entity="Mia", cardinality="multi_value"
    )
    fine = memory.state("hobby", "cello", day(5), content=FINE, entity="Mia", cardinality="multi_value")
    memory.fold()
    ends: dict[str, Any] = {"from_card": str(fine), "to_card": str(coarse)}
    memory.post("relations", **ends, predicate=predicate, reason="the words say so")
    memory.fold()
    answer = recall(memory.database, "Which instrument does Mia play?")
    assert [card["content"] for card in answer["cards"]] == answers
    assert [(alert["card_ids"], alert["reason"]) for alert in answer["contradictions"]] == (
        [([str(coarse), str(fine)], "the words say so")] if alerted else []
    )
    assert memory.contents(kind="state", collapse=True) == listed
    counted = memory.get("cards/aggregate", group_by="entity", collapse=True)
    assert counted["total"] == len(listed)

    memory.say(PersonNoted(name="Mia", origin=ORIGIN))
    for projector in (PeopleProjector(), CoreProjector()):
        fold_live(memory.database, projector)
    whose = {"user_id": memory.user}
    with TestClient(create_app(settings_of(memory.database, **ALONE))) as client:
        asked = whose | {"query": "Which instrument does Mia play?"}
        prompt = client.post("/v1/context", json=asked).json()["text"]
        [person] = client.get("/v1/people", params=whose).json()["people"]
        known = client.get(f"/v1/people/{person['person_id']}", params=whose).json()
        document = client.get(f"/v1/memory/{memory.user}").json()["document"]
    assert re.findall(">(Mia [^<]+)</state>", prompt) == answers
    assert ("<contradiction_alert>" in prompt) == alerted
    told = re.findall("<conflict [^>]*>([^<]+)</conflict>", prompt)
    assert told == ([f"{COARSE} / {FINE}: the words say so"] if alerted else [])
    assert [card["content"] for card in known["facts"]] == listed
    places = document["dynamicCategories"]["mia"]["data"]
    assert [key for key in ("hobby", "instrument") if places.get(key)] == [KEYS[each] for each in listed]


@pytest.mark.parametrize("cardinality", ["single_value", "multi_value"])
@pytest.mark.parametrize("predicate", ["update", "state_change", "retracts"])
def test_what_is_said_again_after_a_relation_holds_again(
    memory: Memory, predicate: str, cardinality: str
) -> None:
    said: dict[str, Any] = {"entity": "Mia", "content": COARSE, "cardinality": cardinality}
    old = memory.state("instrument", "cello", day(0), **said)
    gone = memory.event("Mia sold the cello", day(5))
    memory.fold()
    ends: dict[str, Any] = {"from_card": str(gone), "to_card": str(old)}
    relation = memory.post("relations", **ends, predicate=predicate, reason="sold")
    memory.fold()
    assert memory.contents(kind="state") == []
    again = memory.state("instrument", "cello", day(9), **said)
    for projector in (None, CoreProjector()):
        fold_live(memory.database, projector)
    assert [each["card_id"] for each in memory.cards(kind="state")] == [str(again)]
    found = recall(memory.database, "Which instrument does Mia play?", kinds=["state"])["cards"]
    assert [each["card_id"] for each in found] == [str(again)]
    with TestClient(create_app(settings_of(memory.database, **ALONE))) as client:
        document = client.get(f"/v1/memory/{memory.user}").json()["document"]
    assert "cello" in str(document["dynamicCategories"]["mia"]["data"]["instrument"])

    memory.post(f"relations/{relation['event_id']}/withdraw", reason="not sold")
    memory.fold()
    [card] = memory.cards(kind="state")
    assert (card["card_id"], card["mentions"]) == (str(old), 2)
    assert rebuild(memory.database, verify=True).equal


def test_a_condition_is_shown_with_what_it_is_about(memory: Memory) -> None:
    swims = memory.event("Mia swims in the lake", day(0))
    only = memory.event("Only in summer, Mia says", day(5))
    memory.fold()
    ends: dict[str, Any] = {"from_card": str(only), "to_card": str(swims)}
    memory.post("relations", **ends, predicate="qualifies", reason="a condition")
    memory.fold()
    [card] = recall(memory.database, "Where does Mia swim?", k=1)["cards"]
    assert card["card_id"] == str(swims)
    assert [each["card_id"] for each in card["beside"]] == [str(only)]
