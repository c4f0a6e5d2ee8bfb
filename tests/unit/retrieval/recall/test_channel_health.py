"""A slow channel is quarantined, and returns as soon as it is quick again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from retrieval.recall.channel_health import PROBE_EVERY_S, SAMPLES, ChannelHealth


class Clock:
    """A clock that moves only when the test moves it."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


def fed(clock: Clock, *latencies: float) -> ChannelHealth:
    return record(ChannelHealth(clock=clock), *latencies)


def record(health: ChannelHealth, *latencies: float) -> ChannelHealth:
    for ms in latencies:
        health.record(ms)
    return health


def is_quarantined(health: ChannelHealth) -> bool:
    """Reads the property again. A type checker assumes that two reads in a row are equal."""
    return health.quarantined


@pytest.mark.parametrize(
    ("latencies", "quarantined"),
    [
        ([10.0] * 9 + [151.0], False),
        ([10.0] * 8 + [151.0] * 2, True),
        ([150.0] * SAMPLES, False),  # exactly at the limit
        ([500.0] * 5 + [10.0] * SAMPLES, False),  # only the last ten count
    ],
)
def test_one_slow_answer_in_ten_is_forgiven_and_two_are_not(
    latencies: list[float], quarantined: bool
) -> None:
    assert fed(Clock(), *latencies).quarantined is quarantined


def test_there_is_no_verdict_on_fewer_than_ten() -> None:
    clock = Clock()
    health = fed(clock, *[500.0] * (SAMPLES - 1))
    assert health.p95 is None
    assert health.admit() == "ask"
    health.record(500.0)
    assert health.admit() == "rest"


def test_a_channel_that_is_slow_beside_slow_ones_is_not_quarantined() -> None:
    channels: list[ChannelHealth] = []
    channels += [ChannelHealth(clock=Clock(), beside=channels) for _ in range(2)]
    slow, other = channels
    record(other, *[100.0] * SAMPLES)
    record(slow, *[500.0] * SAMPLES)
    assert not slow.quarantined
    record(other, *[90.0] * SAMPLES)
    slow.record(500.0)
    assert is_quarantined(slow)
    record(other, *[100.0] * SAMPLES)
    assert slow.admit() == "ask"
    assert not slow.quarantined


def test_one_quick_channel_does_not_make_a_busy_machine_idle() -> None:
    channels: list[ChannelHealth] = []
    channels += [ChannelHealth(clock=Clock(), beside=channels) for _ in range(5)]
    for channel, ms in zip(channels, (190.0, 60.0, 50.0, 40.0, 5.0), strict=True):
        record(channel, *[ms] * SAMPLES)
    assert not channels[0].quarantined
    for channel in channels[2:4]:
        record(channel, *[10.0] * SAMPLES)
    channels[0].record(190.0)
    assert is_quarantined(channels[0]), (
        "the machine is not busy, so two slow channels have reasons of their own"
    )


def test_it_is_tried_in_the_background_one_at_a_time_with_pauses() -> None:
    clock = Clock()
    health = fed(clock, *[500.0] * SAMPLES)
    assert health.admit() == "rest"
    clock.now += PROBE_EVERY_S
    assert health.admit() == "probe"
    clock.now += 10 * PROBE_EVERY_S
    assert health.admit() == "rest"  # the first trial still runs
    health.probed()
    assert health.admit() == "probe"
    health.probed()
    assert health.admit() == "rest"


def test_new_samples_under_the_limit_bring_it_back_at_once() -> None:
    clock = Clock()
    health = fed(clock, *[500.0] * SAMPLES)
    for _ in range(SAMPLES - 2):
        health.record(5.0)
        assert health.admit() != "ask"
    health.record(5.0)  # one of the ten is still slow: P95 is 277 ms
    assert is_quarantined(health)
    health.record(5.0)
    assert not is_quarantined(health)
    assert health.admit() == "ask"


def test_after_ten_minutes_it_starts_with_a_clean_window() -> None:
    clock = Clock()
    health = fed(clock, *[500.0] * SAMPLES)
    clock.now += 599.9
    assert is_quarantined(health)
    health.record(500.0)  # to be slow while it rests does not start the ten minutes again
    clock.now += 0.2
    assert not is_quarantined(health)
    assert health.admit() == "ask"
    health.record(500.0)
    assert not is_quarantined(health)


@given(st.lists(st.floats(0, 1000), min_size=SAMPLES, max_size=SAMPLES))
def test_p95_lies_between_the_two_slowest(latencies: list[float]) -> None:
    health = fed(Clock(), *latencies)
    ordered = sorted(latencies)
    assert health.p95 is not None
    assert ordered[-2] <= health.p95 <= ordered[-1] + 1e-9


@given(st.lists(st.tuples(st.floats(0, 400), st.floats(0, 700)), max_size=60))
def test_whatever_happens_it_is_asked_exactly_when_it_is_not_quarantined(
    steps: list[tuple[float, float]],
) -> None:
    clock = Clock()
    health = ChannelHealth(clock=clock)
    for ms, pause in steps:
        health.record(ms)
        clock.now += pause
        quarantined = is_quarantined(health)
        admission = health.admit()
        assert (admission == "ask") is not quarantined
        if admission == "probe":
            health.probed()
