"""Values in two scripts contradict each other only when they cannot be one value."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.types.envelope import Event
from tests.support.projectors.statements import moved, said, timeline
from tests.support.projectors.tables import tables_of


def flagged(*events: Event) -> list[tuple[str, str]]:
    found = timeline(*events).conflicts
    return [(each.contest.old.state.value, each.contest.statement.state.value) for each in found]


@pytest.mark.parametrize("after", [1, 90])
def test_a_known_place_in_the_other_language_verifies(after: float) -> None:
    events = [said("Taipei", 0), said("臺北", after), said("台北市", after + 90)]
    [period] = timeline(*events).periods
    assert [each.state.value for each in period.statements] == ["Taipei", "臺北", "台北市"]
    assert flagged(*events) == []


def test_a_value_in_the_script_of_one_that_holds_is_judged_against_that_one() -> None:
    events = [said("Littleham", 0), said("山腳村", 1), said("海邊村", 90)]
    assert flagged(*events) == [("山腳村", "海邊村")]
    assert flagged(said("Littleham", 0), said("山腳村", 1), said("Bigham", 90)) == [("Littleham", "Bigham")]


PLACES = st.sampled_from(["Taipei", "台北", "高雄", "山腳村", "Littleham", "海邊村"])


@given(st.lists(st.tuples(PLACES, st.booleans()), min_size=1, max_size=4), st.data())
def test_the_order_of_arrival_does_not_count(told: list[tuple[str, bool]], data: st.DataObject) -> None:
    events = [(moved if announced else said)(value, 40 * on) for on, (value, announced) in enumerate(told)]
    at_once = tables_of(events).rows
    for _ in range(3):
        order = data.draw(st.permutations(events))
        assert tables_of(*([event] for event in order)).rows == at_once
