"""The runs of the curator over HTTP, to read."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from events.curator import acts, all_keys, fold, runs, shown
from events.http.access import Reader, owner_of, require_whole
from events.http.answering import routes_of
from events.http.database import Reading
from events.resources.curator import CuratorRun, CuratorRunsPage
from events.store.asking import Asking
from retrieval.pool import Pool, answered

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
        return CuratorRunsPage(runs=await _read(shown_runs, owner, query.limit))

    async def shown_runs(owner: str, limit: int) -> list[CuratorRun]:
        # A read that is repeated asks anew, because a question is asked once.
        return await answered(pool, owner, _shown_runs(owner, limit))

    return router


def _shown_runs(owner: str, limit: int) -> Asking[list[CuratorRun]]:
    found = list(fold((yield from runs(owner))).values())[:limit]
    done = {
        act.dedupe_key: act
        for act in (yield from acts(owner, [key for run in found for key in all_keys(run)]))
    }
    return [
        shown(run, [(done[key].event_id, done[key].payload) for key in all_keys(run) if key in done])
        for run in found
    ]
