"""Contradictions wait for a verdict. A value in two scripts is one value."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.types.envelope import Event
from projectors.cards.card import StoredCard
from tests.support.projectors.statements import current, day, moved, ruled, said, timeline
from tests.support.projectors.tables import Tables, tables_of


def statuses(*events: Event) -> list[tuple[str, str, str]]:
    found = timeline(*events)
    return [
        (each.contest.old.state.value, each.contest.statement.state.value, each.contest.status)
        for each in found.conflicts
    ]


FLIPS = [moved("Taipei", 0), moved("Tainan", 5), moved("Hualien", 10), moved("Kaohsiung", 15)]


def test_the_third_change_within_thirty_days_waits_and_the_old_stays_current() -> None:
    assert statuses(*FLIPS) == [("Hualien", "Kaohsiung", "open")]
    assert current(timeline(*FLIPS)) == ["Hualien"]
    # Two changes are normal.
    assert statuses(*FLIPS[:3]) == []
    assert current(timeline(*FLIPS[:3])) == ["Hualien"]


@pytest.mark.parametrize(("after", "waits"), [(29.5, False), (30, True), (90, True)])
def test_a_contradiction_in_passing_of_what_held_for_thirty_days_waits(after: float, waits: bool) -> None:
    events = [said("Rome", 0), said("Milan", after)]
    assert statuses(*events) == ([("Rome", "Milan", "open")] if waits else [])
    assert current(timeline(*events)) == (["Rome"] if waits else ["Milan"])


def test_what_is_announced_or_tells_since_when_is_no_contradiction() -> None:
    assert current(timeline(said("Rome", 0), moved("Milan", 90))) == ["Milan"]
    assert current(timeline(said("Rome", 0), said("Milan", 90, since=85))) == ["Milan"]
    assert current(timeline(said("Rome", 0), said("Milan", 90, statement="updated"))) == ["Milan"]
    # "Today" dates nothing that an undated claim would not say.
    assert current(timeline(said("Rome", 0), said("Milan", 90, since=89.9))) == ["Rome"]


def test_what_somebody_once_did_does_not_bear_out_that_they_do_it_now() -> None:
    once = said("Milan", 70, since=-400)
    assert statuses(*CONTEST, once) == [("Rome", "Milan", "open")]
    # A place where somebody has been all along also holds now.
    assert statuses(*CONTEST, said("Rome", 70, since=-400)) == [("Rome", "Milan", "withdrawn")]


def test_how_long_it_held_is_counted_from_what_late_words_make_of_it() -> None:
    # Back in Rome for ten days only, which shows after Milan was told.
    events = [said("Rome", 0), said("Rome", 60), said("Milan", 61, since=30), said("Paris", 70)]
    assert statuses(*events) == []
    assert current(timeline(*events)) == ["Paris"]
    assert statuses(events[0], events[1], events[3]) == [("Rome", "Paris", "open")]


CONTEST = [said("Rome", 0), said("Milan", 60)]


@pytest.mark.parametrize(
    ("verdict", "believed"),
    [("keep_old", ["Rome"]), ("accept_new", ["Milan"]), ("coexist", ["Rome", "Milan"])],
)
def test_a_verdict_settles_it(verdict: str, believed: list[str]) -> None:
    events = [*CONTEST, ruled(CONTEST[1], verdict, 61)]
    assert statuses(*events) == [("Rome", "Milan", verdict)]
    assert current(timeline(*events)) == believed
    [conflict] = timeline(*events).conflicts
    assert conflict.contest.settled_at == day(61)


def test_what_was_ruled_to_coexist_is_restated_and_ended_one_by_one() -> None:
    both = [*CONTEST, ruled(CONTEST[1], "coexist", 61)]
    assert statuses(*both, said("Rome", 100), said("Milan", 140)) == [("Rome", "Milan", "coexist")]
    assert current(timeline(*both, said("Rome", 100), said("Milan", 140))) == ["Rome", "Milan"]
    assert current(timeline(*both, said("Milan", 100, statement="ended"))) == ["Rome"]
    # Somebody who moves away leaves both.
    assert current(timeline(*both, moved("Paris", 100))) == ["Paris"]


@pytest.mark.parametrize(
    ("later", "believed"),
    [
        (said("Rome", 62), "Rome"),
        (said("Milan", 62), "Milan"),
        (moved("Milan", 62, since=50), "Milan"),
        (moved("Paris", 62), "Paris"),
        (said("Rome", 62, statement="ended"), "Milan"),
        (said("Milan", 62, statement="ended"), "Rome"),
    ],
)
def test_later_words_settle_it_without_a_verdict(later: Event, believed: str) -> None:
    assert statuses(*CONTEST, later) == [("Rome", "Milan", "withdrawn")]
    assert current(timeline(*CONTEST, later)) == [believed]


def test_saying_it_twice_in_one_turn_bears_nothing_out() -> None:
    events = [said("Rome", 0), said("Milan", 60, turn="t"), said("Milan", 60, turn="t")]
    assert statuses(*events) == [("Rome", "Milan", "open")]
    [contested] = [period for period in timeline(*events).periods if period.contested]
    assert len(contested.agreeing) == 1
    insisted = timeline(*events, said("Milan", 70))
    assert {period.latest.state.value: len(period.agreeing) for period in insisted.periods} == {
        "Rome": 0,
        "Milan": 2,
    }
    verdict = ruled(contested.first.event, "accept_new", 61)
    [period] = [
        period for period in timeline(*events, verdict).periods if period.latest.state.value == "Milan"
    ]
    assert (period.superseded_at, len(period.agreeing)) == (None, 1)


def test_a_switch_that_names_what_it_leaves_is_doubted_as_a_whole() -> None:
    flips = [
        *FLIPS[:3],
        said("Hualien", 15, statement="ended", announced=True, turn="t"),
        moved("Kaohsiung", 15, turn="t"),
    ]
    assert statuses(*flips) == [("Hualien", "Kaohsiung", "open")]
    assert current(timeline(*flips)) == ["Hualien"]


def test_a_correction_is_put_right_without_asking() -> None:
    events = [said("Taipei", 60), said("Kaohsiung", 60.001, statement="corrected")]
    assert statuses(*events) == []
    # But the right value may contradict what held long before, as the wrong one did.
    assert statuses(said("Rome", 0, session="old"), *events) == [("Rome", "Kaohsiung", "open")]


def rows(*batches: list[Event]) -> tuple[Tables, dict[str | None, StoredCard]]:
    tables = tables_of(*batches)
    return tables, {row.value: row for row in tables.cards.values()}


def test_rows_show_both_sides_and_a_verdict_moves_them() -> None:
    tables, cards = rows(CONTEST[:1], CONTEST[1:])
    [((user, arbitration_id), row)] = tables.arbitrations.items()
    assert (user, arbitration_id) == ("u", CONTEST[1].event_id)
    assert (row.old_value, row.new_value, row.status) == ("Rome", "Milan", "open")
    assert (row.old_card, row.new_card) == (CONTEST[0].event_id, CONTEST[1].event_id)
    assert (row.entity, row.concept_key, row.said_at) == ("user", "residence", day(60))
    evidence = json.loads(row.evidence)
    assert evidence["old"]["quote"] == "lives in Rome"
    assert evidence["new"]["turn_ids"] == ["turn on 60"]
    assert "60 days" in row.reason
    assert (cards["Milan"].contested, cards["Milan"].superseded_at) == (True, day(60))
    assert (cards["Rome"].contested, cards["Rome"].superseded_at) == (False, None)
    assert [key[3] for key in tables.relations] == ["contradicts"]

    tables.take([ruled(CONTEST[1], "accept_new", 61)])
    [row] = tables.arbitrations.values()
    assert (row.status, row.settled_at) == ("accept_new", day(61))
    cards = {row.value: row for row in tables.cards.values()}
    assert cards["Rome"].superseded_at == day(60)
    assert (cards["Milan"].contested, cards["Milan"].superseded_at) == (False, None)
    assert [key[3] for key in tables.relations] == ["update"]


def test_what_is_contested_is_asked_of_what_held_as_far_as_later_words_tell() -> None:
    events = [moved("Taipei", 0), moved("Tainan", 5), moved("Hualien", 10), moved("Kaohsiung", 25)]
    stretch = said("Keelung", 26, effective_until=day(28))
    assert statuses(*events, stretch) == [("Hualien", "Kaohsiung", "open")]
    # Told later, of a time before: the old was over when the contested began.
    late = moved("Taitung", 40, since=20)
    assert statuses(*events, stretch, late) == [("Taitung", "Kaohsiung", "open")]
    assert current(timeline(*events, stretch, late)) == ["Taitung"]


def test_what_is_contested_counts_once_later_words_tell_that_nothing_held_then() -> None:
    events = [said("Rome", 0), said("Milan", 60)]
    until = said("Rome", 70, since=0, effective_until=day(30))
    assert statuses(*events, until) == [("Rome", "Milan", "withdrawn")]
    assert current(timeline(*events, until)) == ["Milan"]


def test_what_is_said_within_a_stretch_of_time_is_over_with_it() -> None:
    stretch = said("Rome", 0, effective_until=day(50))
    events = [stretch, said("Rome", 10), said("Milan", 60)]
    assert statuses(*events) == []
    assert current(timeline(*events)) == ["Milan"]


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
