"""The statements of one user that the fold of the document needs, by identity."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from uuid import UUID

from events.core.feed import CardFeed, CardValue, Statement
from events.types.envelope import Event


class Statements:
    """Keeps statements and the remarks on them. Two identities belong together when one event is about both."""

    def __init__(self, feed: CardFeed) -> None:
        self._feed = feed
        self._said: dict[UUID, tuple[Event, Sequence[Statement]]] = {}
        self._by_identity: dict[str, dict[UUID, None]] = {}
        self._by_position: dict[int, UUID] = {}
        self._remarks: dict[UUID, list[Event]] = {}
        self._changes: Counter[str] = Counter()
        self._known: dict[frozenset[str], tuple[Mapping[str, int], list[CardValue]]] = {}
        """The values of some identities, with the number of changes of all identities behind them."""

    def add(self, event: Event) -> tuple[str, ...]:
        """Adds a statement. Returns its identities; none for an event that is no statement."""
        statements = self._feed.statements(event)
        if statements:
            self._said[event.event_id] = (event, statements)
            self._by_position[event.position] = event.event_id
        for each in statements:
            self._by_identity.setdefault(each.identity, {})[event.event_id] = None
        identities = tuple(each.identity for each in statements)
        self._changes.update(identities)
        return identities

    def remove(self, event_id: UUID) -> tuple[str, ...]:
        """Removes a statement. Returns the identities it had."""
        identities = self.identities_of(event_id)
        event, _ = self._said.pop(event_id)
        self._by_position.pop(event.position, None)
        for identity in identities:
            self._by_identity[identity].pop(event_id, None)
        self._changes.update(identities)
        return identities

    def remark(self, event: Event) -> UUID | None:
        """Adds a remark. Returns the statement that it is on; None for an event that is no remark."""
        target = self._feed.target(event)
        if target is not None:
            self._remarks.setdefault(target, []).append(event)
            self._changes.update(self.identities_of(target))
        return target

    def identities_of(self, event_id: UUID) -> tuple[str, ...]:
        """Returns the identities of a statement; none for one that is not there."""
        found = self._said.get(event_id)
        return () if found is None else tuple(each.identity for each in found[1])

    def count(self, identity: str) -> int:
        """Returns the number of statements about an identity."""
        return len(self._by_identity.get(identity, ()))

    def at(self, positions: Iterable[int]) -> list[UUID]:
        """Returns the statements at these positions."""
        return [self._by_position[each] for each in positions if each in self._by_position]

    def values(self, identities: Iterable[str]) -> list[CardValue]:
        """Returns the values that hold now, of ``identities`` and of all that belong with them."""
        asked = frozenset(identities)
        known = self._known.get(asked)
        if known is not None and all(self._changes[each] == count for each, count in known[0].items()):
            return known[1]
        wanted, seen = sorted(asked), set[str]()
        said: dict[UUID, Sequence[Statement]] = {}
        while wanted:
            identity = wanted.pop()
            if identity in seen:
                continue
            seen.add(identity)
            for event_id in self._by_identity.get(identity, ()):
                _, said[event_id] = self._said[event_id]
                wanted += [each.identity for each in said[event_id]]
        remarks = {each: self._remarks[each] for each in said if each in self._remarks}
        found = self._feed.held(chain.from_iterable(said.values()), remarks) if said else ()
        held = [each for each in found if each.until is None]
        self._known[asked] = {each: self._changes[each] for each in seen}, held
        return held

    def held(self) -> list[CardValue]:
        """Returns all values that hold or held, in the order in which they took effect."""
        said = chain.from_iterable(statements for _, statements in self._said.values())
        return list(self._feed.held(said, self._remarks))
