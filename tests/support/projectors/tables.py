"""The card tables in memory: the same fold, given what the projector would look up, with no database."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any
from uuid import UUID

from events.types.cards import EventNoted
from events.types.envelope import Event
from events.types.relations import CardsConnected, ConnectionWithdrawn
from projectors.cards.card import StoredCard
from projectors.cards.connections import CHAINS, Link
from projectors.cards.event_standing import standings_touched
from projectors.cards.fold import CardKey, Changes, fold, keys_touched, remarked
from projectors.cards.related_rows import (
    ArbitrationKey,
    RelationKey,
    StoredArbitration,
    StoredRelation,
    StoredUpdate,
    UpdateKey,
)
from projectors.cards.statement import Key, Statement, statements_of


class Tables:
    """Takes batches as a live projector does. ``rows`` are what the tables hold, by table and key."""

    def __init__(self) -> None:
        self.cards: dict[CardKey, StoredCard] = {}
        self.relations: dict[RelationKey, StoredRelation] = {}
        self.arbitrations: dict[ArbitrationKey, StoredArbitration] = {}
        self.updates: dict[UpdateKey, StoredUpdate] = {}
        self.aliases: dict[Any, Any] = {}
        self.counts: dict[str, tuple[int, int]] = {}
        self._said: dict[Key, list[Statement]] = {}
        self._remarks: list[Event] = []
        self._noted: dict[UUID, Event] = {}

    @property
    def rows(self) -> dict[str, object]:
        return {
            "cards": self.cards,
            "relations": self.relations,
            "arbitrations": self.arbitrations,
            "updates": self.updates,
            "aliases": self.aliases,
            "counts": self.counts,
        }

    def take(self, batch: list[Event], recalled: Sequence[Event] = ()) -> Changes:
        """Folds a batch that takes back the noted events ``recalled``."""
        keys = keys_touched(batch)
        targets = {(event.user_id, target) for event in batch if (target := remarked(event)) is not None}
        keys |= {
            key for key, told in self._said.items() for one in told if (key[0], one.event.event_id) in targets
        }
        known = self._known(keys)
        about = {(key[0], one.event.event_id) for key, told in known.items() for one in told}
        about |= {(event.user_id, event.event_id) for event in batch} | standings_touched(batch, recalled)
        changes = fold(
            batch,
            known,
            recalled,
            remarks=[event for event in self._remarks if (event.user_id, remarked(event)) in about],
            connections=self._links(),
            replaced=self._replaced(standings_touched(batch, recalled)),
        )
        self._put(self.cards, changes.cards_put, changes.cards_gone)
        self._put(self.relations, changes.relations_put, changes.relations_gone)
        self._put(self.arbitrations, changes.arbitrations_put, changes.arbitrations_gone)
        self._put(self.updates, changes.updates_put, changes.updates_gone)
        for place, held in changes.standings.items():
            self.cards[place] = replace(
                self.cards[place],
                event_status=held.event_status,
                last_verified=held.last_verified,
                mode=held.mode,
                superseded_at=held.superseded_at,
                retracted=held.retracted,
            )
        for key, word in changes.aliases.items():
            self.aliases[key] = max(self.aliases.get(key, word), word)
        for user, (cards, terms) in changes.counts.items():
            before = self.counts.get(user, (0, 0))
            self.counts[user] = (before[0] + cards, before[1] + terms)
        for one in changes.statements:
            self._said.setdefault((one.event.user_id, one.identity), []).append(one)
        self._remarks += [event for _, event in changes.remarks]
        self._noted |= {event.event_id: event for event in batch if isinstance(event.payload, EventNoted)}
        return changes

    def _replaced(self, touched: set[tuple[str, UUID]]) -> list[Event]:
        named = {card for _, card in touched}
        named |= {key[1] for key in self.relations if key[2] in named and key[3:] == ("update", True)}
        return [
            event
            for card, event in self._noted.items()
            if card in named and ("u", "event", card) in self.cards
        ]

    def _known(self, keys: set[Key]) -> dict[Key, list[Statement]]:
        known: dict[Key, list[Statement]] = {}
        waiting = list(keys)
        while waiting:
            key = waiting.pop()
            if key not in known and key in self._said:
                known[key] = self._said[key]
                waiting += [
                    (key[0], other.identity) for one in self._said[key] for other in statements_of(one.event)
                ]
        return known

    def _links(self) -> list[Link]:
        return [
            key[:4]
            for key, row in self.relations.items()
            if key[3] in CHAINS and not key[4] and not row.refused
        ]

    @staticmethod
    def _put(table: dict[Any, Any], put: dict[Any, Any], gone: Iterable[Any]) -> None:
        for key in gone:
            table.pop(key, None)
        for key, row in put.items():
            assert key not in table, "what is put must not be there: COPY would fail"
            table[key] = row


def tables_of(*batches: list[Event]) -> Tables:
    """The tables after these batches, one after the other."""
    tables = Tables()
    for batch in batches:
        tables.take(batch)
    return tables


def is_ordered(event: Event) -> bool:
    """True for an event whose order in the log counts."""
    return isinstance(event.payload, CardsConnected | ConnectionWithdrawn | EventNoted)
