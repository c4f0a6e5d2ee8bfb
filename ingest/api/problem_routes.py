"""The commands of problems, and their routes: open, attempt, close, reopen, change the priority.

Every command is decided under a lock of the user's problems (:mod:`ingest.decider`), on the events of the log and never
on a stale table. A command also appends a noted event in words, which is the card that a recall finds.
"""

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Any
from uuid import UUID

import orjson
from fastapi import APIRouter
from pydantic import Field

from events.http.answering import routes_of
from events.http.errors import conflict, invalid, missing
from events.http.fields import DayOrInstant, Name, Uuid, refuse_future, storable
from events.platform.database import Connection
from events.problems import wording
from events.problems.naming import same
from events.problems.problem import Problem, fold
from events.problems.problem_log import entries, note_of
from events.resources import problems as resources
from events.resources.problems import WrittenProblem
from events.resources.resource import plain
from events.types.cards import EventNoted, Sentiment
from events.types.codec import encode
from events.types.envelope import Event, Payload
from events.types.problems import (
    ProblemAttempted,
    ProblemClosed,
    ProblemEvent,
    ProblemOpened,
    ProblemPrioritized,
    ProblemReopened,
)
from ingest.api.transactions import FromTurns, Sender, Sent, Transactions
from ingest.decider import Decision, Outcome, UserStream, decide

MAX_PROBLEMS = 1000
"""The most problems of one user."""
STREAM = "problems"
_IMPORTANCE = 6


class UserProblems(UserStream[list[Event], Problem]):
    """The events of a user's problems, of which a command opens one."""

    name = STREAM
    keyed = "problem"

    def load(self) -> list[Event]:
        return entries(self.connection, self.owner)

    def answer(self, state: list[Event], event: Event | None) -> Problem:
        return self.present(state) if event is None else _problem_of([*state, event], event)

    def first_answer(self, event: Event) -> Problem:
        return _problem_of((each for each in self.load() if each.position <= event.position), event)


class KnownProblem(UserProblems):
    """The events of a user's problems, of which a command changes one."""

    def present(self, state: list[Event], event: Event | None = None) -> Problem:
        problem = fold(state).named(self.id)
        if problem is None or not self.command.reach.admits(problem.project_id, problem.mode):
            raise missing("problem", "problem_id")
        return problem

    def first_answer(self, event: Event) -> Problem:
        known = self.load()
        self.present(known)
        return self.present([each for each in known if each.position <= event.position])


def open_problem(
    problems: UserProblems,
    description: str,
    priority: int | None,
    project_id: str,
    mode: str | None,
    since: datetime | None = None,
) -> Outcome[Problem]:
    """Opens a problem that the user has ``since`` then (None: now). 409 with the present one when it is open.

    A closed problem of the same words is reopened, and 422 says when it is not over at ``since``. Raises a 404 problem
    for a project or mode out of reach.
    """
    if not problems.command.reach.admits(project_id, mode):
        raise missing("project", "project_id")
    opened = ProblemOpened(
        description=description, priority=priority, origin=problems.command.origin(project_id, mode)
    )

    def rule(events: list[Event]) -> Decision:
        known = fold(events).by_id.values()
        for each in known:
            if (each.project_id, each.mode) != (project_id, mode) or not same(each.description, description):
                continue
            if since is not None and each.until is not None and since <= each.until:
                raise invalid(
                    "since", f"is before this problem was over ({each.until.isoformat()}); use a later time"
                )
            if each.status == "active":
                raise conflict(
                    "Exists",
                    "description",
                    "this problem is open; add an attempt to it, or describe another problem",
                    current=plain(resources.Problem.made_from(each)),
                )
        if len(known) >= MAX_PROBLEMS:
            raise invalid(
                "description", f"there are {MAX_PROBLEMS} problems, which is the most a user can have"
            )
        return _decision(problems, events, opened, description, since)

    return decide(problems, rule, _same_as(opened))


_HOLDS: dict[type, Callable[[Problem, Any], bool]] = {
    ProblemAttempted: lambda present, asked: False,
    ProblemClosed: lambda present, asked: present.status == "closed",
    ProblemReopened: lambda present, asked: present.status == "active",
    ProblemPrioritized: lambda present, asked: present.priority == asked.priority,
}


