"""Every appended event fits the tables that fold it, for every source of events."""

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

import pytest

from events.store.bounds import check, fault_of
from events.types.cards import Utterance
from events.types.codec import PayloadError
from events.types.extraction import Usage
from events.types.naming import KnowledgeMerged, TagAliased
from tests.support.events.payloads import EVENT, FAILED, KNOWLEDGE, ORIGIN, READING, STATE

FAR = datetime(9999, 12, 31, 23, tzinfo=timezone(-timedelta(hours=5)))


@pytest.mark.parametrize("payload", [STATE, EVENT, KNOWLEDGE, READING, FAILED])
def test_what_is_ordinary_passes(payload: Any) -> None:
    assert fault_of(payload) is None
    check(payload)


def test_the_longest_that_is_allowed_passes() -> None:
    check(replace(STATE, entity="e" * 512, concept_key="k" * 128, value="v" * 768, content="c" * 65_536))
    check(replace(KNOWLEDGE, title="t" * 512, aliases=tuple(f"a{n}" for n in range(64))))


@pytest.mark.parametrize(
    ("payload", "change", "fault"),
    [
        (STATE, {"concept_key": "k" * 20_000}, "concept_key is 20000 bytes long; at most 128"),
        (STATE, {"entity": "漢" * 171}, "entity is 513 bytes long"),
        (STATE, {"entity": "\ufdfa" * 100}, "entity is 3300 bytes long in its plain form"),
        (STATE, {"value": "v" * 769}, "value is 769 bytes long"),
        (STATE, {"replaces": "v" * 769}, "replaces is 769 bytes long"),
        (STATE, {"value": "a\0b"}, "value holds a NUL"),
        (STATE, {"value": "\ud800"}, "value holds half a character"),
        (STATE, {"content": "c" * 65_537}, "content is 65537 bytes long"),
        (STATE, {"tags": ("t",) * 65}, "tags are 65; at most 64"),
        (STATE, {"confidence": float("nan")}, "confidence is nan; use 0 to 1"),
        (STATE, {"confidence": 1e308}, "confidence is 1e+308"),
        (STATE, {"weight": -1.0}, "weight is -1.0"),
        (STATE, {"effective_at": FAR}, "effective_at is in the year 9999"),
        (STATE, {"effective_until": FAR}, "effective_until is in the year 9999"),
        (STATE, {"origin": replace(ORIGIN, project_id="p" * 513)}, "origin.project_id is 513 bytes long"),
        (STATE, {"origin": replace(ORIGIN, turn_ids=("t",) * 1_001)}, "origin.turn_ids are 1001"),
        (EVENT, {"occurred_at": FAR}, "occurred_at is in the year 9999"),
        (EVENT, {"importance": 40_000}, "importance is 40000; use 1 to 10"),
        (EVENT, {"importance": True}, "importance is True"),
        (EVENT, {"topics": ("x" * 513,)}, "topics is 513 bytes long"),
        (EVENT, {"before": (Utterance("x"),) * 17}, "before are 17"),
        (EVENT, {"entity": "e\0"}, "entity holds a NUL"),
        (KNOWLEDGE, {"title": "t" * 513}, "title is 513 bytes long"),
        (KNOWLEDGE, {"aliases": ("a",) * 1_000_000}, "aliases are 1000000; at most 64"),
        (KNOWLEDGE, {"aliases": ("a" * 3_000,)}, "aliases is 3000 bytes long"),
        (READING, {"usage": Usage(input_tokens=10**308)}, "usage.input_tokens is 1000"),
        (READING, {"usage": Usage(output_tokens=-1)}, "usage.output_tokens is -1"),
        (READING, {"usage": Usage(cost_usd=float("inf"))}, "usage.cost_usd is inf"),
        (FAILED, {"reason": "r" * 10_000}, "reason is 10000 bytes long"),
    ],
)
def test_what_no_table_takes_is_refused_by_field(payload: Any, change: dict[str, Any], fault: str) -> None:
    with pytest.raises(PayloadError, match=type(payload).__name__) as raised:
        check(replace(payload, **change))
    assert fault in str(raised.value)


def test_names_given_outside_the_turns_are_bounded_too() -> None:
    assert fault_of(KnowledgeMerged(from_title="x" * 600, into_title="y", reason="r"))
    assert fault_of(TagAliased(alias="a", tag="t" * 600))
