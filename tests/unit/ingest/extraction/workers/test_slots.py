"""The calls of a model are shared. A user with a long backlog or failing calls leaves calls to the others."""

from collections import Counter

from ingest.extraction.workers.bounded_executor import Slots
from ingest.extraction.workers.partition_window import ExtractionTask
from tests.support.ingest.session_batches import LIMITS, see, turn, window


def readings(user: str, count: int, *, first: int = 1) -> list[ExtractionTask]:
    found = [ExtractionTask((turn(first + number, user=user),)) for number in range(count)]
    assert len(found) == count
    return found


def begun(
    slots: Slots, waiting: list[ExtractionTask], under_way: list[ExtractionTask], free: int
) -> list[ExtractionTask]:
    asked: list[ExtractionTask] = []
    for reading in slots.in_order(waiting, under_way):
        if slots.admit(reading.user_id, free - len(asked)):
            asked.append(reading)
            slots.take(reading.user_id)
    return asked


def users(readings: list[ExtractionTask]) -> Counter[str]:
    return Counter(reading.user_id for reading in readings)


def test_one_user_with_very_much_to_read_has_a_quarter_of_the_calls() -> None:
    waiting = readings("mallory", 500)
    assert users(begun(Slots(32), waiting, [], 32)) == {"mallory": 8}
    assert users(begun(Slots(32), waiting[8:], waiting[:8], 24)) == {}


def test_everybodys_first_goes_before_anybodys_second() -> None:
    waiting = [*readings("mallory", 500), *readings("ana", 2), *readings("bea", 1)]
    asked = begun(Slots(8), waiting, [], 6)
    assert [reading.user_id for reading in asked] == ["mallory", "ana", "bea", "mallory"]


def test_a_second_call_waits_while_no_more_than_a_quarter_is_left_for_those_with_none() -> None:
    waiting = [reading for user in ("mallory", "mel", "mona", "milo") for reading in readings(user, 20)]
    slots = Slots(16)
    hanging = begun(slots, waiting, [], 16)
    assert users(hanging) == {"mallory": 3, "mel": 3, "mona": 3, "milo": 3}
    asked = begun(slots, [*waiting, *readings("ana", 2)], hanging, 4)
    assert users(asked) == {"ana": 1}


def test_users_in_trouble_leave_half_of_the_calls_to_the_others() -> None:
    slots = Slots(8)
    bad = [reading for number in range(20) for reading in readings(f"bad{number}", 3)]
    for number in range(20):
        slots.failed(f"bad{number}")
    assert sum(users(begun(slots, bad, [], 8)).values()) == 4
    asked = begun(slots, [*bad, *readings("ana", 1)], [], 8)
    assert asked[0].user_id == "ana"
    slots.succeeded("bad0")
    assert users(begun(slots, bad, [], 8))["bad0"] == 2


def test_with_a_single_call_at_a_time_everybody_still_has_a_turn() -> None:
    slots = Slots(1)
    slots.failed("mallory")
    assert users(begun(slots, readings("mallory", 3), [], 1)) == {"mallory": 1}


def test_a_long_backlog_is_set_aside_and_others_of_the_partition_are_read_on() -> None:
    one = window()
    taken = [reading for number in range(1, 301) for reading in one.see(turn(number, user="m"), 0.0, 6)]
    one.seen = 300
    assert (one.turns, one.aside) == (6, 294)
    assert one.resumable(6) == []
    others = one.see(turn(301, user="ana", text="x" * 200), 0.0, 6)
    one.seen = 301
    assert [reading.user_id for reading in others] == ["ana"]
    others[0].outcome = []
    assert one.mark(without=others, seen=301) == 0
    one.written(others, mark=0, seen=301)
    order: list[int] = []
    while taken:
        for reading in taken:
            order += [each.position for each in reading.turns]
            reading.outcome = []
        one.written(taken, mark=one.mark(without=taken, seen=one.seen), seen=one.seen)
        positions = one.resumable(6)
        assert positions == sorted(positions)
        taken = [reading for position in positions for reading in one.resume(turn(position, user="m"), 0.0)]
        assert one.turns <= 6
    assert order == list(range(1, 301))
    assert (one.drained, one.checkpoint) == (True, 301)
    assert LIMITS.session_batch_turns == 3


def test_what_comes_after_turns_set_aside_waits_behind_them() -> None:
    one = window()
    for number in range(1, 5):
        one.see(turn(number, user="m"), 0.0, 2)
    assert one.see(turn(5, user="m"), 0.0, 100) == []
    assert one.aside == 3
    assert see(one, turn(6, user="ana"))[0].user_id in {"m", "ana"}
