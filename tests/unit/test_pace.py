"""Rounds that do not follow one another too closely."""

from __future__ import annotations

import time

from events.pace import Pace


def test_the_next_round_begins_that_long_after_the_one_before() -> None:
    pace = Pace(0.05, lambda: False)
    began = time.monotonic()
    pace.begin()
    pace.rest()
    assert time.monotonic() - began >= 0.05


def test_a_round_that_took_as_long_or_never_was_is_not_waited_for() -> None:
    pace = Pace(3600.0, lambda: False)
    pace.rest()
    pace = Pace(0.0, lambda: False)
    pace.begin()
    pace.rest()


def test_whoever_is_told_to_stop_waits_for_nothing() -> None:
    pace = Pace(3600.0, lambda: True)
    pace.begin()
    pace.rest()
