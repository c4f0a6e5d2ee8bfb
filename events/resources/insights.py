"""The insights of a user: what the curator concluded from several cards, and the cards on which each rests."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import AwareDatetime, BeforeValidator, Field

from events.resources.resource import Resource
from events.types.insights import InsightKind
from events.types.turns import GENERAL_MODE


class Insight(Resource):
    """A conclusion. It is made of the words of its sources, and nobody said it."""

    insight_id: UUID
    kind: InsightKind
    content: str
    theme: str = Field(description="what the sources have in common")
    project_id: str
    mode: Annotated[str, BeforeValidator(lambda mode: mode or GENERAL_MODE)]
    provenance: Literal["agent_inferred"]
    status: Literal["current", "stale", "retracted"] = Field(
        description="stale: a source does not hold any more"
    )
    sources: list[UUID] = Field(description="the ids of the cards on which it rests")
    reason: str
    confidence: float
    retracted_reason: str | None
    run_id: UUID | None = Field(description="the run of the curator that derived it")
    derived_at: AwareDatetime


class WrittenInsight(Insight):
    """An insight after a command."""

    token: str = Field(description="give the token to wait_for of a recall")


class InsightsPage(Resource):
    """Insights, the last first. ``next_cursor``: ``cursor`` of the next page; null: there are no more."""

    insights: list[Insight]
    next_cursor: int | None


class InsightSource(Resource):
    """A card on which an insight rests. ``content`` is null for a card that is not there any more."""

    card_id: UUID
    kind: str | None
    content: str | None
    said_at: AwareDatetime | None


class InsightSources(Resource):
    """An insight with its sources."""

    insight: Insight
    cards: list[InsightSource]
