"""The pure parts around a model: session batches, the partition window, the circuit breaker and the backoff."""

import random
from typing import Any

import pytest

from events.types.envelope import Event
from events.types.extraction import Usage
from ingest.extraction.circuit_breaker import CircuitBreaker, backoff
from ingest.extraction.claude.model_client import retry_after
from ingest.extraction.claude.schema import SCHEMA, answer_of
from ingest.extraction.workers.bounded_executor import BoundedExecutor
from ingest.extraction.workers.partition_window import PartitionWindow
from ingest.extraction.workers.session_batcher import SessionBatcher
from tests.support.ingest.session_batches import LIMITS, see, turn, window
from tests.support.tables import examples, examples_and


def gathered(*turns: Event) -> list[list[int]]:
    gathering = SessionBatcher(LIMITS)
    closed = [burst for one in turns for burst in gathering.add(one, 0.0)]
    return [[one.position for one in burst] for burst in [*closed, gathering.close()] if burst]


def test_turns_are_read_together_until_there_are_enough() -> None:
    assert gathered(*(turn(position) for position in range(1, 8))) == [[1, 2, 3], [4, 5, 6], [7]]


def test_a_pause_in_either_direction_ends_a_burst() -> None:
    assert gathered(turn(1), turn(2, at_s=60), turn(3, at_s=121), turn(4, at_s=0)) == [[1, 2], [3], [4]]


def test_a_long_turn_is_read_alone_and_closes_what_came_before() -> None:
    long = turn(2, text="x" * 200)
    assert gathered(turn(1), long, turn(3)) == [[1], [2], [3]]
    assert gathered(turn(1, text="x" * 60), turn(2, text="x" * 60)) == [[1], [2]]


def test_turns_wait_for_more_from_the_first_of_them_on() -> None:
    gathering = SessionBatcher(LIMITS)
    assert not gathering.due(100.0)
    list(gathering.add(turn(1), 10.0))
    list(gathering.add(turn(2), 11.9))
    assert not gathering.due(11.9)
    assert gathering.due(12.0)


def ready(one: PartitionWindow) -> list[list[int]]:
    return [[each.position for each in reading.turns] for reading in one.finished()]


def test_the_mark_stays_below_the_first_turn_that_is_not_done() -> None:
    one = window()
    first, second = see(one, turn(1, session="a"), turn(2, session="b"))
    second.outcome = []
    assert ready(one) == [[2]]
    assert one.mark(without=[second], seen=2) == 0
    one.written([second], mark=0, seen=9)
    assert not one.drained
    first.outcome = []
    assert one.mark(without=[first], seen=9) == 9
    one.written([first], mark=9, seen=9)
    assert one.drained


def test_a_session_leaves_in_order() -> None:
    one = window()
    readings = see(one, *(turn(position, at_s=position * 100) for position in (1, 2, 3)))
    assert len(readings) == 3
    readings[1].outcome = readings[2].outcome = []
    assert ready(one) == []
    readings[0].outcome = []
    assert ready(one) == [[1], [2], [3]]


def test_turns_that_are_done_are_skipped() -> None:
    one = window(done=frozenset({2}))
    [reading] = see(one, turn(1), turn(2), turn(3))
    assert [each.position for each in reading.turns] == [1, 3]


def test_halves_take_the_place_of_a_reading_and_keep_what_it_cost() -> None:
    one = window()
    whole, last = see(one, *(turn(position) for position in (1, 2, 3)), turn(4, at_s=100))
    whole.spent = Usage(calls=2)
    halves = one.split(whole)
    for reading in (*halves, last):
        reading.outcome = []
    assert ready(one) == [[1], [2, 3], [4]]
    assert [half.spent.calls for half in halves] == [2, 0]


def test_in_any_order_of_completion_every_turn_leaves_once_and_the_checkpoint_never_passes_an_open_turn() -> (
    None
):
    chance = random.Random(7)
    for _ in range(50):
        one = window()
        turns = [
            turn(position, user=chance.choice("ab"), session=chance.choice("xy"), at_s=chance.randrange(300))
            for position in range(1, 40)
        ]
        open_readings = see(one, *turns)
        left: list[int] = []
        while open_readings or list(one.finished()):
            if open_readings:
                reading = open_readings.pop(chance.randrange(len(open_readings)))
                if len(reading.turns) > 1 and chance.random() < 0.3:
                    open_readings += one.split(reading)
                    continue
                reading.outcome = []
            leaving = list(one.finished())
            mark = one.mark(without=leaving, seen=one.seen)
            one.written(leaving, mark=mark, seen=one.seen)
            left += [each.position for gone in leaving for each in gone.turns]
            assert set(range(1, mark + 1)) <= set(left)
        assert sorted(left) == list(range(1, 40))
        for session in {(each.user_id, each.stream) for each in turns}:
            mine = [each.position for each in turns if (each.user_id, each.stream) == session]
            assert [position for position in left if position in mine] == mine
        assert one.drained


