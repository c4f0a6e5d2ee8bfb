"""Names of Redis streams are stable and few. Each stream shares its slot with the keys beside it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redis import Redis
from redis.crc import key_slot

from deploy.environment import load_settings
from events.platform.settings import Settings, SettingsError
from events.platform.streams import (
    connect_redis,
    in_cluster,
    keys_of,
    mark_of,
    pushed_streams,
    read_streams,
    stream_of,
    streams_named,
)


def test_one_stream_is_the_contracts_own_and_several_are_numbered() -> None:
    assert pushed_streams(Settings()) == read_streams(Settings()) == ("turns",)
    several = Settings(turn_streams=3)
    assert pushed_streams(several) == ("turns:{0}", "turns:{1}", "turns:{2}")
    assert read_streams(several) == ("turns:{0}", "turns:{1}", "turns:{2}", "turns")


@given(st.text(min_size=1), st.integers(1, 64))
def test_a_user_has_one_stream_in_a_layout_and_it_is_read(user: str, count: int) -> None:
    settings = Settings(turn_streams=count)
    stream = stream_of(settings, user)
    assert stream == stream_of(settings, user)
    assert stream in pushed_streams(settings)
    assert set(read_streams(settings)) <= set(streams_named("turns"))


def test_users_are_spread_over_all_streams() -> None:
    settings = Settings(turn_streams=8)
    found = [stream_of(settings, f"user {number}") for number in range(2000)]
    assert {found.count(stream) > 150 for stream in pushed_streams(settings)} == {True}


def test_eight_streams_spread_over_the_slots_of_a_cluster() -> None:
    thirds = {key_slot(stream.encode()) * 3 // 16384 for stream in pushed_streams(Settings(turn_streams=8))}
    assert thirds == {0, 1, 2}


def test_keys_beside_a_stream_share_its_slot_and_have_the_contracts_names_on_one_server() -> None:
    with Redis() as single:
        beside = keys_of(single, "turns")
        assert (beside.dead, beside.counts, beside.dropped) == ("turns:dead", "turns:counts", "turns:dropped")
        for stream in pushed_streams(Settings(turn_streams=64)):
            keys = keys_of(single, stream)
            slots = {key_slot(key.encode()) for key in (stream, keys.dead, keys.counts, keys.dropped)}
            assert len(slots) == 1


def test_entries_of_two_streams_are_distinguished() -> None:
    marks = [mark_of(stream) for stream in streams_named("turns")]
    assert marks[:3] == ["", "@0", "@1"]
    assert len(set(marks)) == len(marks)


@pytest.mark.parametrize("number", ["0", "65", "-1", "many"])
def test_a_number_of_streams_that_cannot_be_is_refused_by_name(number: str) -> None:
    with pytest.raises(SettingsError, match="CARDLOG_TURN_STREAMS"):
        load_settings({"CARDLOG_TURN_STREAMS": number})


@pytest.mark.parametrize(
    "url", ["redis+cluster://", "redis+cluster://host:port", "redis+cluster://a:1/3", "redis+cluster+x://a"]
)
def test_a_cluster_that_cannot_be_read_is_refused_by_name(url: str) -> None:
    if in_cluster(url):
        with pytest.raises(SettingsError, match="CARDLOG_REDIS_URL"):
            connect_redis(url)
    else:
        with pytest.raises(ValueError, match="scheme"):
            connect_redis(url)
