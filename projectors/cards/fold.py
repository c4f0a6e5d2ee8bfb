"""The fold of the card tables: events in, row changes out. No clock, no network, no database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from events.envelope import Event
from events.types.cards import EventNoted
from events.types.extraction import CardsWithdrawn
from events.types.relations import CardsConnected, ConnectionWithdrawn
from projectors.cards.card import Row, event_row, knowledge_row, spoken_terms, state_row
from projectors.cards.statement import Statement, statements_of
from projectors.cards.timeline import Span, Timeline, knowledge_timeline, state_timeline

Key = tuple[str, str]  # user, identity
CardKey = tuple[str, str, UUID]  # user, kind, card
RelationKey = tuple[str, UUID, UUID, str, bool]  # user, from, to, predicate, implied by a timeline


@dataclass(slots=True)
class Changes:
    """What a batch does to the tables: gone first, then put. Counts are differences.

    Terms, by user, are those ever said, whether or not a card holds them now, so they are only ever added.
    """

    cards_put: dict[CardKey, Row] = field(default_factory=dict)
    cards_gone: set[CardKey] = field(default_factory=set)
    relations_put: dict[RelationKey, dict[str, Any]] = field(default_factory=dict)
    relations_gone: set[RelationKey] = field(default_factory=set)
    statements: list[Statement] = field(default_factory=list)
    statements_gone: list[Statement] = field(default_factory=list)
    counts: dict[str, tuple[int, int]] = field(default_factory=dict)
    terms: dict[str, set[str]] = field(default_factory=dict)


def keys_touched(
    events: Iterable[Event], recalled: Iterable[Event] = (), *, supersede: bool = True
) -> set[Key]:
    """The identities whose earlier statements :func:`fold` must be given."""
    return {
        (event.user_id, s.identity)
        for each in (events, recalled)
        for event in each
        for s in statements_of(event, supersede=supersede)
    }


def fold(
    events: Sequence[Event],
    known: Mapping[Key, Sequence[Statement]],
    recalled: Sequence[Event] = (),
    *,
    supersede: bool = True,
) -> Changes:
    """The changes ``events`` make to tables that hold the fold of everything before them.

    ``known`` are the earlier statements of every identity in :func:`keys_touched`. The cards of an
    identity are computed afresh, before and after, and the difference is what changes: so the result
    depends on what was said and never on the order in which it came. ``recalled`` are the events that a
    ``CardsWithdrawn`` among ``events`` takes back.
    """
    changes = Changes()
    said: dict[Key, list[Statement]] = {}
    for event in events:
        payload = event.payload
        if isinstance(payload, EventNoted):
            row, terms = event_row(event, payload)
            changes.terms.setdefault(event.user_id, set()).update(terms)
            changes.cards_put[event.user_id, "event", event.event_id] = row
            _count(changes, event.user_id, 1, row)
        elif isinstance(payload, CardsConnected):
            _connect(changes, event, payload)
        elif isinstance(payload, ConnectionWithdrawn):
            relation = (event.user_id, payload.from_card, payload.to_card, payload.predicate, False)
            changes.relations_put.pop(relation, None)
            changes.relations_gone.add(relation)
        elif statements := statements_of(event, supersede=supersede):
            changes.terms.setdefault(event.user_id, set()).update(spoken_terms(event))
            changes.statements += statements
            for statement in statements:
                said.setdefault((event.user_id, statement.identity), []).append(statement)
    for key in _withdraw(changes, recalled, supersede=supersede):
        said.setdefault(key, [])
    gone = {event.event_id for event in recalled}
    for key, new in said.items():
        old = known.get(key, ())
        now = [*old, *new]
        if gone:
            changes.statements_gone += [one for one in old if one.event.event_id in gone]
            now = [one for one in now if one.event.event_id not in gone]
        _difference(changes, key, _timeline(key, old), _timeline(key, now))
    if gone:
        changes.statements = [one for one in changes.statements if one.event.event_id not in gone]
    return changes


def withdrawn_places(events: Iterable[Event]) -> list[tuple[int, int]]:
    """Where the events stand that ``events`` take back: (partition, position)."""
    return [
        (event.partition, position)
        for event in events
        if isinstance(event.payload, CardsWithdrawn)
        for position in event.payload.positions
    ]


def _withdraw(changes: Changes, recalled: Iterable[Event], *, supersede: bool) -> Iterator[Key]:
    """Take noted events back at once; gives the identities whose statements are to be taken back."""
    for event in recalled:
        if isinstance(event.payload, EventNoted):
            card = (event.user_id, "event", event.event_id)
            row = changes.cards_put.pop(card, None)
            if row is None:
                row, _ = event_row(event, event.payload)
                changes.cards_gone.add(card)
            _count(changes, event.user_id, -1, row)
        for statement in statements_of(event, supersede=supersede):
            yield event.user_id, statement.identity


def _connect(changes: Changes, event: Event, payload: CardsConnected) -> None:
    key = (event.user_id, payload.from_card, payload.to_card, payload.predicate, False)
    changes.relations_gone.add(key)
    changes.relations_put[key] = {
        "reason": payload.reason,
        "confidence": payload.confidence,
        "event_id": event.event_id,
        "created_at": event.recorded_at,
        "actor": event.actor,
        "refused": False,
    }


def _timeline(key: Key, statements: Sequence[Statement]) -> Timeline:
    if not statements:
        return Timeline((), ())
    return (state_timeline if _is_state(key) else knowledge_timeline)(statements)


def _is_state(key: Key) -> bool:
    return key[1].startswith("state")


def _difference(changes: Changes, key: Key, before: Timeline, after: Timeline) -> None:
    user_id = key[0]
    build, kind = (state_row, "state") if _is_state(key) else (knowledge_row, "knowledge")
    # A card is a function of its span. Most spans of a long timeline stay as they are, and looking at what they
    # are made of is a thousand times cheaper than making two rows to compare.
    earlier = {span.first.event.event_id: span for span in before.spans}
    for span in after.spans:
        card_id = span.first.event.event_id
        old = earlier.pop(card_id, None)
        if old is not None and _content(old) == _content(span):
            continue
        card = (user_id, kind, card_id)
        changes.cards_put[card] = build(span)
        _count(changes, user_id, 1, changes.cards_put[card])
        if old is not None:
            changes.cards_gone.add(card)
            _count(changes, user_id, -1, build(old))
    for card_id, span in earlier.items():
        changes.cards_gone.add((user_id, kind, card_id))
        _count(changes, user_id, -1, build(span))
    held, holding = _relations(user_id, before), _relations(user_id, after)
    for relation, values in holding.items():
        if held.get(relation) != values:
            changes.relations_put[relation] = values
            changes.relations_gone.add(relation)
    changes.relations_gone.update(held.keys() - holding.keys())


def _content(span: Span) -> tuple[object, ...]:
    agreeing = [statement.event.event_id for statement in span.agreeing]
    return span.effective_at, span.superseded_at, span.retracted, agreeing


def _relations(user_id: str, timeline: Timeline) -> dict[RelationKey, dict[str, Any]]:
    return {
        (user_id, edge.newer.event.event_id, edge.older.event.event_id, edge.predicate, True): {
            "reason": edge.reason,
            "confidence": 1.0,
            "event_id": edge.newer.event.event_id,
            "created_at": edge.newer.event.recorded_at,
            "actor": edge.newer.event.actor,
            "refused": False,
        }
        for edge in timeline.edges
    }


def _count(changes: Changes, user_id: str, sign: int, row: Row) -> None:
    cards, terms = changes.counts.get(user_id, (0, 0))
    changes.counts[user_id] = (cards + sign, terms + sign * row["own_terms"])
