"""The timeline of a fact, whatever was said when, and in whatever order it arrives."""

import random
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from events.types.cards import CardOrigin, StateAsserted, Statement
from events.types.envelope import Event
from projectors.cards.corrections import find_corrections
from projectors.cards.statement import in_order, statements_of
from tests.support.projectors.histories import cut, history, shuffled
from tests.support.projectors.statements import (
    current,
    day,
    event,
    held,
    moved,
    said,
    skill,
    timeline,
    verified,
)
from tests.support.projectors.tables import tables_of


def test_of_equal_instants_the_one_said_last_holds() -> None:
    noon = [said("Taipei", 5, turn="t9"), moved("Tainan", 5, turn="t10")]
    for order in (noon, noon[::-1]):
        assert current(timeline(*order)) == ["Tainan"]
    late = [moved("Tainan", 7, since=0), said("Taipei", 3, since=0)]
    assert held(timeline(*late)) == [("Taipei", day(0), day(0)), ("Tainan", day(0), None)]


def test_turn_ids_of_any_length_have_an_order() -> None:
    digits = "9" * 5000
    assert current(timeline(said("Taipei", 5, turn=digits), moved("Tainan", 5, turn=digits + "x"))) == [
        "Tainan"
    ]


def test_an_end_is_a_card_that_holds_at_no_instant() -> None:
    found = timeline(said("Acme", 0), said("Acme", 9, since=7, statement="ended"))
    [job, ending] = found.periods
    assert (job.superseded_at, ending.ended) == (day(7), True)
    assert (ending.effective_at, ending.superseded_at) == (day(7), day(7))
    [edge] = found.edges
    assert (edge.newer, edge.older, edge.predicate) == (ending.first, job.first, "state_change")


def test_the_end_of_what_nobody_mentioned_is_kept() -> None:
    [ending] = timeline(said("Acme", 3, statement="ended")).periods
    assert ending.ended
    # Said again, it is the same end.
    [ending] = timeline(said("Acme", 3, statement="ended"), said("Acme", 5, statement="ended")).periods
    assert len(ending.agreeing) == 1


def test_a_switch_that_names_both_is_one_change() -> None:
    for first, second in ((0, 1), (1, 0)):
        turn = [
            said("Firefox", 9, statement="ended", announced=True, turn="t"),
            moved("Chrome", 9, turn="t"),
        ]
        found = timeline(said("Firefox", 0), turn[first], turn[second])
        assert held(found) == [("Firefox", day(0), day(9)), ("Chrome", day(9), None)]
        assert [edge.predicate for edge in found.edges] == ["update"]
        assert not any(period.ended for period in found.periods)


def test_what_is_left_in_a_turn_was_left_first() -> None:
    # "I'm at Initech now, I quit my job": the job that was, not the one that is.
    now, quit_ = (
        moved("Initech", 9, turn="t", place=0),
        said("", 9, statement="ended", turn="t", place=20),
    )
    assert held(timeline(said("Acme", 0), now, quit_)) == [
        ("Acme", day(0), day(9)),
        ("Initech", day(9), None),
    ]


def test_of_what_a_turn_says_the_last_holds() -> None:
    turn = [said("Zagreb", 5, turn="t", place=0), said("Athens", 5, turn="t", place=9)]
    assert current(timeline(*turn)) == ["Athens"]


def test_a_stretch_of_time_takes_nothings_place() -> None:
    stay = said("Lisbon", 10, since=20, effective_until=day(50))
    assert held(timeline(said("Taipei", 0), stay)) == [
        ("Taipei", day(0), None),
        ("Lisbon", day(20), day(50)),
    ]
    # Somebody who moves leaves both.
    assert held(timeline(said("Taipei", 0), stay, moved("Rome", 30))) == [
        ("Taipei", day(0), day(30)),
        ("Lisbon", day(20), day(30)),
        ("Rome", day(30), None),
    ]
    # Of what is over before it is said, without a word on when it began, only the end is known.
    past = said("Oslo", 10, effective_until=day(-30))
    assert held(timeline(said("Taipei", 0), past))[0] == ("Oslo", day(-30), day(-30))


