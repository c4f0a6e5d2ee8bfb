"""A request that cannot be answered is refused with its field."""

from typing import Any
from uuid import uuid4

from retrieval.cards.slice import AXES
from tests.support.conversing import Memory

BAD: list[tuple[str, dict[str, Any], str]] = [
    ("cards", {"user_id": ""}, "user_id"),
    ("cards", {"user_id": "a\0b"}, "user_id"),
    ("cards", {"colour": "red"}, "colour"),
    ("cards", {"kind": "dream"}, "kind"),
    ("cards", {"status": "lost"}, "status"),
    ("cards", {"provenance": "rumour"}, "provenance"),
    ("cards", {"predicate": "likes"}, "predicate"),
    ("cards", {"as_of": "2026-02-30T00:00:00Z"}, "as_of"),
    ("cards", {"as_of": "2026-02-03T00:00:00"}, "as_of"),
    ("cards", {"as_of": "20260203"}, "as_of"),
    ("cards", {"as_of": "0001-01-01T00:00:00+14:00"}, "as_of"),
    ("cards", {"as_of": "2199-01-01T00:00:00Z"}, "as_of"),
    ("cards", {"known_at": "2199-01-01T00:00:00Z"}, "known_at"),
    ("cards", {"occurred_from": "soon"}, "occurred_from"),
    ("cards", {"created_from": "2026-02-03T00:00:00Z", "created_to": "2026-02-02T00:00:00Z"}, "created_from"),
    ("cards", {"limit": 0}, "limit"),
    ("cards", {"limit": 501}, "limit"),
    ("cards", {"cursor": "next"}, "cursor"),
    ("cards", {"cursor": "é"}, "cursor"),
    ("cards", {"min_confidence": 7}, "min_confidence"),
    ("cards", {"related_to": "Rex"}, "related_to"),
    ("cards", {"tag": "a\0b"}, "tag"),
    ("cards/aggregate", {}, "group_by"),
    ("cards/aggregate", {"group_by": "colour"}, "group_by"),
    ("cards/aggregate", {"group_by": "kind,"}, "group_by"),
    ("cards/aggregate", {"group_by": "kind,value,entity,speaker,mode"}, "group_by"),
    ("cards/aggregate", {"group_by": "time", "bucket": "year"}, "bucket"),
    ("cards/aggregate", {"group_by": "time", "timezone": "Nowhere"}, "timezone"),
    ("cards/one", {}, "card_id"),
    ("arbitrations", {"status": "lost"}, "status"),
]


def test_a_bad_request_names_its_field(memory: Memory) -> None:
    for path, query, field in BAD:
        problem = memory.get(path, answers=422, **query)
        assert (problem["status"], problem["field"]) == (422, field), query


def test_a_refusal_lists_the_allowed_values(memory: Memory) -> None:
    problem = memory.get("cards/aggregate", answers=422, group_by="colour")
    assert problem["allowed"] == list(AXES)
    assert "agent_id" in problem["detail"]


def test_what_is_not_there_is_not_found(memory: Memory) -> None:
    for path in (f"cards/{uuid4()}", f"arbitrations/{uuid4()}"):
        assert memory.get(path, answers=404)["title"] == "Not found"
    assert memory.get("cards", answers=404, knowledge=str(uuid4()))["field"] == "knowledge"
