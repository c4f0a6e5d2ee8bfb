"""Topics that recur become categories: candidates, promotions, old pointers and reversions over HTTP."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from events.platform.database import connect
from events.store import log
from events.types.core import CorePatched
from events.types.tenancy import storage_id
from ingest.core.evolution import Mode, evolve_changed
from ingest.erasure import selection
from projectors.core.documents import documents_of
from tests.support.events.turns import turn
from tests.support.projectors.folding import event, settings_of
from tests.support.retrieval.core_documents import Documents, add, replaced

NOTES = {
    "sleep_note_1": "Having trouble staying asleep",
    "sleep_note_2": "Higher BG after poor sleep",
    "sleep_note_3": "Started using sleep mask",
}
OLD = [f"/uncategorized/{name}" for name in NOTES]


def tell(ada: Documents, *notes: str) -> list[dict[str, Any]]:
    return [
        ada.patch(add(f"/uncategorized/{name}", NOTES[name]), turn_ids=[f"turn {name}"])
        for name in notes or NOTES
    ]


def candidates(ada: Documents) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = ada.done(ada.get("/schema/candidates"))["candidates"]
    return found


def promote(ada: Documents, candidate: str = "sleep", **more: Any) -> dict[str, Any]:
    return ada.done(ada.send("schema/promote", {"candidate": candidate, **more}))


def problem(answer: Any, status: int) -> dict[str, Any]:
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json"), (
        answer.text
    )
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.parametrize("folded", [True, False])
def test_sleep_notes_become_a_category_and_go_back(ada: Documents, folded: bool) -> None:
    tell(ada, "sleep_note_1", "sleep_note_2")
    assert candidates(ada) == []
    tell(ada, "sleep_note_3")
    if folded:
        ada.fold()
    [found] = candidates(ada)
    assert (found["candidate"], found["instances"], found["occurrences"]) == ("sleep", OLD, 3)
    assert found["score"] == sum(each["points"] for each in found["reasons"])
    assert found["diff"]["lines"][1:] == [f"{old} moved to {new}" for old, new in found["moved"].items()]
    before = ada.document()
    members = dict(zip(OLD, ("challenges", "impact", "aids"), strict=True))
    body: dict[str, Any] = {"proposed_name": "sleepHealth", "rationale": "three notes", "members": members}
    tried = promote(ada, **body, dry_run=True)
    assert (tried["changed"], ada.document()) == (False, before)
    done = promote(ada, **body)
    assert (done["version"], done["patch"][:-1]) == (4, tried["patch"][:-1])
    if folded:
        ada.fold()
    document = ada.document()
    assert document["uncategorized"] == {}
    assert document["sleepHealth"] == dict(zip(members.values(), NOTES.values(), strict=True))
    [entry] = document["_meta"]["schemaEvolution"]
    assert (entry["change"], entry["newCategory"], entry["reason"]) == (
        "promoted",
        "sleepHealth",
        "three notes",
    )
    ada.patch(replaced("/sleepHealth/aids", ["sleep mask"]), add("/sleepHealth/duration", "6-7 hours"))
    # Old pointers keep their meaning: reads, sources, patches.
    [snippet] = ada.done(ada.get(paths=OLD[1], explain=True))["snippets"]
    assert (snippet["value"], snippet["moved_to"]) == (NOTES["sleep_note_2"], "/sleepHealth/impact")
    explained = ada.done(ada.get(paths=OLD[1], explain=True))["explain"]
    assert explained["/sleepHealth/impact"]["turn_ids"] == ["turn sleep_note_2"]
    ada.patch(replaced(OLD[0], "Wakes at four"))
    assert ada.value("/sleepHealth/challenges") == "Wakes at four"
    problem(ada.send("events", {"patch": [add("/sleepHealth/impact", 7)], "actor": "user"}), 422)
    assert ada.value(OLD[0], version=3) == NOTES["sleep_note_1"]
    if folded:
        ada.fold()
    ada.done(ada.send("schema/revert", {"category": "sleepHealth", "rationale": "too early"}))
    document = ada.document()
    assert document["uncategorized"] == NOTES | {
        "sleep_note_1": "Wakes at four", "sleep_note_3": ["sleep mask"],
    }  # fmt: skip
    assert "sleepHealth" not in document
    assert document["dynamicCategories"]["sleepHealth"]["data"] == {"duration": "6-7 hours"}
    assert [each["change"] for each in document["_meta"]["schemaEvolution"]] == ["promoted", "reverted"]
    assert ada.value("/sleepHealth/duration") == "6-7 hours"
    assert ada.value(OLD[0]) == "Wakes at four"


def test_a_promotion_can_be_rolled_back_alone(ada: Documents) -> None:
    tell(ada)
    before = ada.document()
    done = promote(ada, proposed_name="sleepHealth")
    ada.patch(add("/profile/name", "Ada"))
    back = ada.done(ada.send("rollback", {"event_ids": [done["event_id"]]}))
    assert {**ada.document(), "_meta": 0, "profile": 0} == {**before, "_meta": 0, "profile": 0}
    assert ada.document()["_meta"]["schemaEvolution"] == []
    ada.done(ada.send("rollback", {"event_ids": [back["event_id"]]}))
    assert ada.value(OLD[0]) == NOTES["sleep_note_1"]
    assert set(ada.value("/sleepHealth")) == {"note1", "note2", "note3"}
    ada.patch(add("/sleepHealth/note4", "dreams"))
    stands = problem(ada.send("rollback", {"event_ids": [done["event_id"]]}), 409)
    assert stands["conflicts"][0]["path"] == "/sleepHealth/note4"
    picked = problem(ada.send("cherry-pick", {"event_ids": [done["event_id"]]}), 422)
    assert picked["field"] == "event_ids"


def test_a_rolled_back_note_leaves_the_others_in_the_category(ada: Documents) -> None:
    [first, *_] = tell(ada)
    promote(ada, proposed_name="sleepHealth")
    ada.done(ada.send("rollback", {"event_ids": [first["event_id"]]}))
    assert set(ada.value("/sleepHealth")) == {"note2", "note3"}


def test_a_note_that_was_left_out_comes_back_to_its_old_place_after_a_reversion(ada: Documents) -> None:
    [first, *_] = tell(ada)
    promote(ada)
    ada.done(ada.send("schema/revert", {"category": "sleep"}))
    ada.done(ada.send("rollback", {"event_ids": [first["event_id"]]}))
    ada.done(ada.send("cherry-pick", {"event_ids": [first["event_id"]]}))
    assert ada.document()["uncategorized"] == NOTES


def test_a_dynamic_category_becomes_one_of_the_schema_and_cards_follow(ada: Documents) -> None:
    for number, value in enumerate(("yoga", "walking", "breathing")):
        ada.state("stress_technique", value, number, cardinality="multi_value")
    [found] = candidates(ada)
    assert (found["candidate"], found["occurrences"]) == ("stressTechnique", 3)
    promote(ada, "stressTechnique", proposed_name="stressManagement")
    assert ada.value("/stressManagement") == {"values": ["yoga", "walking", "breathing"]}
    assert ada.document()["dynamicCategories"] == {}
    ada.fold()
    ada.state("stress_technique", "singing", 4, cardinality="multi_value")
    ada.state("stress_technique", "yoga", 5, cardinality="multi_value", statement="ended")
    assert ada.value("/stressManagement/values") == ["walking", "breathing", "singing"]
    assert ada.value("/dynamicCategories/stressTechnique/data/values/0") == "walking"
    assert ada.value("/dynamicCategories/stressTechnique/usageCount") == 3
    ada.patch(add("/dynamicCategories/stressTechnique/data/values/-", "tea"))
    assert ada.value("/stressManagement/values") == ["walking", "breathing", "singing", "tea"]
    ada.patch(
        add("/dynamicCategories/stressTechnique", {"description": "again", "data": {"values": ["tea"]}})
    )
    assert ada.value("/stressManagement") == {"values": ["tea"]}
    ada.done(ada.send("schema/revert", {"category": "stressManagement"}))
    category = ada.document()["dynamicCategories"]["stressTechnique"]
    assert (category["data"], category["usageCount"]) == ({"values": ["tea"]}, 3)


def test_categories_of_one_topic_become_one(ada: Documents) -> None:
    ada.state("sleep_duration", "6-7 hours", 0)
    ada.state("sleep_quality", "poor", 1)
    ada.state("sleep_aid", "sleep mask", 2, cardinality="multi_value")
    ada.state("residence", "Ulm", 3, entity="Mia")
    ada.state("hobby", "chess", 4, entity="Mia")
    ada.state("employer", "Acme", 5, entity="Mia")
    [found] = candidates(ada)
    assert (found["candidate"], found["days"]) == ("sleep", 3)
    promote(ada, proposed_name="sleepHealth")
    assert ada.value("/sleepHealth") == {"aid": ["sleep mask"], "duration": "6-7 hours", "quality": "poor"}
    ada.state("sleep_duration", "8 hours", 6, announced=True)
    assert ada.value("/sleepHealth/duration") == "8 hours"
    # Later notes on the topic go to the same category.
    tell(ada)
    [found] = candidates(ada)
    assert (found["proposed_name"], len(found["moved"])) == ("sleepHealth", 3)
    promote(ada)
    assert ada.value("/sleepHealth/note1") == NOTES["sleep_note_1"]
    ada.done(ada.send("schema/revert", {"category": "sleepHealth"}))
    assert ada.document()["uncategorized"] == NOTES
    assert set(ada.document()["dynamicCategories"]) == {"sleepDuration", "sleepQuality", "sleepAid", "mia"}


def test_what_cannot_be_promoted_is_refused_by_name(ada: Documents) -> None:
    assert problem(ada.get("/schema/candidates"), 404)["field"] == "user_id"
    assert problem(ada.send("schema/promote", {"candidate": "sleep"}), 404)["field"] == "user_id"
    tell(ada)
    for body, status, field in (
        ({"candidate": "nothing"}, 404, "candidate"),
        ({"candidate": "sleep", "proposed_name": "profile"}, 422, "proposed_name"),
        ({"candidate": "sleep", "proposed_name": "_meta"}, 422, "proposed_name"),
        ({"candidate": "sleep", "proposed_name": "__proto__"}, 422, "proposed_name"),
        ({"candidate": "sleep", "proposed_name": "a/b"}, 422, "proposed_name"),
        ({"candidate": "sleep", "members": {"/profile/name": "x"}}, 422, "members"),
        ({"candidate": "sleep", "members": {OLD[0]: "../x"}}, 422, "members"),
        ({"candidate": "sleep", "members": {OLD[0]: "x", OLD[1]: "x"}}, 422, "members"),
    ):
        assert problem(ada.send("schema/promote", body), status)["field"] == field
    assert problem(ada.send("schema/revert", {"category": "sleep"}), 404)["field"] == "category"
    promote(ada)
    ada.refused(replaced("/_meta/schemaEvolution", []), status=422)
    assert ada.version() == 4


def test_a_repeated_promotion_gets_the_first_answer(ada: Documents) -> None:
    tell(ada)
    key = {"idempotency-key": "one"}
    first = ada.done(ada.send("schema/promote", {"candidate": "sleep"}, **key))
    again = ada.done(ada.send("schema/promote", {"candidate": "sleep"}, **key))
    assert (again["event_id"], again["version"], again["duplicate"]) == (first["event_id"], 4, True)
    others: list[tuple[str, dict[str, Any]]] = [
        ("revert", {"category": "sleep"}),
        ("promote", {"candidate": "work"}),
        ("promote", {"candidate": "sleep", "proposed_name": "rest"}),
        ("promote", {"candidate": "sleep", "members": {OLD[0]: "elsewhere"}}),
    ]
    for what, body in others:
        assert problem(ada.send(f"schema/{what}", body, **key), 422)["field"] == "Idempotency-Key"


def test_a_repeated_patch_of_a_place_that_moved_gets_the_first_answer(ada: Documents) -> None:
    tell(ada)
    promote(ada)
    body = {"patch": [replaced(OLD[0], "Sleeps well")], "actor": "user"}
    first, again = (ada.done(ada.send("events", body, **{"idempotency-key": "k"})) for _ in range(2))
    assert (again["event_id"], again["duplicate"]) == (first["event_id"], True)


def test_a_waiting_patch_finds_its_place_after_a_promotion(ada: Documents) -> None:
    tell(ada)
    queue_id = ada.refused(
        {"op": "test", "path": OLD[0], "value": "?"}, replaced(OLD[0], "Sleeps well"), actor="agent"
    )["queue_id"]
    promote(ada)
    ada.done(ada.send(f"queue/{queue_id}/approve", {}))
    assert ada.value("/sleep/note1") == "Sleeps well"


def evolve(ada: Documents, mode: Mode) -> int:
    now = datetime.now(UTC)
    with connect(ada.database, application="test") as connection:
        documents = documents_of(settings_of(ada.database))
        return evolve_changed(connection, documents, mode, now - timedelta(days=3650), now)


def test_candidates_are_proposed_once_and_promoted_alone_only_when_allowed(ada: Documents) -> None:
    for number in range(6):
        ada.state("stress_technique", f"way {number}", number, cardinality="multi_value")
    tell(ada)
    ada.fold()
    evolve(ada, "propose")
    log = ada.document()["_meta"]["schemaEvolution"]
    assert sorted((each["change"], each["candidate"]) for each in log) == [
        ("proposed", "sleep"), ("proposed", "stressTechnique"),
    ]  # fmt: skip
    assert all(each["proposed_at"] for each in candidates(ada))
    ada.fold()
    version = ada.version()
    evolve(ada, "propose")
    assert ada.version() == version
    evolve(ada, "auto")
    document = ada.document()
    assert len(document["stressTechnique"]["values"]) == 6
    assert document["uncategorized"] == NOTES
    ada.done(ada.send("schema/revert", {"category": "stressTechnique"}))
    ada.fold()
    evolve(ada, "auto")
    assert "stressTechnique" not in ada.document()


def test_other_users_of_the_tenant_count_with_their_keys_alone(ada: Documents) -> None:
    ada.patch(add("/uncategorized/orchid_care", "water on Mondays"))
    ada.patch(add("/uncategorized/orchid_pots", "clay"))
    assert candidates(ada) == []
    for number in range(3):
        other = ada.of(f"{ada.user} {number}")
        other.patch(add("/uncategorized/orchid_secret", "hidden words"))
        other.fold()
    stranger = ada.of(storage_id("elsewhere", ada.user))
    said = CorePatched(patch=(add("/uncategorized/orchid_tips", "none"),), guards=(), by="user")
    stranger.say(event(said, stranger.user))
    stranger.fold()
    [found] = candidates(ada)
    assert (found["candidate"], found["users"]) == ("orchid", 3)
    assert "hidden" not in str(found)
    promote(ada, "orchid")
    assert ada.value("/orchid") == {"care": "water on Mondays", "pots": "clay"}


def test_an_erased_turn_takes_the_changes_of_the_schema_along_that_rest_on_it(ada: Documents) -> None:
    tell(ada)
    promote(ada)
    ada.done(ada.send("schema/revert", {"category": "sleep"}))
    with connect(ada.database, application="test") as connection:
        found = selection.of_turns(connection, ada.user, lambda _: False)
        assert found.events == []
        log.append(connection, [turn(ada.user, "turn sleep_note_2")])
        found = selection.of_turns(connection, ada.user, selection.of_turn("turn sleep_note_2"))
    assert [each.type for each in found.events] == [
        "CorePatched", "SchemaPromoted", "SchemaReverted", "TurnRecorded",
    ]  # fmt: skip