@pytest.mark.parametrize("how", ["asserted", "corrected"])
def test_the_first_and_the_last_possible_day_can_be_stated(how: Statement) -> None:
    first, last = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
    origin = CardOrigin(
        project_id="p", session_id="s", turn_ids=(), said_at=first, source_span=None, provenance="user_stated"
    )  # fmt: skip
    statements: list[tuple[str, datetime, Statement]] = [
        ("Ur", first, "asserted"), ("Uruk", first, how), ("Mars", last, "asserted"),
    ]  # fmt: skip
    told = [
        StateAsserted(
            content=value, entity="user", concept_key="residence", value=value, cardinality="single_value", tags=(),
            origin=origin, effective_at=instant, statement=said_as,
        )
        for value, instant, said_as in statements
    ]  # fmt: skip
    lasting = [
        value for value, begun, ended in held(timeline(*(event(one, 0) for one in told))) if begun != ended
    ]
    assert lasting == ["Uruk", "Mars"]


# --- corrections


def test_a_correction_takes_back_what_it_names() -> None:
    found = timeline(
        said("Taipei", 0),
        moved("Tainan", 0.01),
        said("Kaohsiung", 0.02, statement="corrected", replaces="Taipei"),
    )
    assert [period.latest.state.value for period in found.periods if period.retracted] == ["Taipei"]


@pytest.mark.parametrize("since", [3, 8])
def test_a_correction_may_take_back_only_when_a_value_began(since: float) -> None:
    events = [
        said("Taipei", 9, 1),
        moved("Tainan", 9.01, 5),
        said("Tainan", 9.02, since, statement="corrected", replaces="Tainan"),
    ]
    for order in (events, events[::-1]):
        found = timeline(*order)
        assert held(found) == [("Taipei", day(1), day(since)), ("Tainan", day(since), None)]
        assert [period.latest.state.value for period in found.periods if period.retracted] == ["Tainan"]


def test_nobody_takes_back_as_a_correction_what_they_said_days_ago() -> None:
    found = timeline(said("Taipei", 0), said("Kaohsiung", 3, statement="corrected"))
    assert held(found) == [("Taipei", day(0), day(3)), ("Kaohsiung", day(3), None)]


def test_a_correction_of_a_correction() -> None:
    found = timeline(
        said("Taipei", 0),
        said("Tainan", 0.01, statement="corrected"),
        said("Kaohsiung", 0.02, statement="corrected"),
    )
    assert held(found) == [("Kaohsiung", day(0), None)]
    assert [edge.predicate for edge in found.edges] == ["retracts", "retracts"]


def test_corrections_are_found_in_time_proportional_to_what_was_said() -> None:
    # Every statement corrects the one before. A fold that looked back at all of them would take quadratic time.
    events = [said(f"place {n}", n / 1e5, statement="corrected") for n in range(5000)]
    said_in_order = in_order([one for each in events for one in statements_of(each)])
    assert len(find_corrections(said_in_order)) == 4999


# --- several values


def values(*events: Event) -> dict[str | None, tuple[datetime | None, int]]:
    cards = tables_of(list(events)).cards.values()
    return {row.value: (row.superseded_at, row.mentions) for row in cards if not row.ended}


@pytest.mark.parametrize("how", ["updated", "corrected"])
def test_an_update_overwrites_in_place_and_leaves_what_it_said_before(how: str) -> None:
    first, other = skill("PostgreSQL 15", 0), skill("Redis", 0)
    update = skill("PostgreSQL 16", 9, statement=how, replaces="PostgreSQL 15", session="later")
    tables = tables_of([first, other], [update])
    cards = {key[2]: row for key, row in tables.cards.items()}
    assert cards.keys() == {first.event_id, other.event_id}
    row = cards[first.event_id]
    assert (row.value, row.content) == ("PostgreSQL 16", "lives in PostgreSQL 16")
    assert (row.effective_at, row.superseded_at, row.mentions) == (day(0), None, 2)
    [((_, card_id, event_id), before)] = tables.updates.items()
    assert (card_id, event_id) == (first.event_id, update.event_id)
    assert (before.old_value, before.new_value) == ("PostgreSQL 15", "PostgreSQL 16")
    assert (before.old_content, before.changed_at) == ("lives in PostgreSQL 15", day(9))
    # A later statement finds the card under its new value, for every order of arrival.
    again = skill("postgresql 16", 20)
    tables.take([again])
    assert tables.cards["u", "state", first.event_id].mentions == 3
    assert tables_of([again], [update], [other, first]).rows == tables.rows