def change(problem: KnownProblem, kind: Callable[..., ProblemEvent], **fields: object) -> Outcome[Problem]:
    """Appends an event of a problem, unless the wanted state holds: an attempt, the end, the return or the priority.

    The same approach again updates the outcome of an attempt. Raises 404 when the user has no such problem in reach.
    """
    asked = kind(problem_id=problem.id, origin=problem.command.origin(), **fields)

    def rule(events: list[Event]) -> Decision | None:
        present = problem.present(events)
        if _HOLDS[type(asked)](present, asked):
            return None
        payload = replace(asked, origin=problem.command.origin(present.project_id, present.mode))
        if isinstance(payload, ProblemAttempted | ProblemClosed):
            payload = replace(payload, problem=present.description)
        return _decision(problem, events, payload, present.description)

    return decide(problem, rule, _same_as(asked))


def _decision(
    problems: UserProblems,
    events: list[Event],
    payload: ProblemEvent,
    description: str,
    since: datetime | None = None,
) -> Decision:
    """Returns the event of a problem, with the noted event that tells it.

    What is noted of a problem that begins, ends or is back takes the place of what was noted of it before.
    """
    decision = Decision(payload=payload, occurred_at=since)
    note = _note(payload, description)
    if note is None:
        return decision
    words, sentiment = note
    tags = ["problem"]
    if isinstance(payload, ProblemAttempted):
        tags += ["attempt", *{True: ["worked"], False: ["failed"], None: []}[payload.successful]]
    noted = EventNoted(
        content=words,
        entity="user",
        tags=tuple(tags),
        origin=payload.origin,
        occurred_at=payload.tried_at
        if isinstance(payload, ProblemAttempted)
        else since or problems.command.at,
        importance=_IMPORTANCE,
        sentiment=sentiment,
        replaces_event=_noted_before(problems, events, payload, description),
    )
    cause = decision.event_id
    event = problems.command.event(
        STREAM, noted, occurred_at=noted.occurred_at, causation_id=cause, correlation_id=cause
    )
    return replace(decision, after=[event])


_TURNS_OF_A_PROBLEM = (ProblemOpened, ProblemClosed, ProblemReopened)


def _noted_before(
    problems: UserProblems, events: list[Event], payload: ProblemEvent, description: str
) -> UUID | None:
    """Returns the event that told whether the problem was open, or None: there is none, or a turn told it."""
    if not isinstance(payload, _TURNS_OF_A_PROBLEM):
        return None
    known = fold(events)
    meant = {
        each.problem_id
        for each in known.by_id.values()
        if (each.project_id, each.mode) == (payload.origin.project_id, payload.origin.mode)
        and same(each.description, description)
    }
    last = next(
        (
            each
            for each in reversed(events)
            if isinstance(each.payload, _TURNS_OF_A_PROBLEM) and known.of_event.get(each.event_id) in meant
        ),
        None,
    )
    return None if last is None else note_of(problems.connection, last)


def _note(payload: ProblemEvent, description: str) -> tuple[str, Sentiment] | None:
    """Returns how an event of a problem is said, and its mood. None: it is not said."""
    match payload:
        case ProblemOpened() | ProblemReopened():
            return wording.opened(description), "negative"
        case ProblemAttempted():
            words = wording.attempted(description, payload.approach, payload.outcome, payload.successful)
            moods: dict[bool | None, Sentiment] = {True: "positive", False: "negative", None: "neutral"}
            return words, moods[payload.successful]
        case ProblemClosed():
            return wording.closed(description, payload.resolution), "positive"
        case _:
            return None


def _same_as(asked: ProblemEvent) -> Callable[[Payload], bool]:
    return lambda first: _intent(first) == _intent(asked)


def _intent(payload: Payload) -> tuple[str, object]:
    """Returns the intent of a command: its event, and of its origin the project and the mode."""
    data = orjson.loads(encode(payload))
    origin = data.get("origin") or {}
    place = {name: origin.get(name) for name in ("project_id", "mode")}
    told = {name: value for name, value in data.items() if name not in ("origin", "tried_at", "problem")}
    return type(payload).__name__, told | place


def _problem_of(events: Iterable[Event], event: Event) -> Problem:
    problems = fold(events)
    return problems.by_id[problems.of_event[event.event_id]]


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
    router = routes_of("problems")

    @router.post(
        "/v1/memory/{user_id}/problems",
        status_code=201,
        summary="Open a problem",
        operation_id="open_problem",
    )
    def create_problem(user_id: str, body: ProblemIn, sender: Sent) -> WrittenProblem:
        command = sender.command_of(body, user_id)
        refuse_future("since", body.since, command.at)

        def run(connection: Connection) -> Outcome[Problem]:
            known = UserProblems(connection, command)
            return open_problem(
                known, body.description, body.priority, body.project_id, body.mode, body.since
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
            lambda c: change(KnownProblem(c, command, problem_id), kind, **fields),
        )

    return router
