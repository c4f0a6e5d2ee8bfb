"""Rows beside the cards: relations a timeline implies, conflicts, and what cards said before they were overwritten."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

import orjson

from events.language.concepts import canonical_key, normalise_entity
from events.types.cards import KnowledgeLearned, StateAsserted
from projectors.cards.card_rows import Row
from projectors.cards.statement import Statement
from projectors.cards.timeline import Conflict, Timeline, TimelineEdge, ValidPeriod

RelationKey = tuple[str, UUID, UUID, str, bool]  # user, from, to, predicate, implied by a timeline
ArbitrationKey = tuple[str, UUID]  # user, arbitration
UpdateKey = tuple[str, UUID, UUID]  # user, card, the statement that overwrote it


def relations(user_id: str, timeline: Timeline) -> dict[RelationKey, Row]:
    """The relations between the cards of a timeline."""
    return {
        (user_id, edge.newer.event.event_id, edge.older.event.event_id, edge.predicate, True): _relation(edge)
        for edge in timeline.edges
    }


def _relation(edge: TimelineEdge) -> Row:
    event = edge.by.event
    return {
        "reason": edge.reason,
        "confidence": 1.0,
        "event_id": event.event_id,
        "created_at": event.recorded_at,
        "actor": event.actor,
        "refused": False,
    }


def arbitrations(user_id: str, timeline: Timeline) -> dict[ArbitrationKey, Row]:
    """The conflicts of a timeline, open or settled."""
    return {
        (user_id, conflict.contest.statement.event.event_id): _arbitration(conflict)
        for conflict in timeline.conflicts
    }


def _arbitration(conflict: Conflict) -> Row:
    contest = conflict.contest
    old, new = contest.old.state, contest.statement.state
    return {
        "project_id": new.origin.project_id,
        "entity": normalise_entity(new.entity),
        "concept_key": canonical_key(new.concept_key),
        "old_card": conflict.old.event.event_id,
        "new_card": conflict.new.event.event_id,
        "old_value": old.value,
        "new_value": new.value,
        "reason": contest.reason,
        "evidence": orjson.dumps({"old": _evidence(old), "new": _evidence(new)}).decode(),
        "status": contest.status,
        "opened_at": new.origin.said_at,
        "settled_at": contest.settled_at,
        "position": contest.statement.event.position,
    }


def _evidence(payload: StateAsserted) -> dict[str, Any]:
    span = payload.origin.source_span
    return {
        "turn_ids": payload.origin.turn_ids,
        "said_at": payload.origin.said_at,
        "quote": payload.content if span is None else span.text,
    }


def updates(user_id: str, timeline: Timeline) -> dict[UpdateKey, Row]:
    """What the cards of a timeline said before they were overwritten."""
    return {
        (user_id, span.first.event.event_id, newer.event.event_id): {
            "changed_at": newer.said_at,
            "old_value": _value(older),
            "new_value": _value(newer),
            "old_content": older.event.payload.content,
            "reason": _reason(newer),
        }
        for span in timeline.spans
        if span.revisions
        for older, newer in _revisions(span)
    }


def _revisions(span: ValidPeriod) -> Iterator[tuple[Statement, Statement]]:
    older = span.first
    for newer in span.revisions:
        yield older, newer
        older = newer


def _value(statement: Statement) -> str:
    payload = statement.event.payload
    assert isinstance(payload, StateAsserted | KnowledgeLearned)
    return payload.value if isinstance(payload, StateAsserted) else payload.definition


def _reason(newer: Statement) -> str:
    payload = newer.event.payload
    if isinstance(payload, KnowledgeLearned):
        return f"a later definition of {payload.title}"
    how = "corrected" if newer.state.statement == "corrected" else "updated"
    return f"{how}: {newer.state.content}"
