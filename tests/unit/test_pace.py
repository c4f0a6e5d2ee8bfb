"""Rounds that do not follow one another too closely."""

from __future__ import annotations

import time

from events.pace import Pace


def test_the_next_round_begins_that_long_after_the_one_before() -> None:
    pace = Pace(0.05)
    began = time.monotonic()
    pace.begin()
    pace.rest()
    assert time.monotonic() - began >= 0.05


def test_a_round_that_took_as_long_or_never_was_is_not_waited_for() -> None:
    pace = Pace(3600.0)
    pace.rest()
    pace = Pace(0.0)
    pace.begin()
    pace.rest()
