"""The runs of the curator: what it added to a user's memory, and whether that was undone."""

from typing import Literal
from uuid import UUID

from pydantic import AwareDatetime, Field

from events.resources.resource import Resource
from events.types.relations import Predicate


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
