"""The fold of the card tables: events in, row changes out. No clock, no network, no database."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from events.envelope import Event
from events.types.cards import EventNoted
from events.types.relations import CardsConnected, ConnectionWithdrawn
from projectors.cards.card import Row, event_row, knowledge_row, state_row
from projectors.cards.statement import Statement, statements_of
from projectors.cards.timeline import Timeline, knowledge_timeline, state_timeline

Key = tuple[str, str]  # user, identity
CardKey = tuple[str, str, UUID]  # user, kind, card
RelationKey = tuple[str, UUID, UUID, str]  # user, from, to, predicate


@dataclass(slots=True)
class Changes:
    """What a batch does to the tables: gone first, then put. Counts are differences; words are only ever added."""

    cards_put: dict[CardKey, Row] = field(default_factory=dict)
    cards_gone: set[CardKey] = field(default_factory=set)
    relations_put: dict[RelationKey, dict[str, Any]] = field(default_factory=dict)
    relations_gone: set[RelationKey] = field(default_factory=set)
    statements: list[Statement] = field(default_factory=list)
    counts: dict[str, tuple[int, int]] = field(default_factory=dict)
    words: set[tuple[str, str]] = field(default_factory=set)


def keys_touched(events: Iterable[Event], *, supersede: bool = True) -> set[Key]:
    """The identities whose earlier statements :func:`fold` must be given."""
    return {
        (event.user_id, s.identity) for event in events for s in statements_of(event, supersede=supersede)
    }


def fold(
    events: Sequence[Event], known: Mapping[Key, Sequence[Statement]], *, supersede: bool = True
) -> Changes:
    """The changes ``events`` make to tables that hold the fold of everything before them.

    ``known`` are the earlier statements of every identity in :func:`keys_touched`. The cards of an
    identity are computed afresh, before and after, and the difference is what changes: so the result
    depends on what was said and never on the order in which it came.
    """
    changes = Changes()
    said: dict[Key, list[Statement]] = {}
    for event in events:
        payload = event.payload
        if isinstance(payload, EventNoted):
            row, words = event_row(event, payload)
            changes.words.update((event.user_id, word) for word in words)
            changes.cards_put[event.user_id, "event", event.event_id] = row
            _count(changes, event.user_id, 1, row)
        elif isinstance(payload, CardsConnected):
            _connect(changes, event, payload)
        elif isinstance(payload, ConnectionWithdrawn):
            relation = (event.user_id, payload.from_card, payload.to_card, payload.predicate)
            changes.relations_put.pop(relation, None)
            changes.relations_gone.add(relation)
        else:
            for statement in statements_of(event, supersede=supersede):
                said.setdefault((event.user_id, statement.identity), []).append(statement)
                changes.statements.append(statement)
    for key, new in said.items():
        old = list(known.get(key, ()))
        _difference(changes, key[0], _rows(key, old), _rows(key, [*old, *new]))
    return changes


def _connect(changes: Changes, event: Event, payload: CardsConnected) -> None:
    key = (event.user_id, payload.from_card, payload.to_card, payload.predicate)
    changes.relations_gone.add(key)
    changes.relations_put[key] = {
        "reason": payload.reason,
        "confidence": payload.confidence,
        "event_id": event.event_id,
        "created_at": event.recorded_at,
    }


_Cards = dict[CardKey, tuple[Row, list[str]]]
_Relations = dict[RelationKey, dict[str, Any]]


def _rows(key: Key, statements: Sequence[Statement]) -> tuple[_Cards, _Relations]:
    if not statements:
        return {}, {}
    user_id, identity = key
    is_state = identity.startswith("state")
    timeline: Timeline = (state_timeline if is_state else knowledge_timeline)(statements)
    kind = "state" if is_state else "knowledge"
    build = state_row if is_state else knowledge_row
    cards = {(user_id, kind, span.first.event.event_id): build(span) for span in timeline.spans}
    relations = {
        (user_id, edge.newer.event.event_id, edge.older.event.event_id, edge.predicate): {
            "reason": edge.reason,
            "confidence": 1.0,
            "event_id": edge.newer.event.event_id,
            "created_at": edge.newer.event.recorded_at,
        }
        for edge in timeline.edges
    }
    return cards, relations


def _difference(
    changes: Changes,
    user_id: str,
    before: tuple[_Cards, _Relations],
    after: tuple[_Cards, _Relations],
) -> None:
    for key, (row, words) in after[0].items():
        earlier = before[0].get(key)
        if earlier is None or earlier[0] != row:
            changes.cards_put[key] = row
            changes.words.update((user_id, word) for word in words)
            _count(changes, user_id, 1, row)
            if earlier is not None:
                changes.cards_gone.add(key)
                _count(changes, user_id, -1, earlier[0])
    for key, (row, _) in before[0].items():
        if key not in after[0]:
            changes.cards_gone.add(key)
            _count(changes, user_id, -1, row)
    for relation, values in after[1].items():
        if before[1].get(relation) != values:
            changes.relations_put[relation] = values
            changes.relations_gone.add(relation)
    changes.relations_gone.update(set(before[1]) - set(after[1]))


def _count(changes: Changes, user_id: str, sign: int, row: Row) -> None:
    cards, terms = changes.counts.get(user_id, (0, 0))
    changes.counts[user_id] = (cards + sign, terms + sign * len(row["term_keys"]))
