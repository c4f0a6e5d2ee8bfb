"""The references of an instant, from the last events until then."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import groupby

from events.platform.sql import statement
from events.references.reference import TYPES, Reference, fold
from events.store import log
from events.types.envelope import Event, partition_of
from events.types.references import ReferenceChanged, ReferenceCreated

THEN = statement("retrieval.references", "references_then")


def parameters_of(
    owners: Sequence[str], as_of: datetime | None, known_at: datetime | None
) -> dict[str, object]:
    """Returns the parameters of :data:`THEN`: what held at ``as_of``, by what was recorded at ``known_at``."""
    return {
        "owners": list(owners),
        "partitions": [partition_of(owner) for owner in owners],
        "types": sorted(TYPES),
        "as_of": as_of,
        "known_at": known_at,
    }


def references_in(rows: Iterable[dict[str, object]]) -> list[tuple[Reference, Event]]:
    """Returns each reference of the rows of :data:`THEN` that had not moved, with the event that gave its value."""
    events = map(log.event_if_readable, rows)
    found = []
    for _, group in groupby(events, key=lambda event: (event.user_id, event.stream)):
        told = list(group)
        last = [each for each in told if isinstance(each.payload, ReferenceCreated | ReferenceChanged)]
        reference = fold(told)
        if reference is not None and reference.moved_to is None and last:
            found.append((reference, last[-1]))
    return found
