"""What is derived from cards, over HTTP, to read: problems, threads, insights, and runs of the curator."""

from collections.abc import Iterable
from datetime import UTC, datetime
from typing import Annotated, Any, Literal, TypeVar
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from events.access.principal import Principal
from events.curator import acts, all_keys, fold, runs, shown
from events.http.access import Reader, owner_of, require_whole
from events.http.answering import routes_of
from events.http.database import Reading
from events.http.errors import missing
from events.http.fields import Uuid
from events.insights import Insight as KnownInsight
from events.problems.problem import Problem as KnownProblem
from events.resources.curator import (
    CuratorRun,
    CuratorRunsPage,
    Insight,
    InsightSource,
    InsightSources,
    InsightsPage,
)
from events.resources.problems import Problem, ProblemEntry, ProblemHistory, ProblemsPage
from events.resources.threads import Thread, ThreadCard, ThreadCards, ThreadsPage
from events.store.asking import Asking
from events.threads import Thread as KnownThread
from events.threads import in_order, threads
from events.types.envelope import Event
from retrieval.cards.card import ListedCard
from retrieval.cards.query import ReaderIn, reader_of
from retrieval.cards.reader import CardReader
from retrieval.cards.slice import Slice
from retrieval.http.card_routes import Fresh
from retrieval.insights import read_insights
from retrieval.pool import Pool, answered
from retrieval.problems import ProblemReader

_read_problems = Reading("Problems unavailable")
_read_threads = Reading("Threads unavailable")
_read_insights = Reading("Insights unavailable")
_read_runs = Reading("Runs unavailable")


_L = TypeVar("_L", KnownInsight, KnownProblem, KnownThread)


def _wanted(found: Iterable[_L], status: str, project_id: str | None, caller: Principal) -> list[_L]:
    """Returns those with the status and of the project that are asked for, in reach of the caller."""
    return [
        each
        for each in found
        if status in ("all", "*", each.status)
        and project_id in (None, each.project_id)
        and caller.reach.admits(each.project_id, each.mode)
    ]


async def _told(
    reader: CardReader, owner: str, caller: Principal, card_ids: Iterable[UUID]
) -> dict[UUID, dict[str, object]]:
    """Returns the kind, the words and the day of each card, empty ones for a card that is gone or out of reach."""
    asked = await reader.prepared(Slice(user_id=owner, now=datetime.now(UTC), reach=caller.reach))
    names, ids = ("kind", "content", "said_at"), list(card_ids)
    known: dict[UUID, ListedCard] = await reader.cards(asked, ids)
    return {each: {name: getattr(known.get(each), name, None) for name in names} for each in ids}


class ProblemParams(BaseModel, extra="forbid"):
    """Which problems."""

    status: Annotated[Literal["active", "closed", "all", "*"], Field(description="* is all")] = "active"
    project_id: Annotated[str | None, Field(description="only of this project")] = None
    limit: Annotated[int, Field(ge=1, le=1000)] = 100


def problems_router(reader: ProblemReader) -> APIRouter:
    """Returns the routes. A problem of another user or out of reach gives the same 404 as none."""
    router = routes_of("problems")

    @router.get("/v1/memory/{user_id}/problems", summary="The problems of a user")
    async def list_problems(
        user_id: str, query: Annotated[ProblemParams, Query()], caller: Reader
    ) -> ProblemsPage:
        owner = owner_of(caller, user_id)
        problems = await _read_problems(reader.present, owner)
        found = _wanted(problems, query.status, query.project_id, caller)
        return ProblemsPage(problems=[Problem.made_from(each) for each in found[: query.limit]])

    @router.get("/v1/memory/{user_id}/problems/{problem_id}", summary="One problem with its history")
    async def problem(user_id: str, problem_id: Uuid, caller: Reader) -> ProblemHistory:
        owner = owner_of(caller, user_id, thing="problem", field="problem_id")
        found = await _read_problems(reader.history, owner, problem_id)
        if found is None or not caller.reach.admits(found[0].project_id, found[0].mode):
            raise missing("problem", "problem_id")
        return ProblemHistory.made_from(found[0], history=[_entry(each) for each in found[1]])

    return router


def _entry(event: Event) -> ProblemEntry:
    payload: Any = event.payload
    span = payload.origin.source_span
    names = (
        "description",
        "priority",
        "approach",
        "outcome",
        "successful",
        "problem",
        "resolution",
        "reason",
    )
    details = {name: getattr(payload, name, None) for name in names}
    return ProblemEntry(
        type=event.type,
        at=event.occurred_at,
        recorded_at=event.recorded_at,
        actor=event.actor,
        turn_ids=list(payload.origin.turn_ids),
        quote=None if span is None else span.text,
        details={name: value for name, value in details.items() if value is not None},
    )


class ThreadsIn(ReaderIn):
    """Which threads."""

    status: Annotated[Literal["open", "closed", "all", "*"], Field(description="* is all")] = "open"
    project_id: Annotated[str | None, Field(description="only of this project")] = None
    limit: Annotated[int, Field(ge=1, le=500)] = 100


async def present_threads(pool: Pool, owner: str) -> list[KnownThread]:
    """Returns the threads of a user, from the log: open ones first, then the last changed. Raises psycopg.Error."""
    return in_order((await answered(pool, owner, threads(owner))).values())


def threads_router(pool: Pool, fresh: Fresh) -> APIRouter:
    """Returns the routes. A thread of another user or out of reach gives the same 404 as none.

    ``pool`` must be of the primary, so a write is seen at once.
    """
    router = routes_of("threads")

    @router.get("/v1/threads", summary="The threads of a user, open ones first")
    async def list_threads(query: Annotated[ThreadsIn, Query()], caller: Reader) -> ThreadsPage:
        owner = owner_of(caller, reader_of(query))
        known = await _read_threads(present_threads, pool, owner)
        found = _wanted(known, query.status, query.project_id, caller)
        return ThreadsPage(threads=[Thread.made_from(each) for each in found[: query.limit]])

    @router.get("/v1/threads/{thread_id}", summary="One thread with its cards")
    async def thread(thread_id: Uuid, query: Annotated[ReaderIn, Query()], caller: Reader) -> ThreadCards:
        owner = owner_of(caller, reader_of(query), thing="thread", field="thread_id")
        known = await _read_threads(present_threads, pool, owner)
        found = next((each for each in known if each.thread_id == thread_id), None)
        if found is None or not caller.reach.admits(found.project_id, found.mode):
            raise missing("thread", "thread_id")
        reader = await fresh(query.wait_for, owner)
        told = await _read_threads(_told, reader, owner, caller, found.cards)
        # A card that was withdrawn or is out of reach keeps its place without its words.
        cards = [ThreadCard.made_from(each, **told[each.card_id]) for each in found.cards.values()]
        there = [each for each in cards if each.said_at is not None]
        gone = [each for each in cards if each.said_at is None]
        return ThreadCards(
            thread=Thread.made_from(found),
            cards=[*sorted(there, key=lambda each: (each.said_at, each.card_id)), *gone],
        )

    return router


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
        known = await _read_insights(read_insights, pool, owner)
        found = _wanted(known.present, query.status, query.project_id, caller)
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
        told = await _read_insights(_told, reader, owner, caller, found.sources)
        return InsightSources(
            insight=Insight.made_from(found),
            cards=[InsightSource.model_validate({"card_id": each, **told[each]}) for each in found.sources],
        )

    return router


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
