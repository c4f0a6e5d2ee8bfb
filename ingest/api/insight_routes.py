"""The command of insights over HTTP."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter
from pydantic import Field

from events.http.answering import routes_of
from events.http.fields import Uuid, storable
from events.resources.insights import WrittenInsight
from ingest.api.transactions import OfUser, Sent, Transactions
from ingest.curator.insight_commands import UserInsights, retract


class InsightRetractIn(OfUser):
    """Why an insight is wrong."""

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
        return transactions.written(
            WrittenInsight, owner, lambda c: retract(UserInsights(c, owner, command, insight_id), body.reason)
        )

    return router
