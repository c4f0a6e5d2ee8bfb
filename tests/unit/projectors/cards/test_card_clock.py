"""A card knows the clock of its turn, and if the turn names a time."""

from dataclasses import replace
from datetime import datetime, timedelta, timezone

import pytest

from tests.support.projectors.statements import event, noted
from tests.support.projectors.tables import tables_of


@pytest.mark.parametrize(
    ("zone", "offset", "told"),
    [("Asia/Taipei", 8.0, "Asia/Taipei"), (None, 8.0, "+08:00"), (None, -3.5, "-03:30"), (None, 0.0, None)],
)
def test_an_event_without_a_zone_has_the_offset_of_its_turn(
    zone: str | None, offset: float, told: str | None
) -> None:
    happened = noted("We adopted a cat", 1)
    said_at = datetime(2026, 4, 2, tzinfo=timezone(timedelta(hours=offset)))
    payload = happened.payload
    payload = replace(payload, origin=replace(payload.origin, said_at=said_at, time_zone=zone))
    [row] = tables_of([event(payload, 1)]).cards.values()
    assert row.time_zone == told


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
