"""The card tables as they were, or would have been, at an earlier instant. Readers use this module only."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from events.types.envelope import Event
from projectors.cards.arbitration import Thresholds
from projectors.cards.card import StoredCard
from projectors.cards.fold import fold
from projectors.cards.related_rows import StoredArbitration, StoredRelation, StoredUpdate


@dataclass(frozen=True, slots=True)
class History:
    """The rows of the tables with these names, in no particular order. ``relations`` are those that cards imply."""

    cards: list[StoredCard]
    relations: list[StoredRelation]
    arbitrations: list[StoredArbitration]
    updates: list[StoredUpdate]


def cards_of(
    events: Iterable[Event], *, supersede: bool = True, thresholds: Thresholds | None = None
) -> History:
    """Returns the rows that ``events`` make. A pure function.

    ``events`` are all statements of some identities and the remarks on them up to some instant, in any order.
    """
    known = sorted(events, key=lambda event: (event.partition, event.position))
    changes = fold(known, {}, supersede=supersede, thresholds=thresholds)
    return History(
        list(changes.cards_put.values()),
        [row for row in changes.relations_put.values() if row.implied],
        list(changes.arbitrations_put.values()),
        list(changes.updates_put.values()),
    )
