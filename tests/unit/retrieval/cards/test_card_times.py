"""The times that cards and the words of their turns tell."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from projectors.cards.card import Card
from retrieval.cards.card_times import plan_of, time_expressions, times_of, when_of
from tests.support.cards import card
from tests.support.tables import examples, examples_and

SAID = datetime(2026, 4, 1, 16, tzinfo=UTC)  # midnight in Taipei
DAY = timedelta(days=1)


def event(**more: Any) -> Card:
    usual: dict[str, Any] = {
        "kind": "event", "said_at": SAID, "occurred_at": SAID, "time_zone": "Asia/Taipei", "event_status": "happened",
    }  # fmt: skip
    return card(**usual | more)


def state(**more: Any) -> Card:
    return card(**{"said_at": SAID, "effective_at": SAID, "time_zone": "Asia/Taipei"} | more)


def test_a_birthday_said_at_midnight_is_on_the_day_that_the_clock_showed() -> None:
    birthday = event(occurred_until=SAID + DAY, time_grain="day", time_resolved=True)
    assert times_of(birthday) == {"on": "2026-04-02"}
    assert when_of(birthday) == "2026-04-02"


def test_a_card_whose_words_name_no_time_tells_when_it_was_said() -> None:
    assert times_of(event(time_resolved=None)) == {"said": "2026-04-02"}
    assert times_of(state(time_resolved=None)) == {"said": "2026-04-02"}
    assert times_of(state(retracted=True, superseded_at=SAID)) == {"said": "2026-04-02"}
    assert times_of(card(kind="knowledge", said_at=SAID, effective_at=SAID)) == {"said": "2026-04-01"}


def test_a_named_time_that_was_not_resolved_is_marked() -> None:
    child = event(time_resolved=False)
    assert times_of(child) == {"said": "2026-04-02", "time": "unresolved"}
    assert when_of(child) == "said 2026-04-02, time unresolved"


def test_a_plan_until_a_day_names_its_last_day_and_passes_with_it() -> None:
    by_friday = event(time_resolved=False, occurred_until=SAID + 3 * DAY, event_status="planned")
    assert when_of(by_friday) == "said 2026-04-02 until 2026-04-04"
    assert [plan_of(by_friday, SAID + days * DAY) for days in (2, 3)] == ["open", "time passed"]
    assert plan_of(event(time_resolved=False, event_status="planned"), SAID + 99 * DAY) == "open"


def test_a_rough_time_of_an_event_tells_when_it_was_said() -> None:
    rough = event(
        occurred_at=SAID - 730 * DAY, occurred_until=SAID - 729 * DAY, time_grain="year", time_resolved=True
    )
    assert times_of(rough) == {"about": "2024", "said": "2026-04-02"}


def test_an_ambiguous_time_has_both_readings() -> None:
    friday = datetime(2026, 3, 26, 16, tzinfo=UTC)
    ran = event(
        occurred_at=friday, occurred_until=friday + DAY, time_grain="day", time_resolved=True,
        alternative_at=friday - 7 * DAY,
    )  # fmt: skip
    assert times_of(ran) == {"on": "2026-03-27", "or": "2026-03-20"}
    assert when_of(ran) == "2026-03-27 or 2026-03-20"


def test_a_state_holds_since_a_time_at_its_grain() -> None:
    year = datetime(2019, 12, 31, 16, tzinfo=UTC)
    assert when_of(state(effective_at=year, time_grain="year", time_resolved=True)) == "since 2020"
    moved = state(
        effective_at=year,
        time_grain="year",
        time_resolved=True,
        superseded_at=datetime(2026, 3, 31, 17, tzinfo=UTC),
    )
    assert when_of(moved) == "since 2020 until 2026-04-01"
    rough = state(effective_at=SAID - timedelta(days=730), time_grain="year", time_resolved=True)
    assert when_of(rough) == "since about 2024"


def test_a_state_that_names_only_its_end_was_said_then() -> None:
    until = state(time_resolved=True, time_grain="month", superseded_at=SAID + 90 * DAY)
    assert when_of(until) == "said 2026-04-02 until 2026-07-01"


def test_a_card_of_an_end_holds_since_the_end() -> None:
    left = datetime(2026, 2, 28, 16, tzinfo=UTC)
    gone = state(effective_at=left, superseded_at=left, time_resolved=True, time_grain="month", ended=True)
    assert when_of(gone) == "since 2026-03"


def test_a_value_that_is_a_time_is_told() -> None:
    at = datetime(2026, 5, 14, 16, tzinfo=UTC)
    assert times_of(state(value_at=at, value_until=at + DAY, value_grain="day"))["value"] == "2026-05-15"
    assert when_of(state(value_at=at, value_grain="day")) == "said 2026-04-02 value 2026-05-15"


def test_a_stretch_ends_with_its_last_day() -> None:
    start = datetime(2026, 4, 1, 16, tzinfo=UTC)
    trip = event(occurred_at=start, occurred_until=start + 3 * DAY, time_grain="day", time_resolved=True)
    assert times_of(trip) == {"from": "2026-04-02", "to": "2026-04-04"}
    assert when_of(trip) == "2026-04-02/2026-04-04"
    open_end = event(occurred_at=start - 31 * DAY, time_grain="month", time_resolved=True)
    assert when_of(open_end) == "from 2026-03"


@examples_and(
    ("planned", SAID + DAY - timedelta(seconds=1), "open"),
    ("planned", SAID + DAY, "time passed"),
    ("wished", SAID + DAY, "wish"),
)
def test_a_plan_is_open_until_its_time_has_passed(status: str, now: datetime, plan: str | None) -> None:
    trip = event(event_status=status, occurred_until=SAID + DAY, time_grain="day", time_resolved=True)
    assert plan_of(trip, now) == plan
    assert plan_of(replace(trip, superseded_at=SAID + DAY), now) == ("off" if plan == "time passed" else plan)


def test_a_plan_without_a_time_stays_open_and_an_ambiguous_one_waits_for_the_later_reading() -> None:
    assert plan_of(event(event_status="planned"), SAID + 900 * DAY) == "open"
    either = event(
        event_status="planned", occurred_until=SAID + DAY, time_resolved=True, alternative_at=SAID + 7 * DAY
    )
    assert plan_of(either, SAID + 3 * DAY) == "open"
    assert plan_of(either, SAID + 8 * DAY) == "time passed"


instants = st.datetimes(timezones=st.just(UTC))


@given(
    st.sampled_from(["state", "event", "knowledge"]), instants, st.none() | instants, st.none() | instants,
    st.none() | st.booleans(), st.sampled_from(["day", "month", "year", "week", None, "?"]), st.text(max_size=9),
)  # fmt: skip
def test_any_row_is_told(
    kind: str, at: datetime, until: datetime | None, other: datetime | None, resolved: bool | None,
    grain: str | None, zone: str,
) -> None:  # fmt: skip
    told = card(
        kind=kind, occurred_at=at, occurred_until=until, effective_at=at, superseded_at=until, time_zone=zone,
        time_resolved=resolved, time_grain=grain, alternative_at=other, value_at=other, value_until=until,
        event_status="planned",
    )  # fmt: skip
    assert when_of(told)
    plan_of(told, SAID)


ON_WEDNESDAY = datetime(2026, 5, 12, 16, 30, tzinfo=UTC)  # a Wednesday, half past midnight in Taipei


def told(content: str, **more: object) -> list[str]:
    usual = {"kind": "event", "episode": True, "said_at": ON_WEDNESDAY, "time_zone": "Asia/Taipei"}
    return [f"{each.words}: {each.time}" for each in time_expressions(card(content=content, **usual | more))]


@examples
def test_the_words_of_a_turn_tell_their_times(content: str, times: list[str]) -> None:
    assert told(content) == times


def test_the_time_of_the_card_is_not_told_twice() -> None:
    friday = datetime(2026, 5, 7, 16, tzinfo=UTC)
    own = {"occurred_at": friday, "occurred_until": friday + timedelta(days=1), "time_grain": "day"}
    assert told("slept in last Friday, ran yesterday", **own, time_resolved=True) == ["yesterday: 2026-05-12"]


def test_only_turns_tell_times_and_at_most_eight() -> None:
    assert told("tomorrow", episode=False) == []
    assert len(told(" and ".join(f"{n} weeks ago" for n in range(2, 30)))) == 8


@given(st.text(max_size=80), st.datetimes(timezones=st.just(UTC)), st.text(max_size=8))
def test_no_words_and_no_clock_make_it_raise(content: str, said_at: datetime, zone: str) -> None:
    for words in (content, f"{content} in 8000 years, last Friday, by Sunday"):
        assert told(words, said_at=said_at, time_zone=zone) == told(words, said_at=said_at, time_zone=zone)
