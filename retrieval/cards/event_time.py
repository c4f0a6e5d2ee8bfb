"""What an event was at an instant: its status then, and if its planned time had passed."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from projectors.cards.card import Card

_C = TypeVar("_C", bound=Card)


def as_it_stood(card: _C, at: datetime) -> _C:
    """Returns ``card`` with the status it had at ``at``.

    An event that a later event replaced after ``at`` had the status of its own words then. Other cards do not change.
    """
    if card.kind != "event" or card.superseded_at is None or card.superseded_at <= at:
        return card
    return replace(card, event_status=card.stated_status)


def time_passed(card: Card, at: datetime) -> bool:
    """True for a planned event whose time lies before ``at``. Nobody said that it happened.

    The time is the end of the event, or its start when it has no end. Of an ambiguous time, both readings must lie
    before ``at``. A plan without a resolved time has not passed.
    """
    start = card.occurred_at
    if (
        card.kind != "event"
        or card.event_status != "planned"
        or card.time_resolved is not True
        or start is None
    ):
        return False
    last = max(start, card.alternative_at or start)
    return at - last >= (card.occurred_until or start) - start
