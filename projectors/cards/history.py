"""What the card tables held, or would have held, at an earlier moment: the one entry point for readers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from events.types.envelope import Event
from projectors.cards.arbitration import Thresholds
from projectors.cards.card_rows import Row
from projectors.cards.fold import fold


@dataclass(frozen=True, slots=True)
class History:
    """Rows as the tables of the same names hold them, without their order."""

    cards: list[Row]
    relations: list[Row]
    arbitrations: list[Row]
    updates: list[Row]


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
        _rows(("user_id", "from_card", "to_card", "predicate", "implied"), changes.relations_put),
        _rows(("user_id", "arbitration_id"), changes.arbitrations_put),
        _rows(("user_id", "card_id", "event_id"), changes.updates_put),
    )


def _rows(columns: Sequence[str], put: Mapping[tuple[Any, ...], Row]) -> list[Row]:
    return [{**dict(zip(columns, key, strict=True)), **values} for key, values in put.items()]