def test_a_correction_among_several_values_overwrites_nothing_older() -> None:
    events = [
        skill("Rust", -90, session="old"),
        skill("Rust", 0),
        skill("Ruby", 0.01, statement="corrected", replaces="Rust"),
    ]
    tables = tables_of(events)
    assert tables.updates == {}
    found = {(row.value, row.retracted) for row in tables.cards.values()}
    assert found == {("Rust", False), ("Rust", True), ("Ruby", False)}


# --- verification


def test_a_confirmation_stays_with_the_fact_when_its_card_gets_an_earlier_beginning() -> None:
    later, earlier = said("Taipei", 10), said("Taipei", 0)
    tables = tables_of([later], [verified(later.event_id, 99)], [earlier])
    [(key, row)] = tables.cards.items()
    assert (key[2], row.last_verified) == (earlier.event_id, day(99))


def test_news_of_a_change_supersede_what_was_said_before_without_a_time() -> None:
    found = timeline(said("Ghent", 10), moved("Antwerp", 14, since=8))
    assert held(found) == [("Ghent", day(8), day(8)), ("Antwerp", day(8), None)]
    # What was known before stays until the change.
    found = timeline(said("Ghent", 0), said("Ghent", 10), moved("Antwerp", 14, since=8))
    assert held(found) == [("Ghent", day(0), day(8)), ("Antwerp", day(8), None)]
    # An end is news, too.
    assert current(timeline(said("Acme", 10), said("Acme", 14, since=8, statement="ended"))) == []
    assert current(timeline(skill("Go", 10), skill("Go", 14, since=8, statement="ended"))) == []


def test_what_a_later_statement_dates_before_is_no_news() -> None:
    # A change of long ago, a statement that announces nothing, and a fact with a time of its own stay in their order.
    for said_later in (moved("Antwerp", 50, since=8), said("Antwerp", 14, since=8)):
        assert current(timeline(said("Ghent", 10), said_later)) == ["Ghent"]
    assert current(timeline(said("Ghent", 12, since=10), moved("Antwerp", 14, since=8))) == ["Ghent"]
    assert current(timeline(moved("Ghent", 10), moved("Antwerp", 14, since=8))) == ["Ghent"]
    # What is said after the news counts.
    assert current(timeline(moved("Antwerp", 9, since=8), said("Ghent", 10))) == ["Ghent"]


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


@given(st.integers(0, 2**32), st.integers(1, 24))
def test_tables_do_not_depend_on_arrival_or_batches(seed: int, length: int) -> None:
    events = history(seed, length)
    choose = random.Random(seed + 1)
    at_once = tables_of(events).rows
    live = tables_of(*cut(shuffled(events, choose), choose)).rows
    for table, rows in at_once.items():
        assert live[table] == rows, table


@given(st.integers(0, 2**32), st.integers(1, 40))
# Told later: that the old was over before the contested began.
@example(2639392749, 29)
@example(3588856645, 24)
@example(1986443351, 36)
# Said within a stretch of time, and over with it.
@example(2149164743, 23)
@example(4036552616, 38)
def test_while_a_conflict_is_open_the_old_is_current_and_the_new_never_was(seed: int, length: int) -> None:
    tables = tables_of(history(seed, length))
    for row in tables.arbitrations.values():
        old, new = (tables.cards["u", "state", side] for side in (row.old_card, row.new_card))
        if row.status == "open":
            assert (old.contested, old.retracted, old.ended) == (False, False, False)
            assert old.effective_at is not None
            assert new.effective_at is not None
            assert old.effective_at <= new.effective_at
            assert old.superseded_at is None or old.superseded_at > new.effective_at
        if row.status in ("open", "keep_old"):
            assert new.contested
            assert new.superseded_at == new.effective_at
        if row.status in ("accept_new", "coexist"):
            assert not new.contested
