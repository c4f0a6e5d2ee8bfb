"""The problems of a user as events tell them: a pure fold.

An event that names its problem in words finds it here, among the problems of its project. The extractor therefore says
only what a turn says, and a later reading of the same turns gives the same problems. Events count in the order of what
they tell (``occurred_at``). The order in which they arrived changes only the times of the log.
"""

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import datetime
from typing import Literal
from uuid import UUID

import msgspec
import orjson

from events.platform.database import Row
from events.problems.naming import equal, named, same
from events.types.envelope import Event
from events.types.extraction import CardsWithdrawn, standing
from events.types.problems import (
    PROBLEM_EVENTS,
    ProblemAttempted,
    ProblemClosed,
    ProblemEvent,
    ProblemOpened,
    ProblemPrioritized,
    ProblemReopened,
)
from events.types.records import learned
from events.types.turns import natural_order

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
    """A problem after some events. ``version`` counts its events. ``turn_ids`` are the turns behind it, in order.

    ``problem_id`` is the event that opened it first in the log. The user had it from ``since`` until ``until`` (None
    while it is active). ``opened_at``, ``updated_at`` and ``closed_at`` are times of the log.
    """

    owner: str
    problem_id: UUID
    project_id: str
    mode: str | None
    description: str
    status: Status
    priority: int
    since: datetime
    until: datetime | None
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
    """The problems of one user, in the order in which they began, and the problem of each event.

    An event in ``loose`` names no problem that is known. ``first`` is the opening of each problem that came first.
    """

    by_id: dict[UUID, Problem] = field(default_factory=dict)
    of_event: dict[UUID, UUID] = field(default_factory=dict)
    loose: dict[UUID, Event] = field(default_factory=dict)
    first: dict[UUID, Event] = field(default_factory=dict)

    def named(self, problem_id: UUID) -> Problem | None:
        """Returns the problem that any of its openings names, or None."""
        return self.by_id.get(self.of_event.get(problem_id, problem_id))

    def history(self, problem: Problem, events: Iterable[Event]) -> list[Event]:
        """Returns the events of a problem among ``events``, in their order."""
        return [event for event in events if self.of_event.get(event.event_id) == problem.problem_id]


def fold(events: Iterable[Event]) -> Problems:
    """Returns the problems after ``events`` of one user, in any order. Other events change nothing."""
    problems = Problems()
    for event in sorted(standing(events, PROBLEM_EVENTS), key=_told):
        _apply(problems, event)
    names = {begun: first.event_id for begun, first in problems.first.items()}
    problems.by_id = {
        names[begun]: replace(each, problem_id=names[begun]) for begun, each in problems.by_id.items()
    }
    problems.of_event = {event_id: names[begun] for event_id, begun in problems.of_event.items()}
    return problems


def until(events: Iterable[Event], as_of: datetime) -> list[Event]:
    """Returns the events about the time up to ``as_of``. An attempt is about the time at which it was tried."""
    return [each for each in events if _about(each) <= as_of]


def _about(event: Event) -> datetime:
    payload = event.payload
    return payload.tried_at if isinstance(payload, ProblemAttempted) else event.occurred_at


def _told(event: Event) -> tuple[object, ...]:
    """The place of an event in the order of telling: by time, turn and place in the turn. The id decides at last."""
    origin = event.payload.origin
    span = origin.source_span
    turn = natural_order(min(origin.turn_ids, default=""))
    return event.occurred_at, turn, 0 if span is None else span.start, event.event_id


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
    assert isinstance(payload, ProblemAttempted | ProblemClosed | ProblemReopened | ProblemPrioritized)
    found = _meant(problems, payload)
    if found is None:
        if payload.problem_id is not None or isinstance(payload, ProblemAttempted):
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
        since=event.occurred_at,
        until=None,
        opened_at=event.recorded_at,
        updated_at=event.recorded_at,
        closed_at=None,
        resolution=None,
        attempts=(),
        turn_ids=_turns((), opened),
        version=1,
        position=event.position,
    )
    problems.by_id[problem.problem_id] = problem
    problems.of_event[event.event_id] = problem.problem_id
    problems.first[problem.problem_id] = event
    _take_loose(problems)


def _take_loose(problems: Problems) -> None:
    """Gives the events that were told before their problem to it."""
    for each in list(problems.loose.values()):
        payload = each.payload
        assert isinstance(payload, PROBLEM_EVENTS)
        found = _meant(problems, payload)
        if found is not None:
            del problems.loose[each.event_id]
            _change(problems, found, each, payload)


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
        return problems.named(payload.problem_id)
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
        updated_at=max(before.updated_at, event.recorded_at),
        version=before.version + 1,
        position=max(before.position, event.position),
    )
    match payload:
        case ProblemOpened():
            after = replace(_reopened(seen), opened_at=min(seen.opened_at, event.recorded_at))
            first = problems.first[before.problem_id]
            problems.first[before.problem_id] = min(first, event, key=lambda each: each.position)
            if payload.priority is not None:
                after = replace(after, priority=payload.priority)
        case ProblemAttempted():
            after = replace(seen, attempts=_tried(seen.attempts, event, payload))
        case ProblemClosed():
            after = replace(
                seen,
                status="closed",
                until=event.occurred_at,
                closed_at=event.recorded_at,
                resolution=payload.resolution,
            )
        case ProblemReopened():
            after = _reopened(seen)
        case _:
            after = replace(seen, priority=payload.priority)
    problems.by_id[before.problem_id] = after
    problems.of_event[event.event_id] = before.problem_id
    if isinstance(payload, ProblemOpened):
        _take_loose(problems)


def _reopened(problem: Problem) -> Problem:
    return replace(problem, status="active", until=None, closed_at=None, resolution=None)


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


_ATTEMPTS = learned(tuple[Attempt, ...])
_SAME = tuple(each.name for each in fields(Problem) if each.name not in ("owner", "attempts", "turn_ids"))


def row_of(problem: Problem) -> dict[str, object]:
    """Returns the row of a problem. ``attempts`` is JSON text, with instants in UTC."""
    return {
        "user_id": problem.owner,
        "attempts": orjson.dumps(
            [asdict(each) for each in problem.attempts],
            option=orjson.OPT_SORT_KEYS | orjson.OPT_UTC_Z,
        ).decode(),
        "turn_ids": list(problem.turn_ids),
        **{name: getattr(problem, name) for name in _SAME},
    }


def problem_of(row: Row) -> Problem:
    """Returns the problem of a row. ``attempts`` is JSON text."""
    attempts = msgspec.json.decode(row["attempts"], type=_ATTEMPTS)
    same = {name: row[name] for name in _SAME}
    return Problem(owner=row["user_id"], attempts=attempts, turn_ids=tuple(row["turn_ids"]), **same)
