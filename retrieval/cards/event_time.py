"""What an event was at an instant: its status then, and if its planned time had passed."""

from dataclasses import replace
from datetime import datetime
from typing import TypeVar

from projectors.cards.card import Card

_C = TypeVar("_C", bound=Card)


def as_it_stood(card: _C, at: datetime) -> _C:
    """Returns ``card`` with the status it had at ``at``.

    An event that a later event replaced after ``at`` had the status of its own words then. Other cards do not change.
    """
    if card.kind != "event" or card.superseded_at is None or replaced(card, at):
        return card
    return replace(card, event_status=card.stated_status)


def replaced(card: Card, at: datetime) -> bool:
    """True when a later event had taken the place of an event by ``at``."""
    return card.superseded_at is not None and card.superseded_at <= at


def last_moment(card: Card) -> datetime | None:
    """Returns the end of an event whose words name an end and no beginning ("by Friday"), or None."""
    until = card.occurred_until
    named = card.kind == "event" and card.time_resolved is not True
    return until if named and until is not None and until > card.said_at else None


def time_passed(card: Card, at: datetime) -> bool:
    """True for a planned event whose time lies before ``at``, and that no other plan has replaced by then.

    Nobody said that it happened. The time is the end of the event, or its start when it has no end. Of an ambiguous
    time, both readings must lie before ``at``. A plan has not passed when its words name no time that was resolved:
    neither a beginning nor an end.
    """
    start = card.occurred_at
    if card.kind != "event" or card.event_status != "planned" or start is None or replaced(card, at):
        return False
    if card.time_resolved is not True:
        end = last_moment(card)
        return end is not None and end <= at
    last = max(start, card.alternative_at or start)
    return at - last >= (card.occurred_until or start) - start
