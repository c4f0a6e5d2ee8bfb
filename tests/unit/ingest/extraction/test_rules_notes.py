"""Notes of another memory are read as if the user had said them. Only marked turns are."""

from __future__ import annotations

from dataclasses import replace

import orjson
import pytest

from events.types.cards import EventNoted, StateAsserted
from events.types.migrations import Migrated, migrated
from ingest.extraction.extractor_port import SessionBatch
from tests.support.ingest.rules import EXTRACTOR, turn


def facts(text: str, *, notes: bool = True, user_name: str | None = None) -> set[tuple[str, str, str, float]]:
    return {
        (each.entity, each.concept_key, each.value, each.confidence)
        for each in states(text, notes=notes, user_name=user_name)
    }


def states(text: str, *, notes: bool = True, user_name: str | None = None) -> list[StateAsserted]:
    mark = orjson.dumps(Migrated(source="mem0", notes=notes, user_name=user_name).metadata()).decode()
    one = turn(text, 1)
    one = replace(one, turn=replace(one.turn, metadata=mark))
    cards = EXTRACTOR.extract(SessionBatch((one,))).cards
    for each in cards:
        span = each.origin.source_span
        assert span is not None
        assert one.turn.text[span.start : span.end] == span.text
    assert [each.content for each in cards if isinstance(each, EventNoted) and each.episode] == [text]
    return [each for each in cards if isinstance(each, StateAsserted)]


@pytest.mark.parametrize(
    ("note", "key", "value", "confidence"),
    [
        ("User has type 2 diabetes, diagnosed in 2018.", "medical_condition", "type 2 diabetes", 0.9),
        ("Takes Metformin.", "medication", "Metformin", 0.9),
        ("User takes 500 mg of Xyloprax twice a day", "medication", "Xyloprax", 0.9),
        ("Is allergic to peanuts", "allergy", "peanuts", 0.9),
        ("User might be allergic to shellfish", "allergy", "shellfish", 0.6),
        ("The user's name is Ada", "name", "Ada", 0.9),
        ("Name is Alice", "name", "Alice", 0.9),
        ("- They currently live in Rome", "residence", "Rome", 0.9),
        ("Tries to walk daily.", "exercise_routine", "walking daily", 0.6),
        ("User swims three times a week", "exercise_routine", "swimming three times a week", 0.9),
        ("User does yoga every other day", "exercise_routine", "yoga every other day", 0.9),
        ("用戶住在台北", "residence", "台北", 0.9),
        ("用戶可能對花生過敏", "allergy", "花生", 0.6),
        ("使用者服用二甲雙胍", "medication", "二甲雙胍", 0.9),
    ],
)  # fmt: skip
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


def test_each_clause_of_a_note_is_a_fact() -> None:
    found = facts("Likes Greek yogurt but dislikes kale. User is a nurse and lives in Berlin")
    assert {each[1:3] for each in found} == {
        ("likes", "Greek yogurt"), ("dislikes", "kale"), ("occupation", "nurse"), ("residence", "Berlin"),
    }  # fmt: skip


@pytest.mark.parametrize(
    ("note", "began"),
    [
        ("User has type 2 diabetes, diagnosed in 2018.", 2018),
        ("Has asthma since 2010", 2010),
        ("User takes Metformin, prescribed in 2019", 2019),
        ("用戶有糖尿病，2018年確診", 2018),
        ("Has asthma and moved in 2019", None),
        ("Has insomnia in winter", None),
    ],
)
def test_a_clause_that_only_dates_a_condition_gives_its_beginning(note: str, began: int | None) -> None:
    [found] = [each for each in states(note) if each.concept_key in ("medical_condition", "medication")]
    assert (found.effective_at.year if found.time_resolved else None) == began


@pytest.mark.parametrize(
    "note",
    ["They take the bus to work", "User is not vegetarian", "Takes notes on paper", "User wants a dog"],
)
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
