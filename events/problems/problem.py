"""The problems of a user as events tell them: a pure fold.

An event that names its problem in words finds it here, among the problems of its project. The extractor therefore says
only what a turn says, and a later reading of the same turns gives the same problems.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal
from uuid import UUID

from events.problems.naming import equal, named, same
from events.types.envelope import Event
from events.types.extraction import CardsWithdrawn
from events.types.problems import (
    PROBLEM_EVENTS,
    ProblemAttempted,
    ProblemClosed,
    ProblemEvent,
    ProblemOpened,
    ProblemReopened,
)

Status = Literal["active", "closed"]
TYPES = frozenset(cls.__name__ for cls in (*PROBLEM_EVENTS, CardsWithdrawn))
"""The types of events that change problems."""
DEFAULT_PRIORITY = 5
MAX_ATTEMPTS = 200
"""The latest attempts of a problem that are kept. The log keeps all of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One approach. ``attempt_id`` is the event that told it first. ``successful`` is None while nobody knows."""

    attempt_id: UUID
    date: datetime
    approach: str
    outcome: str | None
    successful: bool | None
    turn_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A problem after some events. ``version`` counts its events. ``turn_ids`` are the turns behind it, in order."""

    owner: str
    problem_id: UUID
    project_id: str
    mode: str | None
    description: str
    status: Status
    priority: int
    opened_at: datetime
    updated_at: datetime
    closed_at: datetime | None
    resolution: str | None
    attempts: tuple[Attempt, ...]
    turn_ids: tuple[str, ...]
    version: int
    position: int


@dataclass(slots=True)
class Problems:
    """The problems of one user, in the order in which they were opened, and the problem of each event.

    An event in ``loose`` names no problem that is known.
    """

    by_id: dict[UUID, Problem] = field(default_factory=dict)
    of_event: dict[UUID, UUID] = field(default_factory=dict)
    loose: dict[UUID, Event] = field(default_factory=dict)

    def history(self, problem_id: UUID, events: Iterable[Event]) -> list[Event]:
        """Returns the events of a problem among ``events``, in their order."""
        return [event for event in events if self.of_event.get(event.event_id) == problem_id]


def standing(events: Iterable[Event]) -> list[Event]:
    """Returns the problem events that no ``CardsWithdrawn`` among ``events`` takes back, in order."""
    events = list(events)
    gone = {
        one for each in events if isinstance(each.payload, CardsWithdrawn) for one in each.payload.event_ids
    }
    return [each for each in events if isinstance(each.payload, PROBLEM_EVENTS) and each.event_id not in gone]


def fold(events: Iterable[Event]) -> Problems:
    """Returns the problems after ``events`` of one user, in the order of the log. Other events change nothing."""
    problems = Problems()
    for event in standing(events):
        _apply(problems, event)
    return problems


def present(problems: Problems, *, status: Status | None = None) -> list[Problem]:
    """Returns problems in the order for readers: active ones first, then by priority, then the latest."""
    found = [each for each in problems.by_id.values() if status in (None, each.status)]
    return in_order(found)


def in_order(problems: Iterable[Problem]) -> list[Problem]:
    """Returns ``problems``: active ones first, then by priority, then the last changed."""
    return sorted(
        problems,
        key=lambda each: (
            each.status != "active",
            -each.priority,
            -each.updated_at.timestamp(),
            str(each.problem_id),
        ),
    )


def _apply(problems: Problems, event: Event) -> None:
    payload = event.payload
    if isinstance(payload, ProblemOpened):
        _open(problems, event, payload)
        return
    assert isinstance(payload, PROBLEM_EVENTS)
    found = _meant(problems, payload)
    if found is None:
        if isinstance(payload, ProblemAttempted) and payload.problem is not None:
            problems.loose[event.event_id] = event
        return
    _change(problems, found, event, payload)


