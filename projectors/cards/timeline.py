"""From statements to cards: pure functions of the set of statements, whatever order they arrived in.

A timeline is ordered by *effective* time. Statements that agree with what holds verify it; one that
differs supersedes it from its own effective time on; one that ends it closes it; a slip of the same
session was never true and is retracted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from events.types.cards import StateAsserted
from projectors.cards.statement import Statement


@dataclass(slots=True)
class Span:
    """One card's life: the statement that made it, those that agreed, and when it stopped being true."""

    first: Statement
    effective_at: datetime
    superseded_at: datetime | None = None
    retracted: bool = False
    agreeing: list[Statement] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Edge:
    """A relation the timeline implies, newer to older, with why."""

    newer: Statement
    older: Statement
    predicate: str
    reason: str


@dataclass(frozen=True, slots=True)
class Timeline:
    """Every span of one identity, in order of effective time, and the relations between them."""

    spans: tuple[Span, ...]
    edges: tuple[Edge, ...]


def _state(statement: Statement) -> StateAsserted:
    payload = statement.event.payload
    assert isinstance(payload, StateAsserted)
    return payload


def _order(statement: Statement) -> tuple[datetime, str, str, str]:
    """A total order that does not depend on arrival: when it was said, in which turn, and what."""
    payload = _state(statement)
    return (
        payload.origin.said_at,
        min(payload.origin.turn_ids, default=""),
        statement.value_key,
        payload.content,
    )


def state_timeline(statements: Sequence[Statement]) -> Timeline:
    """The cards of one state identity."""
    said = sorted(statements, key=_order)
    effective = {id(s): _state(s).effective_at for s in said}
    mistaken: dict[int, Statement] = {}
    for statement in said:
        payload = _state(statement)
        if payload.statement == "corrected":
            slip = _slip(statement, said, mistaken)
            if slip is not None:
                mistaken[id(slip)] = statement
                if not payload.time_resolved:
                    # The right value holds since the wrong one was claimed to.
                    effective[id(statement)] = effective[id(slip)]
    spans: list[Span] = []
    edges: list[Edge] = []
    standing = sorted(
        (s for s in said if id(s) not in mistaken and _speaks_of_itself(s)),
        key=lambda s: (effective[id(s)], _order(s)),
    )
    for statement in standing:
        _apply(statement, effective[id(statement)], spans, edges)
    for statement in said:
        correction = mistaken.get(id(statement))
        if correction is not None:
            instant = effective[id(statement)]
            spans.append(Span(statement, instant, superseded_at=instant, retracted=True))
            if _speaks_of_itself(correction):
                edges.append(
                    Edge(_card_of(correction, spans), statement, "retracts", "corrected by the speaker")
                )
    spans.sort(key=lambda span: (span.effective_at, _order(span.first)))
    return Timeline(tuple(spans), tuple(edges))


def knowledge_timeline(statements: Sequence[Statement]) -> Timeline:
    """The one card of a concept: made when it was first learned, deepened by what was said later."""
    said = sorted(statements, key=lambda s: (s.said_at, str(s.event.event_id)))
    span = Span(said[0], said[0].said_at, agreeing=said[1:])
    return Timeline((span,), ())


def _speaks_of_itself(statement: Statement) -> bool:
    """False for a correction told to the identity of the value it takes back."""
    payload = _state(statement)
    return (
        payload.statement != "corrected"
        or payload.cardinality == "single_value"
        or statement.identity.endswith("\x1f" + statement.value_key)
    )


def _slip(
    correction: Statement, said: Sequence[Statement], mistaken: dict[int, Statement]
) -> Statement | None:
    """The latest earlier claim of the same session that ``correction`` takes back."""
    payload = _state(correction)
    for statement in reversed(said):
        other = _state(statement)
        if (
            _order(statement) < _order(correction)
            and other.origin.session_id == payload.origin.session_id
            and other.statement != "ended"
            and id(statement) not in mistaken
            and (statement.value_key != correction.value_key or not _speaks_of_itself(correction))
            and _speaks_of_itself(statement)
        ):
            return statement
    return None


def _apply(statement: Statement, effective_at: datetime, spans: list[Span], edges: list[Edge]) -> None:
    payload = _state(statement)
    current = spans[-1] if spans and _holds(spans[-1], effective_at) else None
    if payload.statement == "ended":
        if current is not None and current.first.value_key == statement.value_key:
            current.superseded_at = effective_at
        return
    if current is not None and current.first.value_key == statement.value_key:
        current.agreeing.append(statement)
        if payload.effective_until is not None:
            current.superseded_at = payload.effective_until
        return
    span = Span(statement, effective_at, superseded_at=payload.effective_until)
    if current is not None:
        current.superseded_at = effective_at
        edges.append(Edge(statement, current.first, "update", _reason(payload, _state(current.first))))
    spans.append(span)


def _holds(span: Span, instant: datetime) -> bool:
    return span.superseded_at is None or span.superseded_at > instant


def _card_of(statement: Statement, spans: Sequence[Span]) -> Statement:
    """The statement that made the card ``statement`` is part of."""
    for span in spans:
        if span.first is statement or any(other is statement for other in span.agreeing):
            return span.first
    return statement


def _reason(newer: StateAsserted, older: StateAsserted) -> str:
    since = newer.effective_at.date().isoformat()
    how = "announced" if newer.announced else "stated"
    return f"{newer.concept_key} is {newer.value}, no longer {older.value}, {how} as of {since}"
