"""Notes of another memory are read as if the user had said them. Only marked turns are."""

from dataclasses import replace

import orjson
import pytest

from events.types.cards import EventNoted, StateAsserted
from events.types.migrations import Migrated, migrated
from ingest.extraction.extractor_port import CardEvent, SessionBatch
from tests.support.ingest.rules import EXTRACTOR, turn
from tests.support.tables import examples


def facts(text: str, *, notes: bool = True, user_name: str | None = None) -> set[tuple[str, str, str, float]]:
    return {
        (each.entity, each.concept_key, each.value, each.confidence)
        for each in states(text, notes=notes, user_name=user_name)
    }


def states(text: str, *, notes: bool = True, user_name: str | None = None) -> list[StateAsserted]:
    found = cards(text, notes=notes, user_name=user_name)
    return [each for each in found if isinstance(each, StateAsserted)]


def cards(text: str, *, notes: bool = True, user_name: str | None = None) -> tuple[CardEvent, ...]:
    mark = orjson.dumps(Migrated(source="mem0", notes=notes, user_name=user_name).metadata()).decode()
    one = turn(text, 1)
    one = replace(one, turn=replace(one.turn, metadata=mark))
    found = EXTRACTOR.extract(SessionBatch((one,))).cards
    for each in found:
        span = each.origin.source_span
        assert span is not None
        assert one.turn.text[span.start : span.end] == span.text
    assert [each.content for each in found if isinstance(each, EventNoted) and each.episode] == [text]
    return found


@examples
def test_a_note_is_read_with_its_confidence(note: str, key: str, value: str, confidence: float) -> None:
    assert facts(note) == {("user", key, value, confidence)}


@pytest.mark.parametrize(
    ("note", "found"),
    [
        ("Quilla Marsh lives in Rome", {("user", "residence", "Rome")}),
        ("Quilla's dog is called Rex", {("user", "pet", "Rex")}),
        ("小明住在台北", {("user", "residence", "台北")}),
        ("Orla lives in Rome", {("Orla", "residence", "Rome")}),
    ],
)
def test_the_name_of_the_user_is_the_user(note: str, found: set[tuple[str, str, str]]) -> None:
    name = "小明" if note.startswith("小") else "Quilla Marsh"
    assert {each[:3] for each in facts(note, user_name=name)} == found


@pytest.mark.parametrize(
    "note", ["Is planning a trip to Japan in May", "User met Orla yesterday", "用戶昨天參加了婚禮"]
)
def test_an_event_has_the_words_of_its_note(note: str) -> None:
    assert [each.content for each in cards(note) if isinstance(each, EventNoted)] == [note, note]


def test_each_clause_of_a_note_is_a_fact() -> None:
    found = facts("Likes Greek yogurt but dislikes kale. User is a nurse and lives in Berlin")
    assert {each[1:3] for each in found} == {
        ("likes", "Greek yogurt"), ("dislikes", "kale"), ("occupation", "nurse"), ("residence", "Berlin"),
    }  # fmt: skip


@examples
def test_a_clause_that_only_dates_a_condition_gives_its_beginning(note: str, began: int | None) -> None:
    [found] = [each for each in states(note) if each.concept_key in ("medical_condition", "medication")]
    assert (found.effective_at.year if found.time_resolved else None) == began


@examples
def test_a_note_without_a_fact_gives_none(note: str) -> None:
    assert facts(note) == set()


def test_a_note_about_somebody_else_stays_about_them() -> None:
    assert facts("Mia lives in Berlin") == {("Mia", "residence", "Berlin", 0.9)}


def test_messages_of_an_old_conversation_are_read_as_said() -> None:
    assert facts("Takes Metformin every morning.", notes=False) == set()


@pytest.mark.parametrize(
    "metadata", [{"cardlog": 5}, {"cardlog": {"migrated_from": 5}}, {"migrated_from": "x"}]
)
def test_other_metadata_is_no_mark(metadata: dict[str, object]) -> None:
    assert migrated(orjson.dumps(metadata).decode()) is None
