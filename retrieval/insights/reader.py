"""Reads the insights of a user from the log, and their status from the live cards."""

from __future__ import annotations

from psycopg.rows import dict_row

from events.insights.insight import Insights, fold, sources_in
from events.insights.insight_log import ENTRIES, LIVING, parameters
from events.store import log
from retrieval.pool.connections import Pool, listing

_PATIENCE_S = 2.0


async def read_insights(pool: Pool, owner: str) -> Insights:
    """Returns the insights of a user. ``pool`` must be of the primary. Raises psycopg.Error."""
    async with (
        listing(pool, owner, _PATIENCE_S) as connection,
        connection.cursor(row_factory=dict_row) as cursor,
    ):
        rows = await (await cursor.execute(ENTRIES, parameters(owner))).fetchall()
        events = [log.event_if_readable(row) for row in rows]
        if not (sources := sources_in(events)):
            return fold(events, sources)
        names = {"user_id": owner, "cards": sorted(sources)}
        living = await (await cursor.execute(LIVING, names)).fetchall()
    return fold(events, {row["card_id"] for row in living})
