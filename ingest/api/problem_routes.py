"""The commands of active problems over HTTP."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter
from pydantic import Field

from events.http.answering import routes_of
from events.http.fields import DayOrInstant, Name, Uuid, refuse_future, storable
from events.platform.database import Connection
from events.problems.problem import Problem
from events.resources.problems import WrittenProblem
from events.types.problems import (
    ProblemAttempted,
    ProblemClosed,
    ProblemEvent,
    ProblemPrioritized,
    ProblemReopened,
)
from ingest import problems
from ingest.api.transactions import FromTurns, Sender, Sent, Transactions
from ingest.decider import Outcome
from ingest.problems import KnownProblem, UserProblems

Short = Annotated[str, *storable(1000)]
Long = Annotated[str, *storable(4000)]
Priority = Annotated[int, Field(ge=1, le=10, description="1: a trifle, 10: urgent")]


class ProblemIn(
    FromTurns,
    json_schema_extra={"examples": [{"description": "Post-dinner glucose spikes", "priority": 8}]},
):
    """A new problem."""

    description: Short = Field(description="what troubles the user, in a few words")
    priority: Annotated[Priority | None, Field(description="1: a trifle, 10: urgent; 5 unless given")] = None
    since: Annotated[DayOrInstant | None, Field(description="since when the user has it; else now")] = None
    project_id: Name = "default"
    mode: Annotated[Name | None, Field(description="the mode, such as journal")] = None


class AttemptIn(
    FromTurns,
    json_schema_extra={
        "examples": [
            {
                "date": "2023-11-20",
                "approach": "Walking after dinner",
                "outcome": "20-30 point reduction",
                "successful": True,
            }
        ]
    },
):
    """Something that the user tried."""

    approach: Short = Field(description="what was tried; the same approach again updates its outcome")
    outcome: Annotated[Short | None, Field(description="what came of it")] = None
    successful: Annotated[bool | None, Field(description="null while nobody knows")] = None
    date: Annotated[DayOrInstant | None, Field(description="when it was tried; else now")] = None


class CloseIn(FromTurns):
    """The problem is over."""

    resolution: Annotated[Long | None, Field(description="how it ended")] = None


class ReopenIn(FromTurns):
    """The problem is back."""

    reason: Long | None = None


class PriorityIn(FromTurns):
    """Another priority."""

    priority: Priority
    reason: Long | None = None


def problem_router(transactions: Transactions) -> APIRouter:
    """Returns the routes of problems."""
    router = routes_of("problems")

    @router.post("/v1/memory/{user_id}/problems", status_code=201, summary="Open a problem")
    def open_problem(user_id: str, body: ProblemIn, sender: Sent) -> WrittenProblem:
        command = sender.command_of(body, user_id)
        refuse_future("since", body.since, command.at)

        def run(connection: Connection) -> Outcome[Problem]:
            opening = UserProblems(connection, command)
            return problems.open_problem(
                opening, body.description, body.priority, body.project_id, body.mode, body.since
            )

        return transactions.written(WrittenProblem, command, run)

    @router.post(
        "/v1/memory/{user_id}/problems/{problem_id}/attempt",
        summary="Record what was tried against a problem",
    )
    def attempt_problem(user_id: str, problem_id: Uuid, body: AttemptIn, sender: Sent) -> WrittenProblem:
        now = datetime.now(UTC)
        refuse_future("date", body.date, now)
        return changed(sender, user_id, problem_id, body, ProblemAttempted, tried_at=body.date or now)

    @router.post("/v1/memory/{user_id}/problems/{problem_id}/close", summary="Close a problem")
    def close_problem(user_id: str, problem_id: Uuid, body: CloseIn, sender: Sent) -> WrittenProblem:
        return changed(sender, user_id, problem_id, body, ProblemClosed)

    @router.post("/v1/memory/{user_id}/problems/{problem_id}/reopen", summary="Open a closed problem again")
    def reopen_problem(user_id: str, problem_id: Uuid, body: ReopenIn, sender: Sent) -> WrittenProblem:
        return changed(sender, user_id, problem_id, body, ProblemReopened)

    @router.post(
        "/v1/memory/{user_id}/problems/{problem_id}/priority", summary="Give a problem another priority"
    )
    def prioritize_problem(user_id: str, problem_id: Uuid, body: PriorityIn, sender: Sent) -> WrittenProblem:
        return changed(sender, user_id, problem_id, body, ProblemPrioritized)

    def changed(
        sender: Sender,
        user_id: str,
        problem_id: UUID,
        body: FromTurns,
        kind: Callable[..., ProblemEvent],
        **more: object,
    ) -> WrittenProblem:
        """Appends the event that ``body`` has the fields of."""
        command = sender.command_of(body, user_id, "problem")
        fields = body.model_dump(exclude={*FromTurns.model_fields, "date"}) | more
        return transactions.written(
            WrittenProblem,
            command,
            lambda c: problems.change(KnownProblem(c, command, problem_id), kind, **fields),
        )

    return router
