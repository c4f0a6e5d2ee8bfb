"""Linger keeps a minimum time between two rounds."""

from __future__ import annotations

import time

import pytest

from events.platform import linger
from events.platform.linger import UNHURRIED_S, Linger


def test_the_next_round_begins_that_long_after_the_one_before() -> None:
    pace = Linger(0.05, lambda: False)
    began = time.monotonic()
    pace.begin_round()
    pace.wait()
    assert time.monotonic() - began >= 0.05


def test_a_round_is_followed_by_a_rest_of_four_times_its_length() -> None:
    pace = Linger(0.0, lambda: False)
    pace.begin_round()
    began = time.monotonic()
    while time.monotonic() - began < 0.02:
        pass
    pace.wait()
    assert time.monotonic() - began >= 0.1


def test_a_long_round_is_not_followed_by_a_long_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(linger, "pause", lambda seconds, stopping: pauses.append(seconds))
    now = iter((0.0, 100.0, 3700.0))
    monkeypatch.setattr(time, "monotonic", lambda: next(now))
    pace = Linger(3600.0, lambda: False)
    pace.begin_round()
    pace.wait()
    assert pauses == [UNHURRIED_S]


def test_a_stopping_worker_does_not_wait() -> None:
    pace = Linger(3600.0, lambda: True)
    pace.begin_round()
    pace.wait()
