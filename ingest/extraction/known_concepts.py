"""The concept keys a user has, so that what is written today is called what it was called yesterday."""

from __future__ import annotations

from collections.abc import Iterable

from events.platform.sql import statement
from events.store.checkpoints import Connection
from events.types.cards import StateAsserted
from events.types.envelope import NewEvent

_DEPTH = 20_000
"""How far back in its partition the log is asked: a hint may be incomplete, and must be cheap."""
_MOST_KEYS = 40


class KnownConcepts:
    """Per user, the keys said of late, the most recent first. A hint and no more: keys may be missing."""

    def __init__(self) -> None:
        self._keys: dict[int, dict[str, dict[str, None]]] = {}

    def of(self, connection: Connection, partition: int, user_id: str) -> tuple[str, ...]:
        """The keys of a user; the first question for a partition asks the log."""
        if partition not in self._keys:
            found: dict[str, dict[str, None]] = {}
            for user, key, _ in connection.execute(
                statement("ingest.extraction", "known_concepts"), {"partition": partition, "depth": _DEPTH}
            ):
                keys = found.setdefault(user, {})
                if len(keys) < _MOST_KEYS:
                    keys[key] = None
            self._keys[partition] = found
        # In one order whatever was said last, so that a prompt changes only when there is a new key.
        return tuple(sorted(self._keys[partition].get(user_id, ())))

    def learn(self, partition: int, events: Iterable[NewEvent]) -> None:
        """These were appended."""
        known = self._keys.get(partition)
        if known is None:
            return
        for event in events:
            if isinstance(event.payload, StateAsserted):
                keys = known.setdefault(event.user_id, {})
                if len(keys) < _MOST_KEYS:
                    keys[event.payload.concept_key] = None
