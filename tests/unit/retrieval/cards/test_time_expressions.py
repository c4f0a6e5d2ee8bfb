"""The times that the words of a turn mean."""

from datetime import UTC, datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from retrieval.cards.card_times import time_expressions
from tests.support.cards import card
from tests.support.tables import examples

SAID = datetime(2026, 5, 12, 16, 30, tzinfo=UTC)  # a Wednesday, half past midnight in Taipei


def told(content: str, **more: object) -> list[str]:
    usual = {"kind": "event", "episode": True, "said_at": SAID, "time_zone": "Asia/Taipei"}
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
