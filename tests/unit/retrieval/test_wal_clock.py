"""The reported age of a replica is never too low."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.read_servers import WalClock

# The primary's last write and the time of the probe. Both only grow.
steps = st.lists(st.tuples(st.floats(0.01, 5), st.integers(0, 1000)), min_size=1, max_size=40)


@given(steps, st.integers(0, 20_000), st.floats(0, 100))
def test_whatever_is_younger_than_the_age_may_be_missing_and_nothing_older(
    steps: list[tuple[float, int]], replayed: int, later: float
) -> None:
    clock, at, end, known = WalClock(keep_s=1e9), 0.0, 0, []
    for pause, written in steps:
        at, end = at + pause, end + written
        clock.note(at, end)
        known.append((at, end))
    now = at + later
    age = clock.age(replayed, now)
    # Every probe that ended beyond the replayed position saw a commit that the replica may lack.
    lacking = [looked for looked, end in known if end > replayed]
    if len(lacking) == len(known):
        assert age is None
    else:
        assert age is not None
        assert all(looked > now - age - 1e-9 for looked in lacking)
        assert any(looked == pytest.approx(now - age) and end <= replayed for looked, end in known)


def test_a_paused_replica_ages_while_the_primary_writes_and_not_while_it_is_idle() -> None:
    clock = WalClock(keep_s=60)
    clock.note(0.0, 100)
    assert clock.age(100, 10.0) == 10.0  # no probe for ten seconds: the primary may have written
    clock.note(10.0, 100)
    assert clock.age(100, 10.0) == 0.0
    clock.note(11.0, 200)
    assert clock.age(199, 12.0) == 2.0
    assert clock.age(200, 12.0) == 1.0
    assert clock.age(99, 12.0) is None


def test_what_is_long_past_is_forgotten_and_then_unknown() -> None:
    clock = WalClock(keep_s=5)
    clock.note(0.0, 100)
    clock.note(10.0, 200)
    assert clock.age(150, 10.0) is None
