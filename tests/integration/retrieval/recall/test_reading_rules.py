"""Each predicate has one reading rule, and recall, slices and counts hold it."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.conversing import Memory, day
from tests.support.retrieval.channels import recall

COARSE, FINE = "Mia plays an instrument", "Mia plays a cello instrument"
BOTH = [FINE, COARSE]

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
    assert [alert["card_ids"] for alert in answer["contradictions"]] == (
        [[str(coarse), str(fine)]] if alerted else []
    )
    assert memory.contents(kind="state", collapse=True) == listed
    counted = memory.get("cards/aggregate", group_by="entity", collapse=True)
    assert counted["total"] == len(listed)


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
