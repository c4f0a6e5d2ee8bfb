"""Ids of events rise in the order in which they are made, so equal scores have one order."""

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from events.types.envelope import uuid7


def test_ids_rise_and_are_version_7() -> None:
    before = time.time_ns() // 1_000_000
    ids = [uuid7() for _ in range(5_000)]
    assert ids == sorted(ids)
    assert len(set(ids)) == len(ids)
    assert {(each.version, each.variant) for each in ids} == {(7, "specified in RFC 4122")}
    # The first 48 bits are the time, also after many ids of one millisecond.
    assert before <= ids[0].int >> 80
    assert ids[-1].int >> 80 <= time.time_ns() // 1_000_000 + 1


def test_ids_rise_when_the_clock_goes_back(monkeypatch: pytest.MonkeyPatch) -> None:
    first = uuid7()
    monkeypatch.setattr(time, "time_ns", lambda: 0)
    ids = [first, *(uuid7() for _ in range(100))]
    assert ids == sorted(set(ids))


def test_threads_never_share_an_id() -> None:
    with ThreadPoolExecutor(8) as threads:
        made = [
            each for ids in threads.map(lambda _: [uuid7() for _ in range(500)], range(16)) for each in ids
        ]
    assert len(set(made)) == len(made)
