"""The memory at a transaction time is the fold of the events recorded until then."""

from dataclasses import replace

from events.types.envelope import Event
from projectors.cards.arbitration import Thresholds
from retrieval.cards.past import cards_of
from tests.support.projectors.statements import day, moved, ruled, said, skill, until, verified
from tests.support.projectors.tables import tables_of


def recorded(event: Event, on: float, position: int) -> Event:
    return replace(event, recorded_at=day(on), position=position)


def test_verdicts_confirmations_and_overwritten_values_count_from_when_they_were_recorded() -> None:
    rome, milan = recorded(said("Rome", 0), 0, 1), recorded(said("Milan", 60), 60, 2)
    verdict, confirmation = ruled(milan, "accept_new", 70), verified(milan.event_id, 80)
    events = [rome, milan, recorded(verdict, 70, 3), recorded(confirmation, 80, 4)]
    assert [row.status for row in cards_of(until(65, events)).arbitrations] == ["open"]
    assert [row.status for row in cards_of(until(75, events)).arbitrations] == ["accept_new"]
    rows = {row.value: row for row in cards_of(events).cards}
    assert (rows["Rome"].superseded_at, rows["Milan"].last_verified) == (day(60), day(80))
    first = recorded(skill("Go 1.25", 0), 0, 1)
    update = recorded(skill("Go 1.26", 9, statement="updated", replaces="Go 1.25", session="later"), 9, 2)
    assert [row.value for row in cards_of(until(8, [first, update])).cards] == ["Go 1.25"]
    assert cards_of(until(8, [first, update])).updates == []
    [row] = cards_of(until(9, [first, update])).updates
    assert (row.card_id, row.old_value) == (first.event_id, "Go 1.25")


def test_the_past_equals_the_tables_for_any_order_of_events() -> None:
    events = [said("Rome", 0), moved("Milan", 5), said("Milan", 9, statement="ended")]
    events = [replace(event, position=number) for number, event in enumerate(events, 1)]
    history, tables = cards_of(reversed(events)), tables_of(events)
    assert {row.card_id: row for row in history.cards} == {key[2]: row for key, row in tables.cards.items()}
    assert {row.predicate for row in history.relations} == {"update", "state_change"}


def test_the_settings_of_the_projection_apply() -> None:
    events = [said("Rome", 0), said("Milan", 60)]
    assert len(cards_of(events).arbitrations) == 1
    assert cards_of(events, thresholds=Thresholds(stale_days=90)).arbitrations == []
    both = cards_of(events, supersede=False).cards
    assert [row.superseded_at for row in both] == [None, None]
