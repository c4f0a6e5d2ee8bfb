"""Relations, conflicts, and the former contents of overwritten cards."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import orjson

from events.language.concepts import canonical_key, normalise_entity
from events.types.cards import KnowledgeLearned, StateAsserted
from events.types.envelope import Event
from projectors.cards.arbitration import Status
from projectors.cards.statement import Statement
from projectors.cards.timeline import Conflict, Timeline, ValidPeriod

RelationKey = tuple[str, UUID, UUID, str, bool]  # user, from, to, predicate, implied by a timeline
ArbitrationKey = tuple[str, UUID]  # user, arbitration
UpdateKey = tuple[str, UUID, UUID]  # user, card, the statement that overwrote it


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRelation:
    """A row of the table ``relations``."""

    user_id: str
    from_card: UUID
    to_card: UUID
    predicate: str
    implied: bool
    reason: str
    confidence: float
    event_id: UUID
    created_at: datetime
    actor: str
    refused: bool

    @property
    def key(self) -> RelationKey:
        return self.user_id, self.from_card, self.to_card, self.predicate, self.implied


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredArbitration:
    """A row of the table ``arbitrations``.

    ``evidence`` is JSON: ``{"old": {"turn_ids", "said_at", "quote"}, "new": {...}}``. ``said_at`` is that of the new
    value. ``opened_at`` and ``settled_at`` are times of the log: when it had both sides, and what settled them.
    """

    user_id: str
    arbitration_id: UUID
    project_id: str
    entity: str
    concept_key: str
    old_card: UUID
    new_card: UUID
    old_value: str
    new_value: str
    reason: str
    evidence: str
    status: Status
    said_at: datetime
    opened_at: datetime
    settled_at: datetime | None
    position: int

    @property
    def key(self) -> ArbitrationKey:
        return self.user_id, self.arbitration_id


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredUpdate:
    """A row of the table ``card_update_log``."""

    user_id: str
    card_id: UUID
    event_id: UUID
    changed_at: datetime
    old_value: str
    new_value: str
    old_content: str
    reason: str

    @property
    def key(self) -> UpdateKey:
        return self.user_id, self.card_id, self.event_id


def relations(timeline: Timeline) -> dict[RelationKey, StoredRelation]:
    """Returns the relations that a timeline implies between its cards."""
    rows = (
        implied(
            edge.by.event, edge.newer.event.event_id, edge.older.event.event_id, edge.predicate, edge.reason
        )
        for edge in timeline.edges
    )
    return {row.key: row for row in rows}


def implied(event: Event, newer: UUID, older: UUID, predicate: str, reason: str) -> StoredRelation:
    """Returns the relation between two cards that ``event`` implies."""
    return StoredRelation(
        user_id=event.user_id,
        from_card=newer,
        to_card=older,
        predicate=predicate,
        implied=True,
        reason=reason,
        confidence=1.0,
        event_id=event.event_id,
        created_at=event.recorded_at,
        actor=event.actor,
        refused=False,
    )


def arbitrations(user_id: str, timeline: Timeline) -> dict[ArbitrationKey, StoredArbitration]:
    """Returns the conflicts of a timeline, open or settled."""
    return {(row := _arbitration(user_id, conflict)).key: row for conflict in timeline.conflicts}


def _arbitration(user_id: str, conflict: Conflict) -> StoredArbitration:
    contest = conflict.contest
    old, new = contest.old.state, contest.statement.state
    opened_at = max(contest.old.event.recorded_at, contest.statement.event.recorded_at)
    return StoredArbitration(
        user_id=user_id,
        arbitration_id=contest.statement.event.event_id,
        project_id=new.origin.project_id,
        entity=normalise_entity(new.entity),
        concept_key=canonical_key(new.concept_key),
        old_card=conflict.old.event.event_id,
        new_card=conflict.new.event.event_id,
        old_value=old.value,
        new_value=new.value,
        reason=contest.reason,
        evidence=orjson.dumps({"old": _evidence(old), "new": _evidence(new)}).decode(),
        status=contest.status,
        said_at=new.origin.said_at,
        opened_at=opened_at,
        settled_at=None if contest.settled_at is None else max(opened_at, contest.settled_at),
        position=contest.statement.event.position,
    )


def _evidence(payload: StateAsserted) -> dict[str, object]:
    span = payload.origin.source_span
    return {
        "turn_ids": payload.origin.turn_ids,
        "said_at": payload.origin.said_at,
        "quote": payload.content if span is None else span.text,
    }


def updates(user_id: str, timeline: Timeline) -> dict[UpdateKey, StoredUpdate]:
    """Returns what the cards of a timeline held before they were overwritten."""
    return {
        (row := _update(user_id, period, older, newer)).key: row
        for period in timeline.periods
        if period.revisions
        for older, newer in _revisions(period)
    }


def _update(user_id: str, period: ValidPeriod, older: Statement, newer: Statement) -> StoredUpdate:
    return StoredUpdate(
        user_id=user_id,
        card_id=period.first.event.event_id,
        event_id=newer.event.event_id,
        changed_at=newer.said_at,
        old_value=_value(older),
        new_value=_value(newer),
        old_content=older.event.payload.content,
        reason=_reason(newer),
    )


def _revisions(period: ValidPeriod) -> Iterator[tuple[Statement, Statement]]:
    older = period.first
    for newer in period.revisions:
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