def _open(problems: Problems, event: Event, opened: ProblemOpened) -> None:
    before = next(
        (
            each
            for each in reversed(list(_of_project(problems, opened)))
            if same(each.description, opened.description)
        ),
        None,
    )
    if before is not None:
        _change(problems, before, event, opened)
        return
    problem = Problem(
        owner=event.user_id,
        problem_id=event.event_id,
        project_id=opened.origin.project_id,
        mode=opened.origin.mode,
        description=opened.description,
        status="active",
        priority=opened.priority or DEFAULT_PRIORITY,
        opened_at=event.occurred_at,
        updated_at=event.occurred_at,
        closed_at=None,
        resolution=None,
        attempts=(),
        turn_ids=_turns((), opened),
        version=1,
        position=event.position,
    )
    problems.by_id[problem.problem_id] = problem
    problems.of_event[event.event_id] = problem.problem_id
    for each in list(problems.loose.values()):
        payload = each.payload
        assert isinstance(payload, ProblemAttempted)
        if _meant(problems, payload) is not None:
            del problems.loose[each.event_id]
            _change(problems, problems.by_id[problem.problem_id], each, payload)


def _of_project(problems: Problems, payload: ProblemEvent) -> Iterator[Problem]:
    origin = payload.origin
    for each in problems.by_id.values():
        if (each.project_id, each.mode) == (origin.project_id, origin.mode):
            yield each


def _meant(problems: Problems, payload: ProblemEvent) -> Problem | None:
    """Returns the problem of an event: by its id, or the open one that the words name, or the closed one."""
    if isinstance(payload, ProblemOpened):
        return None
    if payload.problem_id is not None:
        return problems.by_id.get(payload.problem_id)
    if not isinstance(payload, ProblemAttempted | ProblemClosed) or payload.problem is None:
        return None
    own = list(_of_project(problems, payload))
    found = named(payload.problem, ((each.description, each) for each in own if each.status == "active"))
    if found is None and isinstance(payload, ProblemAttempted):
        found = named(payload.problem, ((each.description, each) for each in own if each.status == "closed"))
    return found


def _change(problems: Problems, before: Problem, event: Event, payload: ProblemEvent) -> None:
    seen = replace(
        before,
        turn_ids=_turns(before.turn_ids, payload),
        updated_at=max(before.updated_at, event.occurred_at),
        version=before.version + 1,
        position=max(before.position, event.position),
    )
    match payload:
        case ProblemOpened():
            after = replace(seen, status="active", closed_at=None, resolution=None)
            if payload.priority is not None:
                after = replace(after, priority=payload.priority)
        case ProblemAttempted():
            after = replace(seen, attempts=_tried(seen.attempts, event, payload))
        case ProblemClosed():
            after = replace(seen, status="closed", closed_at=event.occurred_at, resolution=payload.resolution)
        case ProblemReopened():
            after = replace(seen, status="active", closed_at=None, resolution=None)
        case _:
            after = replace(seen, priority=payload.priority)
    problems.by_id[before.problem_id] = after
    problems.of_event[event.event_id] = before.problem_id


def _tried(before: tuple[Attempt, ...], event: Event, payload: ProblemAttempted) -> tuple[Attempt, ...]:
    """Returns the attempts with one more, or with a newer outcome of the same approach, by date."""
    attempts = list(before)
    again = next((at for at, each in enumerate(attempts) if equal(each.approach, payload.approach)), None)
    if again is not None:
        each = attempts[again]
        attempts[again] = replace(
            each,
            date=min(each.date, payload.tried_at),
            outcome=each.outcome if payload.outcome is None else payload.outcome,
            successful=each.successful if payload.successful is None else payload.successful,
            turn_ids=_turns(each.turn_ids, payload),
        )
    else:
        attempts.append(
            Attempt(
                attempt_id=event.event_id,
                date=payload.tried_at,
                approach=payload.approach,
                outcome=payload.outcome,
                successful=payload.successful,
                turn_ids=_turns((), payload),
            )
        )
    return tuple(sorted(attempts, key=lambda each: (each.date, str(each.attempt_id))))[-MAX_ATTEMPTS:]


def _turns(before: tuple[str, ...], payload: ProblemEvent) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*before, *payload.origin.turn_ids)))
