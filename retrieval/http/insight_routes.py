"""Insights over HTTP, to read: the list, and one insight with its sources."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import Field

from events.http.access import Reader, owner_of
from events.http.answering import routes_of
from events.http.database import Reading
from events.http.errors import missing
from events.http.fields import Uuid
from events.resources.insights import Insight, InsightSource, InsightSources, InsightsPage
from retrieval.cards.query import ReaderIn, reader_of
from retrieval.cards.slice import Slice
from retrieval.http.card_routes import Fresh
from retrieval.insights import read_insights
from retrieval.pool import Pool

_read = Reading("Insights unavailable")


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
            for each in (await _read(read_insights, pool, owner)).present
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
        found = (await _read(read_insights, pool, owner)).get(insight_id)
        if found is None or not caller.reach.admits(found.project_id, found.mode):
            raise missing("insight", "insight_id")
        own = Slice(user_id=owner, now=datetime.now(UTC), reach=caller.reach)
        asked = await _read(reader.prepared, own)
        cards = await _read(reader.cards, asked, list(found.sources))
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
