"""The statements of one user that the fold of the document needs, by identity."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from events.core.feed import CardFeed, CardValue
from events.types.envelope import Event


class Statements:
    """Keeps statements and the remarks on them. Two identities belong together when one event is about both."""

    def __init__(self, feed: CardFeed) -> None:
        self._feed = feed
        self._said: dict[UUID, tuple[Event, tuple[str, ...]]] = {}
        self._by_identity: dict[str, dict[UUID, None]] = {}
        self._by_position: dict[int, UUID] = {}
        self._remarks: dict[UUID, list[Event]] = {}

    def add(self, event: Event) -> tuple[str, ...]:
        """Adds a statement. Returns its identities; none for an event that is no statement."""
        identities = tuple(self._feed.identities(event))
        if identities:
            self._said[event.event_id] = (event, identities)
            self._by_position[event.position] = event.event_id
            for identity in identities:
                self._by_identity.setdefault(identity, {})[event.event_id] = None
        return identities

    def remove(self, event_id: UUID) -> tuple[str, ...]:
        """Removes a statement. Returns the identities it had."""
        event, identities = self._said.pop(event_id)
        self._by_position.pop(event.position, None)
        for identity in identities:
            self._by_identity[identity].pop(event_id, None)
        return identities

    def remark(self, event: Event) -> UUID | None:
        """Adds a remark. Returns the statement that it is on; None for an event that is no remark."""
        target = self._feed.target(event)
        if target is not None:
            self._remarks.setdefault(target, []).append(event)
        return target

    def identities_of(self, event_id: UUID) -> tuple[str, ...]:
        """Returns the identities of a statement; none for one that is not there."""
        found = self._said.get(event_id)
        return () if found is None else found[1]

    def at(self, positions: Iterable[int]) -> list[UUID]:
        """Returns the statements at these positions."""
        return [self._by_position[each] for each in positions if each in self._by_position]

    def values(self, identities: Iterable[str]) -> list[CardValue]:
        """Returns the values that hold now, of ``identities`` and of all that belong with them."""
        wanted, seen = list(identities), set[str]()
        events: dict[UUID, Event] = {}
        while wanted:
            identity = wanted.pop()
            if identity in seen:
                continue
            seen.add(identity)
            for event_id in self._by_identity.get(identity, ()):
                event, others = self._said[event_id]
                events[event_id] = event
                wanted += others
        if not events:
            return []
        remarks = {each: self._remarks[each] for each in events if each in self._remarks}
        return [each for each in self._feed.held(list(events.values()), remarks) if each.until is None]

    def held(self) -> list[CardValue]:
        """Returns all values that hold or held, in the order in which they took effect."""
        return list(self._feed.held([event for event, _ in self._said.values()], self._remarks))
