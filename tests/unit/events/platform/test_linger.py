"""Linger keeps a minimum time between two rounds."""

import time

from events.platform.linger import Linger


def test_the_next_round_begins_that_long_after_the_one_before() -> None:
    pace = Linger(0.05, lambda: False)
    began = time.monotonic()
    pace.begin_round()
    pace.wait()
    assert time.monotonic() - began >= 0.05


def test_a_round_that_took_as_long_or_never_was_is_not_waited_for() -> None:
    pace = Linger(3600.0, lambda: False)
    pace.wait()
    pace = Linger(0.0, lambda: False)
    pace.begin_round()
    pace.wait()


def test_a_stopping_worker_does_not_wait() -> None:
    pace = Linger(3600.0, lambda: True)
    pace.begin_round()
    pace.wait()
