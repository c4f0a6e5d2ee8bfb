"""The core document follows cards, and values that wait for a word of the user."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from psycopg.rows import dict_row

from events.core.fold import Present
from events.core.pointers import value_at
from events.core.proposals import MAX_WAITING
from events.platform.database import Connection, connect, statement
from events.types.core import CorePatched
from events.types.envelope import NewEvent
from events.types.extraction import CardsWithdrawn
from events.types.migrations import Migrated
from events.types.verdicts import ConflictRuled
from ingest.core import patching
from ingest.core.aggregate import CoreDocument, NoDocuments
from ingest.decider import Command
from projectors.core import loading
from projectors.core.card_feed import StateFeed
from projectors.core.documents import documents_of
from projectors.core.loading import presenting
from projectors.core.projector import CoreProjector
from projectors.generations.digest import digest_of
from tests.support.conversing import day
from tests.support.projectors.folding import event, rebuild, settings_of
from tests.support.projectors.plans import rows_read
from tests.support.retrieval.core_documents import Documents, add, replaced


def same_after_a_fold(ada: Documents) -> None:
    shown = ada.get().text
    ada.fold()
    assert ada.get().text == shown


def same_after_a_rebuild(ada: Documents) -> None:
    """The documents of all tests so far are the same, too."""
    shown = ada.get().text
    same_after_a_fold(ada)
    projector = CoreProjector()
    live = digest_of(ada.connection, projector, projector.name)
    rebuild(ada.database, projector)
    assert digest_of(ada.connection, projector, projector.name) == live
    assert ada.get().text == shown


def test_the_beginning_of_a_condition_follows_the_cards_and_leaves_the_notes_of_others(
    ada: Documents,
) -> None:
    asthma: dict[str, Any] = {"cardinality": "multi_value", "time_grain": "year", "time_resolved": True}
    ada.state("medical_condition", "asthma", 3, effective_at=datetime(2018, 1, 1, tzinfo=UTC), **asthma)
    assert ada.value("/healthProfile/conditions") == [{"name": "asthma", "since": "2018"}]
    ada.patch(add("/healthProfile/conditions/0/notes", "mild"))
    ada.fold()
    month = asthma | {"time_grain": "month"}
    ada.state("medical_condition", "asthma", 4, effective_at=datetime(2017, 3, 1, tzinfo=UTC), **month)
    assert ada.value("/healthProfile/conditions") == [{"name": "asthma", "since": "2017-03", "notes": "mild"}]
    ada.patch(replaced("/healthProfile/conditions/0/since", "2016"))
    ada.state("medical_condition", "asthma", 5, effective_at=datetime(2015, 1, 1, tzinfo=UTC), **asthma)
    assert ada.value("/healthProfile/conditions/0/since") == "2016"
    same_after_a_rebuild(ada)


def rule(ada: Documents, contested: NewEvent, verdict: Any) -> None:
    ruled = ConflictRuled(arbitration_id=contested.event_id, verdict=verdict, reason="asked", by="user")
    ada.say(replace(event(ruled, ada.user), occurred_at=day(99)))


def test_cards_put_replace_and_remove_values(ada: Documents) -> None:
    ada.state("residence", "Lisbon", 0)
    ada.state("allergy", "peanuts", 1, cardinality="multi_value")
    ada.state("allergy", "shellfish", 2, cardinality="multi_value")
    ada.state("medical_condition", "asthma", 3, cardinality="multi_value")
    ada.fold()
    ada.state("residence", "Porto", 4, announced=True)
    ada.state("allergy", "peanuts", 5, cardinality="multi_value", statement="ended")
    ada.state("stress_technique", "yoga", 6, cardinality="multi_value")
    ada.state("residence", "Ulm", 7, entity="Mia")
    ada.state("fact", "left-handed", 8, cardinality="multi_value")
    document = ada.document()
    assert document["profile"]["residence"] == "Porto"
    assert document["healthProfile"]["allergies"]["food"] == ["shellfish"]
    assert document["healthProfile"]["conditions"] == [{"name": "asthma"}]
    assert document["dynamicCategories"]["stressTechnique"]["data"] == {"values": ["yoga"]}
    assert document["dynamicCategories"]["mia"]["data"] == {"residence": "Ulm"}
    assert list(document["uncategorized"].values()) == ["left-handed"]
    explained = ada.done(ada.get(explain=True))["explain"]
    assert explained["/profile/residence"]["turn_ids"] == ["turn 4 residence Porto"]
    assert explained["/profile/residence"]["kind"] == "card"
    ada.state("stress_technique", "yoga", 9, cardinality="multi_value", statement="ended")
    assert "stressTechnique" not in ada.document()["dynamicCategories"]
    same_after_a_rebuild(ada)


def test_other_projects_and_modes_stay_out(ada: Documents) -> None:
    ada.state("residence", "Lisbon", 0)
    ada.state("employer", "Acme", 1, origin={"project_id": "work"})
    ada.state("hobby", "secrets", 2, origin={"mode": "journal"}, cardinality="multi_value")
    document = ada.document()
    assert (document["workProfile"].get("employer"), document["activityProfile"]["hobbies"]) == (None, [])
    same_after_a_fold(ada)


def test_a_correction_takes_a_value_back(ada: Documents) -> None:
    ada.state("residence", "Taipei", 0)
    ada.state("residence", "Kaohsiung", 0.01, statement="corrected", replaces="Taipei")
    assert ada.value("/profile/residence") == "Kaohsiung"
    same_after_a_fold(ada)


def test_withdrawn_cards_take_their_values_along(ada: Documents) -> None:
    ada.state("residence", "Lisbon", 0)
    said = ada.state("residence", "Porto", 1)
    ada.fold()
    row = ada.connection.execute(
        "SELECT position FROM log.events WHERE event_id = %s", [said.event_id]
    ).fetchone()
    assert row is not None
    ada.say(
        event(CardsWithdrawn(event_ids=(said.event_id,), positions=(row[0],), reason="read again"), ada.user)
    )
    assert ada.value("/profile/residence") == "Lisbon"
    same_after_a_fold(ada)


@pytest.mark.parametrize(
    ("verdict", "value"), [("keep_old", "Lisbon"), ("accept_new", "Rome"), ("coexist", ["Lisbon", "Rome"])]
)
@pytest.mark.parametrize("folded", [True, False])
def test_a_conflict_of_cards_changes_nothing_before_its_verdict(
    ada: Documents, folded: bool, verdict: str, value: Any
) -> None:
    ada.state("residence", "Lisbon", 0)
    contested = ada.state("residence", "Rome", 60)
    assert ada.value("/profile/residence") == "Lisbon"
    assert ada.done(ada.get("/queue"))["entries"] == []
    if folded:
        ada.fold()
    rule(ada, contested, verdict)
    assert ada.value("/profile/residence") == value
    if folded:
        same_after_a_fold(ada)


def test_a_card_against_a_correction_waits_as_one_entry(ada: Documents) -> None:
    ada.patch(add("/profile/residence", "Lisbon"), source="user_correction")
    ada.state("residence", "Rome", 5001)
    ada.state("residence", "Rome", 5002)
    assert ada.value("/profile/residence") == "Lisbon"
    [entry] = ada.done(ada.get("/queue"))["entries"]
    assert (entry["kind"], entry["path"], entry["expected"]) == (
        "contradiction",
        "/profile/residence",
        "Rome",
    )
    assert (entry["actual"], entry["turn_ids"]) == ("Lisbon", ["turn 5001 residence Rome"])
    ada.fold()
    ada.done(ada.send(f"queue/{entry['queue_id']}/approve", {}))
    assert ada.value("/profile/residence") == "Rome"
    ada.state("residence", "Bern", 5003, announced=True)
    assert ada.value("/profile/residence") == "Bern"
    same_after_a_rebuild(ada)


def test_a_patch_stands_on_cards_that_no_table_shows_yet(ada: Documents) -> None:
    ada.state("medical_condition", "asthma", 0, cardinality="multi_value")
    ada.patch(add("/healthProfile/conditions/0/since", "2019"))
    ada.patch(replaced("/healthProfile/conditions/0/since", "2018"))
    ada.state("medical_condition", "asthma", 1, cardinality="multi_value", statement="ended")
    assert ada.value("/healthProfile/conditions") == []
    same_after_a_rebuild(ada)


class Interrupted(NoDocuments):
    """Documents of a user of whom a card arrives right after they were read for the first time."""

    def __init__(self, ada: Documents) -> None:
        self._ada = ada
        self._documents = documents_of(settings_of(ada.database))
        self._interrupts = True

    def present(self, connection: Connection, storage_id: str, **more: Any) -> Present:
        found = self._documents.present(connection, storage_id, **more)
        if self._interrupts:
            self._interrupts = False
            self._ada.state("residence", "Porto", 1)
        return found

    def has_later(self, connection: Connection, storage_id: str, after: int, before: int) -> bool:
        return self._documents.has_later(connection, storage_id, after, before)


def test_a_command_decides_again_when_a_card_comes_between(ada: Documents) -> None:
    ada.patch(add("/profile/name", "Ada"))
    command = Command(owner=ada.user, by="agent", actor="agent", at=day(2))
    with connect(ada.database, application="test") as connection, connection.transaction():
        document = CoreDocument(connection, Interrupted(ada), command)
        done = patching.patch(document, [add("/profile/residence", "Lisbon")])
    assert done.queued is not None
    assert (done.queued.fault, done.queued.actual, done.outcome.state) == ("contradiction", "Porto", 2)
    assert ada.value("/profile/residence") == "Porto"


@pytest.mark.parametrize("history", [True, False])
def test_a_fold_between_two_questions_changes_no_document(ada: Documents, history: bool) -> None:
    ada.patch(add("/profile/name", "Ada"))
    ada.fold()
    ada.state("residence", "Lisbon", 1)
    ada.patch(add("/profile/age", 36))
    asking = presenting(ada.user, StateFeed(), history=history)
    answer: list[dict[str, Any]] | None = None
    present: Present | None = None
    with ada.connection.cursor(row_factory=dict_row) as cursor:
        while present is None:
            try:
                query, values = next(asking) if answer is None else asking.send(answer)
            except StopIteration as done:
                present = done.value
            else:
                answer = cursor.execute(statement("projectors.core", query), values).fetchall()
                ada.fold()
    assert present is not None
    assert present.state.version == 3
    assert value_at(present.state.document, ("profile", "residence")) == "Lisbon"
    assert [each.version for each in present.history] == ([1, 2, 3] if history else [])


def test_the_end_of_the_log_is_read_without_the_history(ada: Documents) -> None:
    for user in (ada, *(ada.of(f"{ada.user} {number}") for number in range(9))):
        patches = [
            CorePatched(patch=(add("/goals/other/n", number),), guards=(), by="user") for number in range(200)
        ]
        user.say(*(event(patch, user.user) for patch in patches))
    ada.fold()
    ada.connection.execute("ANALYZE log.events")
    name, values = next(presenting(ada.user, StateFeed()))
    explained = b"EXPLAIN (ANALYZE, FORMAT JSON) " + statement("projectors.core", name).as_bytes(
        ada.connection
    )
    row = ada.connection.execute(explained, values).fetchone()
    assert row is not None
    assert rows_read(row[0][0]["Plan"]) < 25


def test_a_reader_does_not_fold_very_many_statements_of_one_fact(
    ada: Documents, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(6):
        ada.state("residence", f"City {number}", 400 * number)
    monkeypatch.setattr(loading, "MOST_COMPARED", 6 * 6)
    assert ada.get().status_code == 200
    monkeypatch.setattr(loading, "MOST_COMPARED", 6 * 6 - 1)
    assert (ada.get().status_code, ada.get().json()["title"]) == (503, "Documents unavailable")
    ada.fold()
    assert ada.get().status_code == 200


def test_nothing_is_left_after_forgetting(ada: Documents) -> None:
    ada.state("residence", "Lisbon", 0)
    ada.patch(add("/profile/name", "Ada"))
    ada.refused(replaced("/profile/nothing", 1))
    ada.fold()
    projector = CoreProjector()
    with ada.connection.transaction():
        ada.connection.execute("SET LOCAL search_path = core, public")
        assert sum(projector.held(ada.connection, ada.user).values()) == 5
        projector.forget(ada.connection, ada.user, None, ())
        assert sum(projector.held(ada.connection, ada.user).values()) == 0
    rebuild(ada.database, projector)  # the log still has the events, and other tests compare whole tables


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
