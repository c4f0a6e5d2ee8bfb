"""Active problems over HTTP, to read: the list, and one problem with its history."""

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query
from pydantic import BaseModel, Field

from events.http.access import Reader, owner_of
from events.http.answering import routes_of
from events.http.database import Reading
from events.http.errors import missing
from events.http.fields import QueryInstant, Uuid
from events.resources.problems import Problem, ProblemEntry, ProblemHistory, ProblemsPage
from events.types.envelope import Event
from retrieval.problems import ProblemReader

_read = Reading("Problems unavailable")


class PastParams(BaseModel, extra="forbid"):
    """The instants that an answer is about."""

    as_of: Annotated[QueryInstant | None, Field(description="as it was at this instant")] = None
    known_at: Annotated[
        QueryInstant | None, Field(description="by what was recorded at this instant; else by all")
    ] = None


class ProblemParams(PastParams):
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
        if query.as_of is None and query.known_at is None:
            problems = await _read(reader.present, owner)
        else:
            problems = await _read(reader.past, owner, query.as_of, query.known_at)
        found = [
            each
            for each in problems
            if query.status in ("all", "*", each.status)
            and query.project_id in (None, each.project_id)
            and caller.reach.admits(each.project_id, each.mode)
        ]
        return ProblemsPage(problems=[Problem.made_from(each) for each in found[: query.limit]])

    @router.get("/v1/memory/{user_id}/problems/{problem_id}", summary="One problem with its history")
    async def problem(
        user_id: str, problem_id: Uuid, query: Annotated[PastParams, Query()], caller: Reader
    ) -> ProblemHistory:
        owner = owner_of(caller, user_id, thing="problem", field="problem_id")
        found = await _read(reader.history, owner, problem_id, query.as_of, query.known_at)
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
