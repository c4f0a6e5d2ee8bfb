"""The runs of the curator over HTTP, to read."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from psycopg.rows import dict_row
from pydantic import BaseModel, Field

from events.curator.run import all_keys, fold, shown
from events.curator.run_log import ACTS, RUNS, act_parameters, run_parameters
from events.http.access import Reader, owner_of, require_whole
from events.http.answering import routes_of
from events.http.database import Reading
from events.resources.curator import CuratorRun, CuratorRunsPage
from events.store import log
from retrieval.pool.connections import Pool, listing

_PATIENCE_S = 2.0

_read = Reading("Runs unavailable")


class RunsIn(BaseModel, extra="forbid"):
    """Which runs."""

    user_id: str = Field(min_length=1, description="whose memory is read")
    limit: Annotated[int, Field(ge=1, le=500)] = 50


def curator_router(pool: Pool) -> APIRouter:
    """Returns the routes. ``pool`` must be of the primary, so a write is seen at once."""
    router = routes_of("curator")

    @router.get("/v1/curator/runs", summary="What the curator added to a user's memory, the last run first")
    async def curator_runs(query: Annotated[RunsIn, Query()], caller: Reader) -> CuratorRunsPage:
        require_whole(caller)
        owner = owner_of(caller, query.user_id)
        return CuratorRunsPage(runs=await _read(_runs, pool, owner, query.limit))

    return router


async def _runs(pool: Pool, owner: str, limit: int) -> list[CuratorRun]:
    async with (
        listing(pool, owner, _PATIENCE_S) as connection,
        connection.cursor(row_factory=dict_row) as cursor,
    ):
        rows = await (await cursor.execute(RUNS, run_parameters(owner))).fetchall()
        runs = list(fold(map(log.event_if_readable, rows)).values())[:limit]
        keys = [key for run in runs for key in all_keys(run)]
        rows = await (await cursor.execute(ACTS, act_parameters(owner, keys))).fetchall()
    acts = {act.dedupe_key: act for act in map(log.event_if_readable, rows)}
    return [
        shown(run, [(acts[key].event_id, acts[key].payload) for key in all_keys(run) if key in acts])
        for run in runs
    ]
