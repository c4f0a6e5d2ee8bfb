"""A cancellation, a correction or a moved plan finds the event that it speaks of, or none."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.language import timex
from events.types.cards import EventNoted
from events.types.envelope import NewEvent
from ingest.extraction.event_linking import linked, relinked, target_of
from ingest.extraction.known_cards import NOTHING
from tests.support.events.payloads import READING
from tests.support.ingest.known import candidates, event_with, known_of, planned, stated
from tests.support.tables import examples

TAIPEI = ZoneInfo("Asia/Taipei")
SAID = datetime(2026, 5, 8, 17, 0, tzinfo=TAIPEI)  # a Friday

ENGLISH = candidates(
    planned("Going to Bergen for the weekend", 1, on=16),
    planned("Dinner with Nora on Tuesday", 2, on=12),
    planned("Dinner with Tom", 3, on=20),
    planned("Dentist appointment", 4, on=25),
    planned("Trip to Cadiz with Petra", 5, on=29, entity="Leo", participants=("Leo", "Petra")),
    planned("The train leaves at 8:15", 6, on=11),
)
CHINESE = candidates(
    planned("下週去花蓮玩", 11, on=13),
    planned("星期二跟阿哲吃飯", 12, on=12),
    planned("五月二十五號看牙醫", 14, on=25),
    planned("和小芸去看電影", 17, on=15),
    planned("公司聚餐", 19, on=22),
    planned("參加表哥的婚禮", 20, on=30),
)


@examples
def test_words_find_the_event_they_name(words: str, entity: str, number: int) -> None:
    several = ENGLISH if number < 10 else CHINESE
    assert target_of(words, entity, several, said_at=SAID) == UUID(int=number)


@examples
def test_words_that_fit_none_or_several_find_nothing(words: str) -> None:
    assert target_of(words, "user", ENGLISH, said_at=SAID) is None


@pytest.mark.parametrize("words", ["演唱會", "那個", "計畫", "去台東", "這件事"])
def test_chinese_words_that_fit_none_find_nothing(words: str) -> None:
    assert target_of(words, "user", CHINESE, said_at=SAID) is None


def test_somebody_elses_plan_is_not_taken_for_ones_own() -> None:
    own = candidates(planned("Trip to Rome", 1, on=16))
    assert target_of("the trip to Rome", "user", own, said_at=SAID) == UUID(int=1)
    assert target_of("Ida's trip to Rome", "Ida", own, said_at=SAID) is None


def test_the_new_event_decides_between_plans_that_fit_alike() -> None:
    content = "Dinner with Tom moved to Friday"
    assert target_of("the dinner", "user", ENGLISH[:3], said_at=SAID) is None
    found = target_of("dinner on the 20th", "user", ENGLISH[:3], said_at=SAID, content=content)
    assert found == UUID(int=3)


def test_of_one_plan_that_comes_often_the_nearest_is_meant() -> None:
    weekly = candidates(
        *(planned("Choir practice", number, on=day) for number, day in ((1, 20), (2, 13), (3, 27)))
    )
    assert target_of("choir practice", "user", weekly, said_at=SAID) == UUID(int=2)


def test_words_that_name_nothing_mean_the_only_event_of_the_conversation() -> None:
    near = frozenset((UUID(int=2),))
    assert target_of("it", "user", ENGLISH, said_at=SAID, near=near) == UUID(int=2)
    assert target_of("it", "user", ENGLISH, said_at=SAID, near=near | {UUID(int=3)}) is None


def target(event: NewEvent) -> UUID | None:
    assert isinstance(event.payload, EventNoted)
    return event.payload.replaces_event


def off(content: str, replaces: str | None, **more: Any) -> NewEvent:
    return planned(content, status="cancelled", replaces=replaces, days=0, **more)


def test_a_cancellation_prefers_a_plan_to_what_happened() -> None:
    known = known_of(
        planned("Went to Bergen", 1, status="happened", on=1),
        planned("Trip to Bergen", 2, on=16),
    )
    [made] = linked([off("The Bergen trip is off", "the Bergen trip")], known)
    assert target(made) == UUID(int=2)


def test_an_event_of_the_same_batch_is_found_and_only_a_later_event_replaces_it() -> None:
    first = planned("Picnic with Nora", 1, on=10)
    late = planned("Picnic with Nora", 3, on=12)
    made = linked([first, off("The picnic is off", "the picnic"), late], NOTHING)
    assert [target(each) for each in made] == [None, UUID(int=1), None]
    assert (
        linked([off("The picnic is off", "the picnic"), late], NOTHING)[0].payload
        == off("The picnic is off", "the picnic").payload
    )


@pytest.mark.parametrize("status", ["planned", "corrected", "cancelled"])
def test_a_moved_plan_and_a_correction_name_what_they_replace(status: str) -> None:
    known = known_of(planned("Dinner with Nora on Tuesday", 1, on=12))
    new = planned("Dinner with Nora on Friday", 2, on=15, status=status, replaces="the dinner", days=0)
    assert target(linked([new], known)[0]) == UUID(int=1)


@examples
def test_a_plan_that_moves_to_another_hour_keeps_its_day(words: str, hint: str, start: str) -> None:
    at_two = datetime(2026, 5, 12, 14, tzinfo=TAIPEI)
    known = known_of(
        planned("Dinner with Nora", 1, occurred_at=at_two, time_resolved=True, time_grain="hour")
    )
    [told] = [*timex.find(words, SAID), None][:1]
    given = {"occurred_at": told.start, "time_resolved": True} if told and told.start else {}
    new = planned(
        words, 2, replaces="the dinner", days=0, zone="Asia/Taipei", occurred_at_hint=hint, **given,
    )  # fmt: skip
    [made] = linked([new], known)
    assert isinstance(made.payload, EventNoted)
    assert made.payload.time_resolved
    assert f"{made.payload.occurred_at.astimezone(TAIPEI):%dT%H:%M}" == start
    assert linked([made], known) == [made]


@pytest.mark.parametrize(
    ("grain", "hour", "kept"), [("hour", 19, "hour"), ("day", 0, "day"), (None, 0, "day")]
)
def test_a_plan_that_moves_to_another_day_keeps_its_hour(grain: str | None, hour: int, kept: str) -> None:
    at = datetime(2026, 5, 12, 19 if grain == "hour" else 0, tzinfo=UTC)
    known = known_of(planned("Dinner with Nora", 1, time_resolved=True, occurred_at=at, time_grain=grain))
    day = datetime(2026, 5, 15, tzinfo=UTC)
    new = planned(
        "The dinner moved", 2, replaces="the dinner", days=0, occurred_at_hint="on the 15th", time_resolved=True,
        occurred_at=day, occurred_until=day + timedelta(days=1), time_grain="day",
    )  # fmt: skip
    [made] = linked([new], known)
    assert isinstance(made.payload, EventNoted)
    assert (made.payload.occurred_at, made.payload.time_grain) == (day.replace(hour=hour), kept)
    assert linked([made], known) == [made]


def test_what_happened_closes_its_plan_and_no_other_event() -> None:
    known = known_of(planned("Starts PT", 1), planned("Walked with Ivo", 2, status="happened"))
    helped = planned("PT helped", 3, status="happened", replaces="PT")
    walked = planned("Walked again", 4, status="happened", replaces="walked with Ivo")
    assert [target(each) for each in linked([helped, walked], known)] == [UUID(int=1), None]
    assert known_of(planned("Starts PT", 1), linked([helped], known)[0]).plans == ()


def test_a_wish_is_no_plan_and_is_carried_out() -> None:
    known = known_of(planned("Wants to see Oslo", 1, status="wished", on=20))
    assert known.plans == ()
    went = planned("Saw Oslo", 2, status="happened", replaces="see Oslo")
    assert target(linked([went], known)[0]) == UUID(int=1)


def test_a_plan_may_be_corrected_and_stays_a_plan() -> None:
    wrong = planned("Dinner with Nora", 1, on=12)
    right = planned("Dinner with Tom", 2, on=12, corrects=True, replaces="dinner with Nora")
    made = linked([right], known_of(wrong))
    assert target(made[0]) == UUID(int=1)
    [plan] = known_of(wrong, *made).plans
    assert plan.content == "Dinner with Tom"


def test_a_plan_that_two_batches_of_a_session_tell_is_one_plan() -> None:
    first = planned("Sails to Elba with Petra", 1, on=20)
    known = known_of(first)
    again = planned("Sails to Elba with Petra", 2, on=20)
    others = [
        planned("Sails to Elba with Petra", 3, on=27),
        planned("Sails to Elba with Petra", 4, on=20, entity="Leo"),
        planned("Buys paint", 5, on=20),
        planned("Sails to Elba with Petra", 6),
    ]
    assert [target(each) for each in linked([again, *others], known)] == [UUID(int=1), None, None, None, None]
    assert [plan.event_id for plan in known_of(first, *linked([again], known)).plans] == [UUID(int=2)]


def test_a_given_target_stays() -> None:
    known = known_of(planned("Dinner with Nora", 1, on=12))
    given_target = off("Off", "the dinner", replaces_event=UUID(int=9))
    assert target(linked([given_target], known)[0]) == UUID(int=9)


def test_a_plan_that_was_replaced_already_is_no_target() -> None:
    known = known_of(planned("Dinner with Nora", 1, on=12))
    made = linked([off("Dinner is off", "the dinner"), off("Dinner is off", "the dinner")], known)
    assert target(made[0]) == UUID(int=1)
    moved = planned("Dinner with Nora", 2, on=15, replaces="the dinner", replaces_event=UUID(int=1), days=0)
    later = known_of(planned("Dinner with Nora", 1, on=12), moved)
    assert target(linked([off("Dinner is off", "the dinner")], later)[0]) == UUID(int=2)


def test_targets_that_were_withdrawn_are_found_anew() -> None:
    was = known_of(planned("Dinner with Nora", 1, on=12), stated("hobby", "sailing", 3))
    now = known_of(planned("Dinner with Nora", 2, on=12), stated("hobby", "Sailing", 4))
    made = replace(
        off("Dinner is off", "the dinner"),
        payload=off("Dinner is off", "the dinner", replaces_event=UUID(int=1)).payload,
    )
    assert target(relinked([made], was, now)[0]) == UUID(int=2)
    assert target(relinked([made], was, NOTHING)[0]) is None


@given(st.text(max_size=200), st.text(max_size=40))
def test_no_words_make_it_raise_and_the_answer_is_always_the_same(words: str, entity: str) -> None:
    several = [*ENGLISH, *CHINESE]
    first = target_of(words, entity, several, said_at=SAID, content=words)
    assert first == target_of(words, entity, several, said_at=SAID, content=words)
    assert first is None or first in {one.event_id for one in several}


def test_the_end_of_something_gets_its_one_owner_and_is_left_out_without_one() -> None:
    def died(value: str) -> NewEvent:
        return stated("pet", value, entity=value, statement="ended", cardinality="multi_value")

    olof, mine = (
        stated("pet", "Fennel", entity=owner, cardinality="multi_value") for owner in ("Olof", "user")
    )
    [ended] = linked([died("Fennel")], known_of(olof))
    assert ended.payload.entity == "Olof"
    [_, ended] = linked([mine, died("Fennel")], NOTHING)
    assert ended.payload.entity == "user"
    leader = event_with(replace(READING, turn_ids=(), turn_positions=(), cards=1))
    unknown = replace(died("Fennel"), causation_id=leader.event_id)
    for known in (NOTHING, known_of(olof, mine), known_of(stated("sibling", "Fennel"))):
        [left] = linked([leader, unknown], known)
        assert (left.payload.cards, left.payload.refused) == (0, 1)
