"""Values of another memory: sure ones apply, unsure ones wait, and neither replaces what the user said."""

from typing import Any

import orjson
import pytest

from events.core.proposals import MAX_WAITING
from events.types.envelope import NewEvent
from events.types.migrations import Migrated
from projectors.core.projector import CoreProjector
from projectors.generations.digest import digest_of
from tests.support.projectors.folding import rebuild
from tests.support.retrieval.core_documents import Documents

MARK = {"metadata": orjson.dumps(Migrated(source="mem0").metadata()).decode()}


def told(ada: Documents, key: str, value: str, at: float, *, sure: float = 0.6, **more: Any) -> NewEvent:
    """Another memory says a state."""
    return ada.state(key, value, at, confidence=sure, origin=MARK, **more)


def waiting(ada: Documents) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = ada.done(ada.get("/queue"))["entries"]
    return entries


def approve(ada: Documents, entry: dict[str, Any]) -> None:
    ada.done(ada.send(f"queue/{entry['queue_id']}/approve", {}))


def settle(ada: Documents) -> None:
    """What a fold of a few events at a time made equals a rebuild, and what readers saw before."""
    shown = ada.get().text, ada.get("/queue", status="*").text
    ada.fold()
    assert (ada.get().text, ada.get("/queue", status="*").text) == shown
    projector = CoreProjector()
    live = digest_of(ada.connection, projector, projector.name)
    rebuild(ada.database, projector)
    assert digest_of(ada.connection, projector, projector.name) == live


@pytest.mark.parametrize("folded", [True, False])
def test_a_value_waits_until_the_user_says_it(ada: Documents, folded: bool) -> None:
    told(ada, "name", "Ada", 0, sure=0.9)
    told(ada, "residence", "Rome", 0)
    if folded:
        ada.fold()
    assert ada.value("/profile/name") == "Ada"
    [entry] = waiting(ada)
    assert (entry["kind"], entry["path"], entry["expected"]) == ("proposal", "/profile/residence", "Rome")
    assert (entry["source"], entry["confidence"], entry["rationale"]) == ("mem0", 0.6, "migrated from mem0")
    ada.state("residence", "Rome", 1)
    assert ada.value("/profile/residence") == "Rome"
    assert waiting(ada) == []
    settle(ada)


def test_another_unsure_value_takes_the_place_of_the_first(ada: Documents) -> None:
    told(ada, "name", "Ada", 0, sure=0.9)
    told(ada, "residence", "Rome", 0)
    ada.fold()
    told(ada, "residence", "Oslo", 1, announced=True)
    assert [each["expected"] for each in waiting(ada)] == ["Oslo"]
    told(ada, "residence", "Oslo", 2, statement="ended")
    assert waiting(ada) == []
    settle(ada)


def test_approved_values_of_one_category_stay_together_and_follow_their_cards(ada: Documents) -> None:
    for number, value in enumerate(("walk daily", "swim weekly")):
        told(ada, "exercise_routine", value, number, cardinality="multi_value")
    ada.fold()
    for entry in waiting(ada):
        approve(ada, entry)
    data = "/dynamicCategories/exerciseRoutine/data"
    assert ada.value(data) == {"swim": "weekly", "walk": "daily"}
    ada.state("exercise_routine", "walk daily", 5, cardinality="multi_value", statement="ended")
    assert ada.value(data) == {"swim": "weekly"}
    settle(ada)


def test_an_approved_value_is_replaced_by_what_the_user_says_later(ada: Documents) -> None:
    told(ada, "residence", "Rome", 0)
    approve(ada, waiting(ada)[0])
    ada.state("residence", "Oslo", 1, announced=True)
    assert ada.value("/profile/residence") == "Oslo"
    assert waiting(ada) == []
    settle(ada)


def test_a_sure_value_does_not_replace_what_the_user_said(ada: Documents) -> None:
    ada.state("residence", "Lisbon", 0)
    told(ada, "residence", "Rome", 1, sure=0.95, announced=True)
    assert ada.value("/profile/residence") == "Lisbon"
    [entry] = waiting(ada)
    assert (entry["kind"], entry["actual"]) == ("contradiction", "Lisbon")
    ada.state("residence", "Oslo", 2, announced=True)
    assert ada.value("/profile/residence") == "Oslo"
    assert waiting(ada) == []
    settle(ada)


def test_only_so_many_values_wait(ada: Documents) -> None:
    ada.state("name", "Ada", 0)
    for number in range(MAX_WAITING + 5):
        told(ada, "likes", f"thing {number}", number / 100, cardinality="multi_value")
    ada.fold()
    assert len(waiting(ada)) == MAX_WAITING
    settle(ada)
