"""A timeline follows effective time and not the order of arrival."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from events.types.envelope import Event
from tests.support.projectors.statements import day, held, said, timeline


def test_a_new_value_supersedes_the_old_one_from_when_it_became_true() -> None:
    found = timeline(said("Taipei", 0), said("Kaohsiung", 10, since=8))
    assert held(found) == [("Taipei", day(0), day(8)), ("Kaohsiung", day(8), None)]
    [edge] = found.edges
    assert (edge.newer.value_key, edge.older.value_key, edge.predicate) == ("kaohsiung", "taipei", "update")
    assert "no longer Taipei" in edge.reason


def test_a_late_older_statement_lands_in_the_middle_and_supersedes_nothing_newer() -> None:
    found = timeline(said("Taipei", 0), said("Kaohsiung", 20), said("Tainan", 30, since=10))
    assert held(found) == [
        ("Taipei", day(0), day(10)),
        ("Tainan", day(10), day(20)),
        ("Kaohsiung", day(20), None),
    ]


def test_the_same_fact_again_verifies_and_keeps_one_card() -> None:
    found = timeline(said("Taipei", 0), said("taipei.", 5), said("Taipei", 9))
    [period] = found.periods
    assert len(period.agreeing) == 2
    assert period.effective_at == day(0)


def test_an_ended_fact_stops_being_true_and_nothing_takes_its_place() -> None:
    assert held(timeline(said("Taipei", 0), said("Taipei", 7, statement="ended"))) == [
        ("Taipei", day(0), day(7))
    ]
    # Ending what is no longer current changes nothing.
    assert held(timeline(said("Taipei", 0), said("Tainan", 3), said("Taipei", 7, statement="ended"))) == [
        ("Taipei", day(0), day(3)),
        ("Tainan", day(3), None),
    ]


def test_a_correction_of_the_same_session_was_never_true() -> None:
    found = timeline(
        said("Tainan", 0, session="old"), said("Taipei", 5), said("Kaohsiung", 5.01, statement="corrected")
    )
    assert held(found) == [("Tainan", day(0), day(5)), ("Kaohsiung", day(5), None)]
    [retracted] = [period for period in found.periods if period.retracted]
    assert retracted.first.event.payload.value == "Taipei"
    assert {edge.predicate for edge in found.edges} == {"update", "retracts"}


def test_a_correction_never_reaches_into_another_session() -> None:
    found = timeline(
        said("Taipei", 0, session="old"), said("Kaohsiung", 5, statement="corrected", session="new")
    )
    assert held(found) == [("Taipei", day(0), day(5)), ("Kaohsiung", day(5), None)]


def test_a_value_with_a_known_end_ends_then() -> None:
    assert held(timeline(said("Rome", 0, since=-90, effective_until=day(-30)))) == [
        ("Rome", day(-90), day(-30))
    ]


HISTORY = st.lists(
    st.tuples(
        st.sampled_from(["Taipei", "Tainan", "Kaohsiung"]),
        st.integers(0, 40),
        st.none() | st.integers(-20, 60),
        st.sampled_from(["asserted", "asserted", "asserted", "ended", "corrected"]),
        st.sampled_from(["a", "b"]),
    ),
    max_size=8,
)


def history_of(plan: list[tuple[str, int, int | None, str, str]]) -> list[Event]:
    # Each statement has its own turn, because the turn orders equal instants.
    return [
        said(value, on + index / 1000, since, statement=how, session=session)
        for index, (value, on, since, how, session) in enumerate(plan)
    ]


@given(HISTORY)
def test_at_most_one_value_is_true_at_any_instant(plan) -> None:  # type: ignore[no-untyped-def]
    found = held(timeline(*history_of(plan)))
    for (_, begun, ended), (_, next_begun, _) in pairwise(found):
        assert ended is not None
        assert begun <= ended <= next_begun
