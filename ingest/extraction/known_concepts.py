"""The concept keys that a user already has. They keep the names of facts stable over time."""

from __future__ import annotations

from collections.abc import Iterable

from events.platform.sql import statement
from events.store.checkpoints import Connection
from events.types.cards import StateAsserted
from events.types.envelope import NewEvent

_DEPTH = 20_000
"""Number of positions back from the head that the query reads. The keys are a hint, so the query must be cheap."""
_MOST_KEYS = 40


class KnownConcepts:
    """Keeps the recent concept keys of each user. The keys are a hint: some may be missing."""

    def __init__(self) -> None:
        self._keys: dict[int, dict[str, dict[str, None]]] = {}

    def of(self, connection: Connection, partition: int, user_id: str) -> tuple[str, ...]:
        """Returns the keys of a user, sorted. The first call for a partition queries the log."""
        if partition not in self._keys:
            found: dict[str, dict[str, None]] = {}
            for user, key, _ in connection.execute(
                statement("ingest.extraction", "known_concepts"), {"partition": partition, "depth": _DEPTH}
            ):
                keys = found.setdefault(user, {})
                if len(keys) < _MOST_KEYS:
                    keys[key] = None
            self._keys[partition] = found
        # A sorted result changes a prompt only when there is a new key.
        return tuple(sorted(self._keys[partition].get(user_id, ())))

    def learn(self, partition: int, events: Iterable[NewEvent]) -> None:
        """Adds the keys of ``events``, which were appended to ``partition``."""
        known = self._keys.get(partition)
        if known is None:
            return
        for event in events:
            if isinstance(event.payload, StateAsserted):
                keys = known.setdefault(event.user_id, {})
                if len(keys) < _MOST_KEYS:
                    keys[event.payload.concept_key] = None
