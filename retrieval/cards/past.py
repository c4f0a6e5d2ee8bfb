"""The past: the tables as they would be if the log ended at an earlier instant."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import partial
from typing import Any
from uuid import UUID

import orjson
from psycopg import AsyncConnection
from psycopg.rows import dict_row

from events.access.principal import Reach
from events.platform.database import statement
from events.platform.settings import Settings
from events.references.reference_log import references_in
from events.store.log import events_of
from events.types.envelope import Event, partition_of
from projectors.cards.arbitration import Thresholds
from projectors.cards.card import StoredCard
from projectors.cards.card_rows import reference_card
from projectors.cards.fold import fold
from projectors.cards.related_rows import StoredArbitration, StoredRelation, StoredUpdate
from projectors.cards.subjects import subjects_in

_PACKAGE = "retrieval.cards"


@dataclass(frozen=True, slots=True)
class History:
    """The rows of the tables with these names, in no particular order. ``relations`` are those that cards imply."""

    cards: list[StoredCard]
    relations: list[StoredRelation]
    arbitrations: list[StoredArbitration]
    updates: list[StoredUpdate]


def cards_of(
    events: Iterable[Event],
    identities: Mapping[UUID, str] | None = None,
    *,
    supersede: bool = True,
    thresholds: Thresholds | None = None,
) -> History:
    """Returns the rows that ``events`` make. A pure function.

    ``events`` are all statements of some identities and the remarks on them up to some instant, in any order.
    ``identities`` are those of the statements. Whose facts they are is therefore known as today, and not as then.
    """
    known = sorted(events, key=lambda event: (event.partition, event.position))
    subjects = subjects_in(known, identities or {})
    changes = fold(known, {}, subjects=subjects, supersede=supersede, thresholds=thresholds)
    return History(
        list(changes.cards_put.values()),
        [row for row in changes.relations_put.values() if row.implied],
        list(changes.arbitrations_put.values()),
        list(changes.updates_put.values()),
    )


Fold = Callable[[Sequence[Event], Mapping[UUID, str]], History]
"""Folds statements and remarks into rows with the fold of the projector."""


def fold_of(settings: Settings) -> Fold:
    """Returns the fold of the live tables, with its settings."""
    return partial(cards_of, supersede=settings.supersede_fork, thresholds=Thresholds.of(settings))


@dataclass(frozen=True, slots=True)
class Past:
    """The difference between the tables then and now. ``history`` replaces the hidden cards.

    ``position`` is the last position that was recorded then. ``identities`` holds the identity of each hidden card or
    statement. Each event is an identity of its own.
    """

    position: int
    identities: Mapping[UUID, str]
    history: History

    @property
    def hidden(self) -> Collection[UUID]:
        """The cards whose identities have later statements, and the events of chains that went on.

        These cards may differ from then.
        """
        return self.identities.keys()

    def within(self, reach: Reach) -> Past:
        """Returns the past with the arbitrations whose two cards are in ``reach``."""
        modes = {card.card_id: card.mode for card in self.history.cards}
        kept = [
            each
            for each in self.history.arbitrations
            if all(reach.admits(each.project_id, modes.get(card)) for card in (each.old_card, each.new_card))
        ]
        return replace(self, history=replace(self.history, arbitrations=kept))

    def having(self, references: Sequence[StoredCard]) -> Past:
        """Returns the past with the cards that references had then."""
        identities = {card.card_id: f"reference {card.card_id}" for card in references}
        history = replace(self.history, cards=[*self.history.cards, *references])
        return replace(self, identities={**self.identities, **identities}, history=history)

    def parameters(self) -> dict[str, Any]:
        """The named parameters of the statements ``known_*``."""
        return {
            "known_position": self.position,
            "hidden": list(self.hidden),
            "known_cards": orjson.dumps(self.history.cards).decode(),
            "known_relations": orjson.dumps(self.history.relations).decode(),
            "known_arbitrations": orjson.dumps(
                [
                    each | {"evidence": orjson.Fragment(each["evidence"])}
                    for each in map(asdict, self.history.arbitrations)
                ]
            ).decode(),
            "known_updates": orjson.dumps(self.history.updates).decode(),
        }


async def past(
    connection: AsyncConnection,
    folded: Fold,
    *,
    user_id: str,
    known_at: datetime,
    cards: Sequence[UUID] | None = None,
) -> Past:
    """Returns the past of a user at ``known_at``. With ``cards``, only the past of their identities and chains.

    The cost grows with the statements of the identities that have later statements. Other identities are unchanged.
    Statements that a later reextraction withdrew stay absent.
    """
    partition = partition_of(user_id)
    cursor = connection.cursor(row_factory=dict_row)
    await cursor.execute(statement(_PACKAGE, "place_at"), {"partition": partition, "known_at": known_at})
    found = await cursor.fetchone()
    position = 0 if found is None else int(found["low"])
    await cursor.execute(
        statement(_PACKAGE, "said_since"),
        {"user_id": user_id, "known_position": position, "cards": None if cards is None else list(cards)},
    )
    rows = await cursor.fetchall()
    named = [(row.pop("identity"), row) for row in rows]
    identities = {row["event_id"]: identity for identity, row in named if identity is not None}
    await cursor.execute(
        statement(_PACKAGE, "replaced_since"),
        {
            "user_id": user_id,
            "partition": partition,
            "known_position": position,
            "cards": None if cards is None else list(cards),
        },
    )
    noted = await cursor.fetchall()
    identities |= {row["event_id"]: f"event {row['event_id']}" for row in noted}
    said = {
        row["event_id"]: row for row in (*(row for _, row in named), *noted) if row["position"] <= position
    }
    return Past(position, identities, folded(events_of(said.values()), identities))


def cards_then(rows: Iterable[dict[str, object]], reader: str | None = None) -> list[StoredCard]:
    """Returns the cards of the references of the rows of :data:`THEN`, for ``reader``. None: for their owner."""
    told = [event for each, event in references_in(rows) if not each.archived]
    made = (reference_card(event if reader is None else replace(event, user_id=reader)) for event in told)
    return [each[0] for each in made if each is not None]
