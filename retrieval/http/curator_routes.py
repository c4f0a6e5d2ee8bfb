"""The runs and the insights of the curator over HTTP, to read."""

from datetime import UTC, datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from events.curator import acts, all_keys, fold, runs, shown
from events.http.access import Reader, owner_of, require_whole
from events.http.answering import routes_of
from events.http.database import Reading
from events.http.errors import missing
from events.http.fields import Uuid
from events.resources.curator import (
    CuratorRun,
    CuratorRunsPage,
    Insight,
    InsightSource,
    InsightSources,
    InsightsPage,
)
from events.store.asking import Asking
from retrieval.cards.query import ReaderIn, reader_of
from retrieval.cards.slice import Slice
from retrieval.http.card_routes import Fresh
from retrieval.insights import read_insights
from retrieval.pool import Pool, answered

_read_runs = Reading("Runs unavailable")


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
        return CuratorRunsPage(runs=await _read_runs(shown_runs, owner, query.limit))

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


_read_insights = Reading("Insights unavailable")


class InsightsIn(ReaderIn):
    """Which insights."""

    status: Annotated[Literal["current", "stale", "retracted", "all", "*"], Field(description="* is all")] = (
        "current"
    )
    project_id: Annotated[str | None, Field(description="only of this project")] = None
    limit: Annotated[int, Field(ge=1, le=500)] = 100
    cursor: Annotated[int, Field(ge=0, le=100_000, description="the next_cursor of the page before")] = 0


def insights_router(pool: Pool, fresh: Fresh) -> APIRouter:
    """Returns the routes. An insight of another user or out of reach gives the same 404 as none."""
    router = routes_of("insights")

    @router.get("/v1/insights", summary="What the curator concluded of a user, the last first")
    async def list_insights(query: Annotated[InsightsIn, Query()], caller: Reader) -> InsightsPage:
        owner = owner_of(caller, reader_of(query))
        await fresh(query.wait_for, owner)
        found = [
            each
            for each in (await _read_insights(read_insights, pool, owner)).present
            if query.status in ("all", "*", each.status)
            and query.project_id in (None, each.project_id)
            and caller.reach.admits(each.project_id, each.mode)
        ]
        end = query.cursor + query.limit
        return InsightsPage(
            insights=[Insight.made_from(each) for each in found[query.cursor : end]],
            next_cursor=end if end < len(found) else None,
        )

    @router.get("/v1/insights/{insight_id}", summary="One insight with its sources")
    async def insight(
        insight_id: Uuid, query: Annotated[ReaderIn, Query()], caller: Reader
    ) -> InsightSources:
        owner = owner_of(caller, reader_of(query), thing="insight", field="insight_id")
        reader = await fresh(query.wait_for, owner)
        found = (await _read_insights(read_insights, pool, owner)).get(insight_id)
        if found is None or not caller.reach.admits(found.project_id, found.mode):
            raise missing("insight", "insight_id")
        own = Slice(user_id=owner, now=datetime.now(UTC), reach=caller.reach)
        asked = await _read_insights(reader.prepared, own)
        cards = await _read_insights(reader.cards, asked, list(found.sources))
        return InsightSources(
            insight=Insight.made_from(found),
            cards=[
                InsightSource(
                    card_id=each,
                    kind=None if (card := cards.get(each)) is None else card.kind,
                    content=None if card is None else card.content,
                    said_at=None if card is None else card.said_at,
                )
                for each in found.sources
            ],
        )

    return router
