"""The problems of a user are the same in whatever order the events about them arrived."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from events.problems.problem import Problem, Problems, fold, until
from events.types.cards import CardOrigin
from events.types.envelope import Event, Payload
from events.types.extraction import CardsWithdrawn
from events.types.problems import ProblemAttempted, ProblemClosed, ProblemOpened, ProblemPrioritized
from tests.support.events.payloads import ORIGIN
from tests.support.events.turns import stored

MONDAY = datetime(2026, 3, 2, 12, tzinfo=UTC)


def day(number: int) -> datetime:
    return MONDAY + timedelta(days=number)


def origin(number: int) -> CardOrigin:
    return replace(ORIGIN, turn_ids=(f"t{number}",), said_at=day(number))


def opened(number: int, description: str = "morning sugars") -> tuple[int, Payload]:
    return number, ProblemOpened(description=description, origin=origin(number))


def tried(number: int, approach: str, *, worked: bool | None = None) -> tuple[int, Payload]:
    payload = ProblemAttempted(
        approach=approach,
        tried_at=day(number),
        origin=origin(number),
        problem="morning sugars",
        successful=worked,
    )
    return number, payload


SAID: Sequence[tuple[int, Payload]] = (
    tried(0, "tea"),
    opened(1),
    tried(2, "walking"),
    (3, ProblemClosed(origin=origin(3), problem="morning sugars", resolution="walks")),
    opened(5, "high morning sugars"),
    tried(6, "walking", worked=False),
    (7, ProblemPrioritized(problem_id=UUID(int=2), priority=9, origin=origin(7))),
    opened(8, "a sore knee"),
)
"""Each event with its day. The event with the number n has the id n + 1."""


def event(place: int, position: int) -> Event:
    number, payload = SAID[place]
    return envelope(UUID(int=place + 1), position, day(number), payload)


def envelope(event_id: UUID, position: int, occurred_at: datetime, payload: Payload) -> Event:
    recorded_at = day(100 + position)
    return stored(
        payload, position=position, event_id=event_id, occurred_at=occurred_at, recorded_at=recorded_at
    )


def told(problems: Problems) -> list[tuple[object, ...]]:
    """What problems tell of the time of the user, without the times and places of the log."""
    return [
        (
            each.description,
            each.status,
            each.priority,
            each.since,
            each.until,
            each.resolution,
            [(tried.date, tried.approach, tried.successful) for tried in each.attempts],
            each.version,
        )
        for each in problems.by_id.values()
    ]


IN_ORDER = [event(place, place + 1) for place in range(len(SAID))]


@given(st.permutations(range(len(SAID))), st.integers(-1, 9))
def test_arrival_counts_for_nothing_but_the_times_of_the_log(arrived: Sequence[int], asked: int) -> None:
    events = [event(place, position) for position, place in enumerate(arrived, 1)]
    assert told(fold(events)) == told(fold(IN_ORDER))
    assert told(fold(until(events, day(asked)))) == told(fold(until(IN_ORDER, day(asked))))
    openings = [each for each in events if isinstance(each.payload, ProblemOpened)]
    for problem in fold(events).by_id.values():
        own = [each for each in openings if fold(events).named(each.event_id) == problem]
        assert problem.problem_id == own[0].event_id
        assert problem.opened_at == own[0].recorded_at


def test_a_withdrawn_event_tells_nothing() -> None:
    gone = envelope(
        UUID(int=99), 50, day(9), CardsWithdrawn(event_ids=(UUID(int=8),), positions=(1,), reason="again")
    )
    assert told(fold([*IN_ORDER, gone])) == told(fold(IN_ORDER[:-1]))


def test_a_problem_is_over_and_back_by_what_was_said_and_not_by_what_arrived() -> None:
    [late] = fold([event(3, 1), event(1, 2)]).by_id.values()
    assert (late.status, late.until) == ("closed", day(3))
    problem: Problem = fold([event(3, 1), event(1, 2), event(4, 3)]).by_id[UUID(int=2)]
    assert (problem.status, problem.since, problem.opened_at) == ("active", day(1), day(102))
