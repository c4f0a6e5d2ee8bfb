"""The command of insights over HTTP."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import BaseModel, Field

from events.http.answering import routes_of
from events.http.fields import Name, Uuid, storable
from events.resources.insights import WrittenInsight
from ingest.api.transactions import Sent, Transactions
from ingest.curator.insight_commands import UserInsights, retract


class InsightRetractIn(BaseModel, extra="forbid"):
    """Why an insight is wrong."""

    user_id: Name = Field(description="whose memory this is")
    reason: Annotated[str, *storable(1000)] = Field(description="why, for whoever asks later")


def insight_router(transactions: Transactions) -> APIRouter:
    """Returns the route. An insight of another user or out of reach gives the same 404 as none."""
    router = routes_of("insights")

    @router.post(
        "/v1/insights/{insight_id}/retract", summary="Retract an insight, so it is not derived again"
    )
    def retract_insight(insight_id: Uuid, body: InsightRetractIn, sender: Sent) -> WrittenInsight:
        owner = sender.owner(body.user_id, "insight", "insight_id")
        command = sender.command(f"user/{body.user_id}")
        outcome = transactions.run(
            owner,
            lambda connection: retract(UserInsights(connection, owner, command, insight_id), body.reason),
        )
        return WrittenInsight.made_from(outcome.state, token=transactions.token(owner, outcome.position))

    return router
