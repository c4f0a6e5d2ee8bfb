"""The card tables as they were, or would have been, at an earlier instant. Readers use this module only."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from events.types.envelope import Event
from projectors.cards.arbitration import Thresholds
from projectors.cards.card import StoredCard
from projectors.cards.fold import fold
from projectors.cards.related_rows import StoredArbitration, StoredRelation, StoredUpdate
from projectors.cards.subjects import subjects_in


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
