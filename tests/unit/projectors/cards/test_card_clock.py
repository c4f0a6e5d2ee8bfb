"""A card knows the clock of its turn, and if the turn names a time."""

from dataclasses import replace

import pytest

from tests.support.projectors.statements import event, noted
from tests.support.projectors.tables import tables_of


@pytest.mark.parametrize("zone", ["Asia/Taipei", "-03:30", None])
def test_a_card_has_the_clock_of_its_turn(zone: str | None) -> None:
    payload = noted("We adopted a cat", 1).payload
    payload = replace(payload, origin=replace(payload.origin, time_zone=zone))
    [row] = tables_of([event(payload, 1)]).cards.values()
    assert row.time_zone == zone


@pytest.mark.parametrize(
    ("resolved", "hint", "told"),
    [(True, "yesterday", True), (False, "when I was ten", False), (False, None, None), (False, "", None)],
)
def test_a_named_time_is_told_from_no_time(resolved: bool, hint: str | None, told: bool | None) -> None:
    happened = noted("We adopted a cat", 1).payload
    [row] = tables_of(
        [event(replace(happened, time_resolved=resolved, occurred_at_hint=hint), 1)]
    ).cards.values()
    assert row.time_resolved is told
