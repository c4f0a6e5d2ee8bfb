"""The standing of events: what later events and remarks make of an earlier event. Pure functions.

An event names the earlier event that it replaces (``EventNoted.replaces_event``). The earlier event is always at a
lower position of the log, so replacements form no cycle. A name of anything else is ignored.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from uuid import UUID

from events.types.cards import EventNoted, EventStatus
from events.types.envelope import Event
from events.types.modes import CardReclassified
from events.types.verdicts import CardVerified
from projectors.cards.card import StoredCard
from projectors.cards.related_rows import RelationKey, StoredRelation, implied

EventKey = tuple[str, UUID]  # user, event


@dataclass(frozen=True, slots=True)
class EventStanding:
    """What a card shows of its standing.

    ``superseded_at`` is when the first event that replaces it was said. A retracted event was told wrongly, so it has
    no such instant.
    """

    event_status: EventStatus
    last_verified: datetime
    mode: str | None
    superseded_at: datetime | None = None
    retracted: bool = False

    def of(self, card: StoredCard) -> StoredCard:
        """Returns ``card`` with this standing."""
        return replace(card, **asdict(self))


def replaced_by(event: Event) -> EventKey | None:
    """Returns the event that ``event`` names as replaced, or None."""
    payload = event.payload
    if isinstance(payload, EventNoted) and payload.replaces_event is not None:
        return event.user_id, payload.replaces_event
    return None


def standings_touched(events: Iterable[Event], recalled: Iterable[Event] = ()) -> set[EventKey]:
    """Returns the events whose standing or relations ``events`` and ``recalled`` may change.

    These are the events that any of them replaces or is a remark on, and the recalled events.
    """
    touched = {
        key for each in (events, recalled) for event in each if (key := replaced_by(event)) is not None
    }
    touched.update(
        (event.user_id, event.event_id) for event in recalled if isinstance(event.payload, EventNoted)
    )
    touched.update(
        (event.user_id, event.payload.card_id)
        for event in events
        if isinstance(event.payload, CardVerified | CardReclassified) and event.payload.kind == "event"
    )
    return touched


class Replacements:
    """The replacements among some noted events, with the ``remarks`` on them in the order of the log.

    An event that replaces no earlier event of its user, or one of another mode, does not count.
    """

    def __init__(
        self, noted: Iterable[Event], remarks: Mapping[EventKey, Sequence[Event]] | None = None
    ) -> None:
        self._remarks = remarks or {}
        self.events: dict[EventKey, Event] = {
            (event.user_id, event.event_id): event for event in noted if isinstance(event.payload, EventNoted)
        }
        self._by: dict[EventKey, list[Event]] = {}
        for event in self.events.values():
            key = replaced_by(event)
            if (
                key is not None
                and (old := self.events.get(key)) is not None
                and old.position < event.position
                and _noted(old).origin.register == _noted(event).origin.register
            ):
                self._by.setdefault(key, []).append(event)

    def standing(self, key: EventKey) -> EventStanding:
        """Returns the standing of a known event. The event that was said last decides its status."""
        own = _noted(self.events[key])
        alone = _alone(own, self._remarks.get(key, ()))
        newer = self._by.get(key)
        if not newer:
            return alone
        last = _noted(max(newer, key=_said))
        if last.status == "corrected" or last.corrects:
            return replace(alone, event_status="corrected", retracted=True)
        since = min(_noted(event).origin.said_at for event in newer)
        took_place = last.status == "happened" and own.status in ("planned", "wished")
        status = last.status if took_place or last.status == "cancelled" else own.status
        return replace(alone, event_status=status, superseded_at=since)

    def relations(self, keys: Iterable[EventKey]) -> dict[RelationKey, StoredRelation]:
        """Returns the relations from the events that replace any of ``keys``."""
        rows = (
            implied(event, event.event_id, key[1], "update", _reason(_noted(event), _noted(self.events[key])))
            for key in keys
            for event in self._by.get(key, ())
        )
        return {row.key: row for row in rows}


def changed_standings(
    before: Replacements, after: Replacements, touched: Iterable[EventKey]
) -> Mapping[EventKey, EventStanding]:
    """Returns the standings of ``touched`` events that stay and differ from the tables.

    The tables show the standing of ``before``. They show what the event itself says where ``before`` does not know it.
    """
    changed: dict[EventKey, EventStanding] = {}
    for key in touched:
        if key in after.events:
            standing = after.standing(key)
            shown = before.standing(key) if key in before.events else _alone(_noted(after.events[key]))
            if standing != shown:
                changed[key] = standing
    return changed


def _alone(own: EventNoted, remarks: Iterable[Event] = ()) -> EventStanding:
    """Returns the standing that an event has by itself, after ``remarks`` on it."""
    verified, mode = own.origin.said_at, own.origin.mode
    for remark in remarks:
        payload = remark.payload
        if isinstance(payload, CardVerified) and payload.kind == "event":
            verified = max(verified, remark.occurred_at)
        elif isinstance(payload, CardReclassified) and payload.kind == "event":
            mode = payload.mode
    return EventStanding(own.status, verified, mode)


def _said(event: Event) -> tuple[datetime, UUID]:
    return _noted(event).origin.said_at, event.event_id


def _reason(newer: EventNoted, older: EventNoted) -> str:
    if newer.status == "cancelled":
        how = "called off"
    elif newer.status == "corrected" or newer.corrects:
        how = "told wrongly before"
    elif newer.status == "planned":
        how = "planned anew"
    else:
        how = "told again" if older.status == "happened" else "it happened"
    return f"{how}: {newer.content}"


def _noted(event: Event) -> EventNoted:
    payload = event.payload
    assert isinstance(payload, EventNoted)
    return payload
