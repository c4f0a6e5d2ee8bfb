"""The problems of a user, with what was tried against each."""

from typing import Annotated, Literal
from uuid import UUID

from pydantic import AwareDatetime, BeforeValidator, Field

from events.resources.resource import Resource
from events.types.turns import GENERAL_MODE


class Attempt(Resource):
    """Something that was tried against a problem. ``successful`` is null while nobody knows."""

    attempt_id: UUID
    date: AwareDatetime
    approach: str
    outcome: str | None
    successful: bool | None
    turn_ids: list[str]


class Problem(Resource):
    """A problem with what was tried, by date. ``opened_at``, ``updated_at`` and ``closed_at`` are times of the log."""

    problem_id: UUID
    project_id: str
    mode: Annotated[str, BeforeValidator(lambda mode: mode or GENERAL_MODE)]
    description: str
    status: Literal["active", "closed"]
    priority: int
    attempts: list[Attempt]
    since: AwareDatetime = Field(description="the user has it since then")
    until: AwareDatetime | None = Field(description="when it was over; null while it is active")
    opened_at: AwareDatetime
    updated_at: AwareDatetime
    closed_at: AwareDatetime | None
    resolution: str | None
    turn_ids: list[str]
    version: int


class WrittenProblem(Problem):
    """A problem after a command."""

    token: str = Field(description="give the token to wait_for of a recall to find the problem there")


class ProblemsPage(Resource):
    """Problems: active ones first, then by priority, then the last changed."""

    problems: list[Problem]


class ProblemEntry(Resource):
    """One event of a problem, with the turns and the words behind it."""

    type: str
    at: AwareDatetime
    recorded_at: AwareDatetime
    actor: str
    turn_ids: list[str]
    quote: str | None
    details: dict[str, object]


class ProblemHistory(Problem):
    """A problem and its events, the first one first."""

    history: list[ProblemEntry]
