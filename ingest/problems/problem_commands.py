"""The commands of problems: open, attempt, close, reopen, change the priority.

Every command runs in a transaction of the caller, under a lock of the user's problems that lasts as long. It works on
the events of the log, so it never decides on a stale table. A command also appends a noted event in words, which is the
card that a recall finds. The caller announces the append after the commit (:func:`events.store.log.announce`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any
from uuid import UUID

import orjson

from events.access.principal import EVERYTHING, Reach
from events.http.errors import ProblemError, invalid, missing
from events.problems.naming import same
from events.problems.problem import Problem, Problems, fold
from events.problems.problem_log import entries, first_event, lock
from events.problems.rows import document_of
from events.store import log
from events.store.log import Connection
from events.types.cards import CardOrigin, EventNoted, Sentiment
from events.types.codec import encode
from events.types.envelope import Event, NewEvent, uuid7
from events.types.problems import (
    ProblemAttempted,
    ProblemClosed,
    ProblemEvent,
    ProblemOpened,
    ProblemPrioritized,
    ProblemReopened,
)
from ingest.problems import wording

MAX_PROBLEMS = 1000
"""The most problems of one user."""
_IMPORTANCE = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """Who sends a command and when. ``idempotency_key``: a repeated command returns the first answer."""

    actor: str
    at: datetime
    agent_id: str | None = None
    turn_ids: tuple[str, ...] = ()
    idempotency_key: str | None = None
    reach: Reach = EVERYTHING

    def origin(self, project_id: str, mode: str | None) -> CardOrigin:
        """Returns where the words of the command come from."""
        return CardOrigin(
            project_id=project_id,
            session_id="default",
            turn_ids=self.turn_ids,
            said_at=self.at,
            source_span=None,
            provenance="user_stated" if self.agent_id is None else "agent_inferred",
            agent_id=self.agent_id,
            mode=mode,
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """The problem after a command. ``changed`` is false when the wanted state already held, or for a repeat.

    ``position`` is the last position that the answer rests on.
    """

    problem: Problem
    changed: bool
    position: int


def open_problem(
    connection: Connection,
    owner: str,
    description: str,
    priority: int | None,
    project_id: str,
    mode: str | None,
    command: Command,
) -> Outcome:
    """Opens a problem. Raises a 409 problem with the present one when the same problem is open.

    A closed problem of the same words is reopened. Raises a 404 problem for a project or mode out of reach.
    """
    if not command.reach.admits(project_id, mode):
        raise missing("project", "project_id")
    opened = ProblemOpened(
        description=description, priority=priority, origin=command.origin(project_id, mode)
    )
    lock(connection, owner)
    events = entries(connection, owner)
    if (first := _repeated(connection, owner, events, opened, command)) is not None:
        return first
    problems = fold(events)
    for each in problems.by_id.values():
        if (each.project_id, each.mode, each.status) == (project_id, mode, "active") and same(
            each.description, description
        ):
            raise ProblemError(
                409,
                "Exists",
                "description: this problem is open; add an attempt to it, or describe another problem",
                field="description",
                current=document_of(each),
            )
    if len(problems.by_id) >= MAX_PROBLEMS:
        raise invalid("description", f"there are {MAX_PROBLEMS} problems, which is the most a user can have")
    return _append(connection, owner, events, opened, (wording.opened(description), "negative"), command)


def attempt(
    connection: Connection,
    owner: str,
    problem_id: UUID,
    tried: Mapping[str, Any],
    tried_at: datetime,
    command: Command,
) -> Outcome:
    """Records an attempt: ``tried`` has approach, outcome and successful. The same approach again updates its outcome.

    Raises 404 when the user has no such problem in reach.
    """

    def made(problem: Problem, origin: CardOrigin) -> tuple[ProblemEvent, tuple[str, Sentiment]]:
        attempted = ProblemAttempted(
            problem_id=problem_id, problem=problem.description, tried_at=tried_at, origin=origin, **tried
        )
        words = wording.attempted(
            problem.description, attempted.approach, attempted.outcome, attempted.successful
        )
        mood: Sentiment = {True: "positive", False: "negative", None: "neutral"}[attempted.successful]  # type: ignore[assignment]
        return attempted, (words, mood)

    return _change(connection, owner, problem_id, made, command)


def close(
    connection: Connection, owner: str, problem_id: UUID, resolution: str | None, command: Command
) -> Outcome:
    """Closes a problem. A second call changes nothing."""

    def made(problem: Problem, origin: CardOrigin) -> tuple[ProblemEvent, tuple[str, Sentiment]] | None:
        if problem.status == "closed":
            return None
        closed = ProblemClosed(
            problem_id=problem_id, problem=problem.description, resolution=resolution, origin=origin
        )
        return closed, (wording.closed(problem.description, resolution), "positive")

    return _change(connection, owner, problem_id, made, command)


def reopen(
    connection: Connection, owner: str, problem_id: UUID, reason: str | None, command: Command
) -> Outcome:
    """Opens a closed problem again. A call for an open problem changes nothing."""

    def made(problem: Problem, origin: CardOrigin) -> tuple[ProblemEvent, tuple[str, Sentiment]] | None:
        if problem.status == "active":
            return None
        reopened = ProblemReopened(problem_id=problem_id, reason=reason, origin=origin)
        return reopened, (wording.opened(problem.description), "negative")

    return _change(connection, owner, problem_id, made, command)


def prioritize(
    connection: Connection, owner: str, problem_id: UUID, priority: int, reason: str | None, command: Command
) -> Outcome:
    """Gives a problem another priority."""

    def made(problem: Problem, origin: CardOrigin) -> tuple[ProblemEvent, None] | None:
        if problem.priority == priority:
            return None
        return (
            ProblemPrioritized(problem_id=problem_id, priority=priority, reason=reason, origin=origin),
            None,
        )

    return _change(connection, owner, problem_id, made, command)


def not_found() -> ProblemError:
    """Returns the 404 problem of a problem that is not there, or is out of reach."""
    return missing("problem", "problem_id")


_Made = tuple[ProblemEvent, tuple[str, Sentiment] | None]


def _change(
    connection: Connection,
    owner: str,
    problem_id: UUID,
    made: Callable[[Problem, CardOrigin], _Made | None],
    command: Command,
) -> Outcome:
    lock(connection, owner)
    events = entries(connection, owner)
    problem = fold(events).by_id.get(problem_id)
    if problem is None or not command.reach.admits(problem.project_id, problem.mode):
        raise not_found()
    change = made(problem, command.origin(problem.project_id, problem.mode))
    if change is not None and (first := _repeated(connection, owner, events, change[0], command)) is not None:
        return first
    if change is None:
        return Outcome(problem, False, problem.position)
    return _append(connection, owner, events, change[0], change[1], command)


def _append(
    connection: Connection,
    owner: str,
    before: list[Event],
    payload: ProblemEvent,
    told: tuple[str, Sentiment] | None,
    command: Command,
) -> Outcome:
    """Appends the event of a problem, and the noted event that tells it."""
    event = NewEvent(
        event_id=uuid7(),
        user_id=owner,
        stream="problems",
        payload=payload,
        occurred_at=command.at,
        actor=command.actor,
        dedupe_key=_dedupe_key(command),
    )
    batch = [event]
    if told is not None:
        batch.append(_noted(event, payload, told))
    first, *rest = log.append(connection, batch)
    assert first.recorded_at is not None
    last = rest[-1] if rest else first
    after = Event(
        partition=first.partition,
        position=first.position,
        event_id=event.event_id,
        user_id=owner,
        stream=event.stream,
        version=first.version,
        type=type(payload).__name__,
        schema_version=1,
        dedupe_key=event.dedupe_key,
        occurred_at=command.at,
        recorded_at=first.recorded_at,
        actor=command.actor,
        causation_id=None,
        correlation_id=None,
        payload=payload,
    )
    return Outcome(_problem_of(fold([*before, after]), event.event_id), True, last.position)


def _noted(cause: NewEvent, payload: ProblemEvent, told: tuple[str, Sentiment]) -> NewEvent:
    words, sentiment = told
    tags = ["problem"]
    if isinstance(payload, ProblemAttempted):
        tags += ["attempt", *{True: ["worked"], False: ["failed"], None: []}[payload.successful]]
    noted = EventNoted(
        content=words,
        entity="user",
        tags=tuple(tags),
        origin=payload.origin,
        occurred_at=payload.tried_at if isinstance(payload, ProblemAttempted) else cause.occurred_at,
        importance=_IMPORTANCE,
        sentiment=sentiment,
    )
    return NewEvent(
        event_id=uuid7(),
        user_id=cause.user_id,
        stream=cause.stream,
        payload=noted,
        occurred_at=noted.occurred_at,
        actor=cause.actor,
        causation_id=cause.event_id,
        correlation_id=cause.event_id,
    )


def _repeated(
    connection: Connection, owner: str, events: list[Event], payload: ProblemEvent, command: Command
) -> Outcome | None:
    """Returns the first answer to a command with this idempotency key; None for a first command.

    Raises a 422 problem when the key was used for another command.
    """
    key = _dedupe_key(command)
    event = None if key is None else first_event(connection, owner, key)
    if event is None:
        return None
    if _wanted(event.payload) != _wanted(payload):
        raise invalid("Idempotency-Key", "was used for another command; use a new key for each command")
    problems = fold(each for each in events if each.position <= event.position)
    return Outcome(_problem_of(problems, event.event_id), False, event.position)


def _wanted(payload: Any) -> tuple[str, Any]:
    """Returns what a command asks for, without the time of its arrival."""
    data = orjson.loads(encode(payload))
    return type(payload).__name__, {
        name: value for name, value in data.items() if name not in ("origin", "tried_at", "problem")
    }


def _problem_of(problems: Problems, event_id: UUID) -> Problem:
    return problems.by_id[problems.of_event[event_id]]


def _dedupe_key(command: Command) -> str | None:
    if command.idempotency_key is None:
        return None
    return f"problem/{sha256(command.idempotency_key.encode()).hexdigest()}"
