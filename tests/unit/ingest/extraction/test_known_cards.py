"""What is known of a user is what the statements of the log leave in force, bounded, the latest last."""

from datetime import datetime, timedelta
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from events.types.envelope import NewEvent
from ingest.extraction.known_cards import KnownCards
from tests.support.ingest.known import NOW, known_of, planned, stated


def values(known: KnownCards) -> list[tuple[str, str]]:
    return [(fact.concept_key, fact.value) for fact in known.facts]


def test_a_new_value_replaces_the_old_one_and_the_same_value_keeps_its_card() -> None:
    known = known_of(
        stated("residence", "Bergen", 1, days=-9),
        stated("residence", "Cadiz", 2, days=-5),
        stated("residence", "cadiz", 3, days=-2),
        stated("pet", "Rex", 4, cardinality="multi_value"),
        stated("pet", "Mia", 5, cardinality="multi_value"),
    )
    assert values(known) == [("residence", "cadiz"), ("pet", "Rex"), ("pet", "Mia")]
    assert known.facts[0].event_id == UUID(int=2)
    assert known.facts[0].since == NOW - timedelta(days=5)


def test_what_ended_was_corrected_or_is_past_is_not_known() -> None:
    known = known_of(
        stated("employer", "Acme", days=-9),
        stated("employer", "Acme", statement="ended", days=-8),
        stated("pet", "Rex", days=-9, cardinality="multi_value"),
        stated("pet", "Max", days=-8, cardinality="multi_value", statement="corrected", replaces="Rex"),
        stated("hobby", "chess", days=-9, cardinality="multi_value"),
        stated("hobby", "golf", days=-9, cardinality="multi_value"),
        stated("hobby", "", days=-8, cardinality="multi_value", statement="ended"),
        stated("hometown", "Bergen", effective_until=NOW - timedelta(days=900)),
    )
    assert values(known) == [("pet", "Max")]


def test_a_value_of_an_earlier_time_does_not_replace_the_present_one() -> None:
    known = known_of(
        stated("residence", "Cadiz", days=-9),
        stated("residence", "Bergen", days=-1, effective_at=NOW - timedelta(days=3000)),
    )
    assert values(known) == [("residence", "Cadiz")]


def test_each_project_and_each_entity_is_known_by_itself() -> None:
    known = known_of(
        stated("residence", "Cadiz"),
        stated("residence", "Oslo", project="work"),
        stated("residence", "Rome", entity="Nora"),
    )
    assert [(fact.entity, fact.value) for fact in known.facts] == [("user", "Cadiz"), ("Nora", "Rome")]


def plans(known: KnownCards) -> list[str]:
    return [plan.content for plan in known.plans]


def test_a_plan_is_open_until_its_time_has_long_passed_or_another_event_replaces_it() -> None:
    told = [
        planned("Sail to Cadiz", 1, on=20),
        planned("See the dentist", 2, on=2),
        planned("Buy a boat", 3),
        planned("Paint the fence", 4, on=25),
        planned("The fence is off", 5, status="cancelled", replaces="the fence", replaces_event=UUID(int=4)),
        planned("Turn in", 6, episode=True),
    ]
    known = known_of(*told)
    assert plans(known) == ["Sail to Cadiz", "See the dentist", "Buy a boat"]
    assert [each.content for each in known.events] == ["The fence is off"]
    assert plans(known_of(*told, at=NOW + timedelta(days=20))) == ["Sail to Cadiz", "Buy a boat"]
    assert plans(known_of(*told, at=NOW + timedelta(days=200))) == []


def test_the_correction_of_a_plan_is_an_open_plan_and_a_plan_that_took_place_is_none() -> None:
    sail, paint = planned("Sail to Cadiz", 1, on=20), planned("Paint the fence", 2)
    later = planned("Sail on the 22nd", 3, on=22, status="corrected", replaces_event=UUID(int=1))
    undated = planned("Paint the shed", 4, status="corrected", replaces_event=UUID(int=2))
    again = planned("Paint the barn", 5, status="corrected", replaces_event=UUID(int=4))
    assert plans(known_of(sail, paint, later, undated)) == ["Sail on the 22nd", "Paint the shed"]
    assert plans(known_of(sail, paint, later, undated, again)) == ["Sail on the 22nd", "Paint the barn"]
    assert plans(known_of(sail, paint).with_events([later, undated], NOW)) == [
        "Sail on the 22nd",
        "Paint the shed",
    ]
    took_place = planned("Sailed to Cadiz", 6, on=7, status="happened", replaces_event=UUID(int=1))
    told_wrongly = planned("Saw a whale", 7, on=2, status="corrected")
    assert plans(known_of(sail, took_place, told_wrongly)) == []


def test_events_that_are_not_appended_yet_join_what_is_known() -> None:
    known = known_of(planned("Sail to Cadiz", 1, on=20))
    moved = planned("Sail to Porto", 2, on=21, replaces="Cadiz", replaces_event=UUID(int=1))
    assert plans(known.with_events([moved, stated("pet", "Rex")], NOW)) == ["Sail to Porto"]
    assert known.with_events([], NOW) is known


def test_everything_is_bounded() -> None:
    many = [stated("likes", f"thing {n}", cardinality="multi_value") for n in range(500)]
    many += [planned(f"Plan {n}", on=20) for n in range(100)]
    many += [planned(f"Past {n}", status="happened", on=1) for n in range(100)]
    known = known_of(*many, stated("motto", "x" * 5_000))
    assert (len(known.facts), len(known.plans), len(known.events)) == (200, 40, 60)
    assert known.plans[-1].content == "Plan 99"
    assert max(len(fact.value) for fact in known.facts) == 300


@st.composite
def histories(draw: st.DrawFn) -> list[NewEvent]:
    keys = st.sampled_from(("residence", "pet", "色彩"))
    statements = st.sampled_from(("asserted", "ended", "corrected", "updated"))
    return [
        stated(
            draw(keys),
            draw(st.sampled_from(("a", "b", "貓", ""))),
            number,
            statement=draw(statements),
            replaces=draw(st.sampled_from((None, "a", "b"))),
            cardinality=draw(st.sampled_from(("single_value", "multi_value"))),
            effective_at=NOW + timedelta(days=draw(st.integers(-400, 400))),
            effective_until=draw(st.sampled_from((None, NOW - timedelta(days=3), NOW + timedelta(days=3)))),
        )
        for number in range(1, draw(st.integers(1, 8)))
    ]


@given(histories(), st.datetimes(min_value=datetime(1970, 1, 1), max_value=datetime(2100, 1, 1)))
def test_the_same_history_gives_the_same_cards_and_no_value_twice(told: list[NewEvent], at: datetime) -> None:
    instant = at.replace(tzinfo=NOW.tzinfo)
    known = known_of(*told, at=instant)
    assert known == known_of(*told, at=instant)
    found = [(fact.identity, fact.cardinality) for fact in known.facts]
    assert len(set(found)) == len(found)
    assert not {fact.event_id for fact in known.facts} - {event.event_id for event in told}