def test_the_breaker_opens_after_failures_in_a_row_and_lets_one_find_out() -> None:
    breaker = CircuitBreaker(3)
    for _ in range(2):
        breaker.record_failure(0.0, "no")
    breaker.record_success()
    for _ in range(2):
        breaker.record_failure(0.0, "no")
    assert breaker.allows_call(0.0)
    breaker.record_failure(0.0, "no")
    assert (breaker.state(0.0), breaker.allows_call(0.0), breaker.reason) == ("open", False, "no")
    assert breaker.allows_call(0.5)
    assert not breaker.allows_call(0.5)
    breaker.record_failure(0.5, "still no")
    assert not breaker.allows_call(1.4)
    assert breaker.allows_call(1.5)
    breaker.record_success()
    assert all(breaker.allows_call(1.5) for _ in range(5))
    assert (breaker.reason, breaker.is_disturbed) == (None, False)


def test_a_probe_that_found_nothing_out_leaves_the_next_one_to_it() -> None:
    breaker = CircuitBreaker(1)
    breaker.record_failure(0.0, "no")
    assert breaker.allows_call(1.0)
    breaker.record_no_verdict()
    assert breaker.allows_call(1.0)


def test_one_whose_calls_fail_while_others_succeed_does_not_open_the_breaker() -> None:
    breaker = CircuitBreaker(3)
    breaker.record_success(0.0, "ana")
    for _ in range(20):
        breaker.record_failure(1.0, "no", who="mallory")
    assert breaker.state(1.0) == "closed"
    breaker.record_failure(1.0, "no", who="bea")
    breaker.record_failure(1.0, "no", who="cleo")
    assert breaker.state(1.0) == "open"


def test_one_whose_calls_fail_opens_it_where_nobody_elses_succeeded_lately() -> None:
    for well in (None, "mallory"):
        breaker = CircuitBreaker(3)
        if well:
            breaker.record_success(0.0, well)
        for _ in range(3):
            breaker.record_failure(1.0, "no", who="mallory")
        assert breaker.state(1.0) == "open"
    breaker = CircuitBreaker(3)
    breaker.record_success(0.0, "ana")
    for _ in range(3):
        breaker.record_failure(100.0, "no", who="mallory")
    assert breaker.state(100.0) == "open"


def test_a_probe_that_hangs_does_not_keep_others_from_finding_out() -> None:
    breaker = CircuitBreaker(1)
    breaker.record_failure(0.0, "no")
    assert breaker.allows_call(1.0)
    assert not breaker.allows_call(5.9)
    assert breaker.allows_call(6.0)


def test_a_newcomer_does_not_wait_for_the_end_of_a_long_pause_nor_do_many_go_at_once() -> None:
    breaker = CircuitBreaker(1)
    now = 0.0
    for _ in range(10):
        breaker.record_failure(now, "no", who="mallory")
        while not breaker.allows_call(now):
            now += 0.5
    breaker.record_failure(now, "no", who="mallory")
    assert not breaker.allows_call(now + 20.0)
    assert breaker.allows_call(now + 0.1, newcomer=True)
    assert not breaker.allows_call(now + 2.0, newcomer=True)
    assert breaker.allows_call(now + 2.1, newcomer=True)
    breaker.record_success(now + 2.2, "ana")
    assert breaker.allows_call(now + 2.2)


def test_a_newcomer_leaves_alone_who_asks_for_it() -> None:
    breaker = CircuitBreaker(1)
    breaker.record_failure(0.0, "busy", retry_after=60.0)
    assert not breaker.allows_call(59.0, newcomer=True)
    assert breaker.allows_call(60.0, newcomer=True)


def test_the_breaker_leaves_alone_who_asks_for_it() -> None:
    breaker = CircuitBreaker(5)
    breaker.record_failure(0.0, "busy", retry_after=7.0)
    breaker.record_failure(0.1, "busy", retry_after=1.0)
    assert not breaker.allows_call(6.9)
    assert breaker.allows_call(7.0)


