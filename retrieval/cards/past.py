"""What was known then: the tables as they would stand had the log ended at an earlier instant."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Protocol
from uuid import UUID

import orjson
from psycopg import AsyncConnection
from psycopg.rows import dict_row

from events.platform.settings import Settings
from events.platform.sql import statement
from events.store.log import event_of
from events.types.envelope import Event, partition_of
from projectors.cards.arbitration import Thresholds
from projectors.cards.history import History, cards_of

_PACKAGE = "retrieval.cards"


class Fold(Protocol):
    """Folds statements and remarks into the rows they make, as the projector does."""

    def __call__(self, events: Sequence[Event]) -> History: ...


def fold_of(settings: Settings) -> Fold:
    """The fold of the live tables, with the switches they are folded with."""
    thresholds = Thresholds(
        changes=settings.arbitration_changes,
        days=settings.arbitration_days,
        stale_days=settings.arbitration_stale_days,
    )
    return partial(cards_of, supersede=settings.supersede_fork, thresholds=thresholds)


@dataclass(frozen=True, slots=True)
class Past:
    """How the tables differ from now: ``hidden`` cards and what comes in their place, up to ``position``.

    ``identities`` say what each hidden card or statement is about.
    """

    position: int
    identities: Mapping[UUID, str]
    history: History

    @property
    def hidden(self) -> Collection[UUID]:
        """The cards that are not as they were: those made of statements about what was spoken of since."""
        return self.identities.keys()

    def parameters(self) -> dict[str, Any]:
        """The named parameters of ``sql/known_*.sql``."""
        return {
            "known_position": self.position,
            "hidden": list(self.hidden),
            "known_cards": orjson.dumps(self.history.cards).decode(),
            "known_relations": orjson.dumps(self.history.relations).decode(),
            "known_updates": orjson.dumps(self.history.updates).decode(),
        }


async def past(
    connection: AsyncConnection[Any],
    fold: Fold,
    *,
    user_id: str,
    known_at: datetime,
    cards: Sequence[UUID] | None = None,
) -> Past:
    """What was known of a user by ``known_at``; of what ``cards`` are about only, where they are given.

    Costs what was ever said of those things of which something was said since; the rest is as it was. What a
    re-reading took back since stays away: its events are no statements any more.
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
    said = {row["event_id"]: row for _, row in named if row["position"] <= position}
    return Past(position, identities, fold([event_of(row) for row in said.values()]))
