"""What the curator added to a user's memory: its runs, whether they were undone, and its insights."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import AwareDatetime, BeforeValidator, Field

from events.resources.resource import Resource
from events.types.insights import InsightKind
from events.types.relations import Predicate
from events.types.turns import GENERAL_MODE


class CuratorAct(Resource):
    """One thing that a run added, with what it rests on."""

    act: Literal["connect", "create_thread", "assign_thread", "derive_insight", "propose_person_merge"]
    predicate: Predicate | None = Field(
        description="of a relation, from the first card of the evidence to the second"
    )
    title: str | None = Field(description="of a new thread; the words of an insight")
    thread_id: UUID | None
    reason: str
    confidence: float
    evidence: list[UUID] = Field(
        description="the ids of the cards that it rests on; of a merge, of the two people"
    )


class AskedPair(Resource):
    """Two cards, or two people, that a model was asked about."""

    later: UUID
    earlier: UUID


class CuratorRun(Resource):
    """A run. ``run_id`` is null for a run that added nothing, and for a dry run."""

    run_id: UUID | None
    at: AwareDatetime | None = Field(description="when the log got it")
    acts: list[CuratorAct]
    asked: list[AskedPair] = Field(description="what a model was asked. Of a dry run, what it would be asked")
    model: str | None
    tokens: int = Field(description="what the model was paid for", ge=0)
    undone_at: AwareDatetime | None
    undone_reason: str | None


class WrittenCuratorRun(CuratorRun):
    """A run after a command."""

    token: str = Field(description="give the token to wait_for of a recall")


class CuratorRunsPage(Resource):
    """Runs, the last first."""

    runs: list[CuratorRun]


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
