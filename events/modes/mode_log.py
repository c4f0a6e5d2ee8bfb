"""The registry of a user's modes as the log has it. A read right after a write sees it, because it needs no table."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from events.modes.registry import NOTHING
from events.platform.database import Connection, rows_of, statement
from events.store import log
from events.types.envelope import Event, partition_of
from events.types.modes import (
    STREAM,
    ModeDeclared,
    ModeDeleted,
    ModeReembedded,
    ModeRegistry,
    ModeRenamed,
    ProjectDeclared,
)

_PACKAGE = "events.modes"
REGISTRY = statement(_PACKAGE, "registry")
"""The last events of the modes of some users."""
_Change = ModeDeclared | ModeRenamed | ModeDeleted | ModeReembedded | ProjectDeclared


def registry_of(connection: Connection, owner: str) -> ModeRegistry:
    """Returns the present modes and projects of a user."""
    return registries_of(connection, [owner]).get(owner, NOTHING)


def registries_of(connection: Connection, owners: Iterable[str]) -> dict[str, ModeRegistry]:
    """Returns the present registries of the users who have one."""
    rows = rows_of(connection, REGISTRY, registry_parameters(sorted(set(owners))))
    return dict(registries_in(rows))


def registry_parameters(owners: Sequence[str]) -> dict[str, object]:
    return {"users": list(owners), "partitions": [partition_of(each) for each in owners], "stream": STREAM}


def registries_in(rows: Iterable[Mapping[str, object]]) -> Iterable[tuple[str, ModeRegistry]]:
    """Yields the user and the registry of each row of :data:`REGISTRY`. An event that cannot be read counts as none."""
    for row in rows:
        event = log.event_if_readable(dict(row))
        if isinstance(event.payload, _Change):
            yield event.user_id, event.payload.registry


class RegistriesAt:
    """The registries of users as they were at positions of the log, and the re-embeddings since."""

    def __init__(self, connection: Connection, events: Sequence[Event]) -> None:
        """Looks up the registries that ``events`` need, with one query."""
        first: dict[str, int] = {}
        last: dict[str, int] = {}
        for event in events:
            first[event.user_id] = min(first.get(event.user_id, event.position), event.position)
            last[event.user_id] = max(last.get(event.user_id, event.position), event.position)
        users = sorted(first)
        rows = rows_of(
            connection,
            statement(_PACKAGE, "registries_between"),
            registry_parameters(users)
            | {"first": [first[user] for user in users], "last": [last[user] for user in users]},
        )
        self._found: dict[str, list[tuple[int, ModeRegistry]]] = {}
        self._reembedded: dict[str, list[tuple[int, ModeReembedded]]] = {}
        for event in _at_first_places([log.event_if_readable(dict(row)) for row in rows]):
            if isinstance(event.payload, _Change):
                self._found.setdefault(event.user_id, []).append((event.position, event.payload.registry))
            if isinstance(event.payload, ModeReembedded):
                self._reembedded.setdefault(event.user_id, []).append((event.position, event.payload))

    def reembedded_after(self, user_id: str, position: int) -> list[ModeReembedded]:
        """Returns the re-embeddings of a user after ``position``, in order, as far as the log has them now."""
        return [each for at, each in self._reembedded.get(user_id, ()) if at > position]

    def of(self, user_id: str, position: int) -> ModeRegistry:
        """Returns the registry of a user after the events up to ``position``."""
        known = [registry for at, registry in self._found.get(user_id, ()) if at <= position]
        return known[-1] if known else NOTHING


def _at_first_places(events: Sequence[Event]) -> list[Event]:
    """Returns ``events`` in order, with what an erasure said again at the place of the erased event.

    The modes of a user at a position are therefore the same after the erasure of a person whom a mode names.
    """
    known = {event.event_id: event for event in events}

    def place(event: Event) -> int:
        while event.causation_id in known:
            event = known[event.causation_id]
        return event.position

    placed = [replace(event, position=place(event)) for event in events]
    return sorted(placed, key=lambda event: (event.partition, event.position))
