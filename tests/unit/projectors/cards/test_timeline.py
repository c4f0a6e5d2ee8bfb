"""A timeline follows effective time and not the order of arrival."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from events.types.envelope import Event
from tests.support.projectors.statements import day, held, said, timeline


def test_a_late_older_statement_lands_in_the_middle_and_supersedes_nothing_newer() -> None:
    found = timeline(said("Taipei", 0), said("Kaohsiung", 20), said("Tainan", 30, since=10))
    assert held(found) == [
        ("Taipei", day(0), day(10)),
        ("Tainan", day(10), day(20)),
        ("Kaohsiung", day(20), None),
    ]


def test_a_correction_of_the_same_session_was_never_true() -> None:
    found = timeline(
        said("Tainan", 0, session="old"), said("Taipei", 5), said("Kaohsiung", 5.01, statement="corrected")
    )
    assert held(found) == [("Tainan", day(0), day(5)), ("Kaohsiung", day(5), None)]
    [retracted] = [period for period in found.periods if period.retracted]
    assert retracted.first.event.payload.value == "Taipei"
    assert {edge.predicate for edge in found.edges} == {"update", "retracts"}


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
