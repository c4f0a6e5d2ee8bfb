"""What the card tables held, or would have held, at an earlier moment: the one entry point for readers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from events.types.envelope import Event
from projectors.cards.arbitration import Thresholds
from projectors.cards.card import StoredCard
from projectors.cards.fold import fold
from projectors.cards.related_rows import StoredArbitration, StoredRelation, StoredUpdate


@dataclass(frozen=True, slots=True)
class History:
    """Rows as the tables of the same names hold them, without their order."""

    cards: list[StoredCard]
    relations: list[StoredRelation]
    arbitrations: list[StoredArbitration]
    updates: list[StoredUpdate]


def cards_of(
    events: Iterable[Event],
    *,
    known_at: datetime | None = None,
    supersede: bool = True,
    thresholds: Thresholds | None = None,
) -> History:
    """The cards that ``events`` make, were ``known_at`` the end of the log; a pure function.

    ``events`` are the statements of whole identities and the remarks on them, as ``statements`` and ``remarks``
    name them, in any order; those recorded after ``known_at`` are left out.
    """
    known = [event for event in events if known_at is None or event.recorded_at <= known_at]
    known.sort(key=lambda event: (event.partition, event.position))
    changes = fold(known, {}, supersede=supersede, thresholds=thresholds)
    return History(
        list(changes.cards_put.values()),
        list(changes.relations_put.values()),
        list(changes.arbitrations_put.values()),
        list(changes.updates_put.values()),
    )
