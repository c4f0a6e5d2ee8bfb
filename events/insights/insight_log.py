"""The insights of a user as the log and the live cards have them.

The status of an insight is read from its sources. It therefore changes in the transaction that changes a source.
"""

from __future__ import annotations

from events.insights.insight import Insights, fold, sources_in
from events.platform.database import Connection, tuples_of
from events.platform.sql import statement
from events.store import log
from events.store.rows import rows_of
from events.types.envelope import partition_of
from events.types.insights import STREAM

_PACKAGE = "events.insights"
ENTRIES = statement(_PACKAGE, "entries")
"""The events of a user's insights, in order."""
LIVING = statement(_PACKAGE, "living")
"""Those of some cards that hold."""


def parameters(owner: str) -> dict[str, object]:
    """Returns the parameters of :data:`ENTRIES`."""
    return {"partition": partition_of(owner), "user_id": owner, "stream": STREAM}


def insights_of(connection: Connection, owner: str) -> Insights:
    """Returns the insights of a user at the end of the log."""
    events = [log.event_if_readable(row) for row in rows_of(connection, ENTRIES, parameters(owner))]
    sources = sources_in(events)
    if not sources:
        return fold(events, sources)
    names = {"user_id": owner, "cards": sorted(sources)}
    return fold(events, {card for (card,) in tuples_of(connection, LIVING, names)})
