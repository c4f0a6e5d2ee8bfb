"""The insights of a user as the log and the live cards have them.

The status of an insight is read from its sources. It therefore changes in the transaction that changes a source.
"""

from __future__ import annotations

from events.insights.insight import Insights, fold, sources_in
from events.platform.database import Connection
from events.platform.sql import statement
from events.store.asking import Asking, Query, answered, stream_of
from events.types.insights import STREAM


def insights(owner: str) -> Asking[Insights]:
    """Asks for the insights of a user at the end of the log."""
    events = yield from stream_of(owner, STREAM)
    sources = sources_in(events)
    if not sources:
        return fold(events, sources)
    living = yield Query(statement("events.insights", "living"), {"user_id": owner, "cards": sorted(sources)})
    return fold(events, {row["card_id"] for row in living})


def insights_of(connection: Connection, owner: str) -> Insights:
    """Returns the insights of a user at the end of the log."""
    return answered(connection, insights(owner))