def test_pauses_grow_and_stay_bounded() -> None:
    breaker = CircuitBreaker(1)
    now = pause = 0.0
    for _ in range(20):
        breaker.record_failure(now, "no")
        began = now
        while not breaker.allows_call(now):
            now += 0.25
        assert now - began >= pause
        pause = now - began
    assert pause <= 30.0
    assert all(backoff(tries) <= 37.5 for tries in range(1, 50))


@examples
def test_how_long_a_server_asks_to_be_left_alone(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, now=10.0) == seconds


def test_calls_run_at_once_and_come_back_with_what_they_raised() -> None:
    calls: BoundedExecutor[str, int] = BoundedExecutor(2)
    assert calls.completed(0.0) == []
    calls.submit("one", lambda: 1)
    calls.submit("bad", lambda: 1 // 0)
    assert calls.available == 0
    found = {}
    while calls.under_way:
        found.update({done.key: (done.result, type(done.error).__name__) for done in calls.completed(5.0)})
    assert found == {"one": (1, "NoneType"), "bad": (None, "ZeroDivisionError")}
    calls.close()


GOOD: dict[str, Any] = {
    "turn": 1, "quote": "q", "content": "c", "entity": "user", "concept_key": "pet", "value": "Rex",
    "cardinality": "multi_value", "statement": "asserted",
}  # fmt: skip


def test_an_answer_in_the_right_shape_has_no_faults() -> None:
    answer = answer_of({"states": [GOOD], "events": [], "knowledge": []})
    assert (len(answer.states), answer.faults, answer.usable) == (1, (), True)
    kinder = answer_of({"states": [{**GOOD, "replaces": None, "mood": "sunny"}]})
    assert (len(kinder.states), kinder.faults) == (1, ())


@examples
def test_a_fault_names_the_field_and_what_is_allowed(change: dict[str, Any], fault: str) -> None:
    answer = answer_of({"states": [{**GOOD, **change}, GOOD]})
    assert fault in answer.faults[0]
    assert (len(answer.states), answer.faulty, answer.usable) == (1, 1, True)


PLANNED: dict[str, Any] = {
    "turn": 1,
    "quote": "q",
    "content": "c",
    "entity": "user",
    "importance": 4,
    "status": "planned",
}


@examples_and(
    ({"replaces": "x" * 251}, "events[0].replaces is 251 characters long; write at most 250"),
    ({"participants": ["Ana"] * 16}, "events[0].participants has 16 items; write at most 15"),
)
def test_a_fault_of_an_event_costs_that_event_alone(change: dict[str, Any], fault: str) -> None:
    answer = answer_of({"events": [{**PLANNED, **change}, PLANNED], "states": [GOOD]})
    assert fault in answer.faults[0]
    assert (len(answer.events), len(answer.states), answer.faulty) == (1, 1, 1)


@pytest.mark.parametrize(
    "change", [{"time_role": "middle"}, {"same_as": "F" * 11}, {"expands": 1}, {"value_hint": "x" * 201}]
)
def test_a_fault_of_a_state_costs_that_state_alone(change: dict[str, Any]) -> None:
    answer = answer_of({"states": [{**GOOD, **change}, GOOD], "events": [PLANNED]})
    assert (len(answer.states), len(answer.events), answer.faulty) == (1, 1, 1)


def test_an_event_without_a_status_happened() -> None:
    [found] = answer_of({"events": [{**PLANNED, "status": None}]}).events
    assert found.status == "happened"


@pytest.mark.parametrize("given", [None, [], "x", 5, {}, {"cards": []}, {"states": {}}, {"states": None}])
def test_an_answer_without_any_list_says_nothing(given: object) -> None:
    answer = answer_of(given)
    assert not answer.usable
    assert answer.faults


def test_the_schema_asks_for_nothing_it_does_not_describe() -> None:
    for rule in SCHEMA["properties"].values():
        assert set(rule["items"]["required"]) <= set(rule["items"]["properties"])


def test_what_calls_cost_adds_up_and_the_unknown_stays_unknown() -> None:
    one = Usage(
        input_tokens=1, output_tokens=2, cache_read_tokens=3, cache_write_tokens=4, calls=1, cost_usd=0.25
    )
    both = one + one
    assert (both.tokens, both.calls, both.cost_usd) == (20, 2, 0.5)
    assert (one + Usage(cost_usd=None)).cost_usd is None
