"""The present references of some owners, from the tables and from the events that the tables do not show yet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from events.platform.sql import statement
from events.references.reference import TYPES, Reference, folded
from events.references.rows import reference_of
from events.store import log
from events.types.envelope import partition_of

PRESENT = statement("retrieval.references", "present_objects")
TEAMS = statement("retrieval.references", "teams_of")
"""The storage ids of the teams of a member."""
MAX_LISTED = 5000
"""The most references of a user and the user's teams that a list looks at."""


def present_parameters(owners: Sequence[str]) -> dict[str, object]:
    """Returns the parameters of :data:`PRESENT`."""
    return {
        "owners": list(owners),
        "partitions": [partition_of(owner) for owner in owners],
        "types": sorted(TYPES),
        "limit": MAX_LISTED,
    }


def present_in(rows: Iterable[dict[str, object]]) -> list[Reference]:
    """Returns the references of the rows of :data:`PRESENT` that did not move, archived ones included."""
    found: dict[tuple[str, str], Reference] = {}
    for row in rows:
        if not row.get("unfolded", True):
            each = reference_of(row)
            found[each.owner, each.stream] = each
            continue
        event = log.event_of({name: row[name] for name in log.EVENT_COLUMNS})
        place = (event.user_id, event.stream)
        before = found.get(place)
        if before is None or before.version < event.version:
            after = folded(event, before)
            if after is not None:
                found[place] = after
    return [each for each in found.values() if each.moved_to is None]
