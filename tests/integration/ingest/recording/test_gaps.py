"""Turns that somebody deletes from the queue before they are recorded are counted, and nothing else is."""

import pytest
from redis import Redis

from events.platform.settings import Settings
from ingest.recording.forgotten_entries import forget
from ingest.recording.turn_queue import TurnQueue
from tests.support.ingest.recorder import recording, settled
from tests.support.overviews import overview
from tests.support.waiting import eventually


@pytest.fixture
def queue(queue: TurnQueue) -> TurnQueue:
    """The queue, whose turns are counted from now on."""
    queue.trim()
    return queue


def push(redis: Redis, count: int, user: str = "u") -> None:
    for number in range(count):
        redis.xadd("turns", {"user_id": user, "text": str(number)})


def lost(queue: TurnQueue) -> int:
    queue.trim()
    return queue.counts().get("lost", 0)


def test_an_operator_sees_the_turns_that_were_trimmed_away(
    settings: Settings, redis: Redis, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("ERROR")
    push(redis, 60)
    redis.xadd("turns", {"user_id": "u", "text": "kept"}, maxlen=0, approximate=False)
    push(redis, 3)
    with recording(settings):
        eventually(lambda: overview(settings).lost == 61)
        eventually(lambda: overview(settings).recorded == 3)
    seen = overview(settings)
    assert seen.lost == 61
    assert "61 turns left turns before" in str(seen.stages[0].error)
    assert "61 turns left turns before" in caplog.text


def test_deletions_among_delivered_and_waiting_turns_are_counted_once(queue: TurnQueue, redis: Redis) -> None:
    push(redis, 10)
    held = queue.read("r", 4, 1)
    waiting = [str(entry_id) for entry_id, _ in redis.xrange("turns", f"({held[-1].id}") or ()]
    redis.xdel("turns", waiting[1], waiting[3])
    assert lost(queue) == 2
    redis.xdel("turns", held[0].id)
    assert lost(queue) == 2, "the recorder has it in memory and can record it"
    queue.settle(held[:2], [(held[2], "role", "is wrong")], {held[1].id})
    assert lost(queue) == 2
    assert len(queue.read("r", 10, 1)) == 4
    assert lost(queue) == 2


def test_a_roll_over_an_erasure_and_a_new_stream_are_no_loss(
    settings: Settings, queue: TurnQueue, redis: Redis
) -> None:
    push(redis, 5)
    queue.settle(queue.read("r", 2, 1), [], frozenset())
    held = queue.read("r", 1, 1)
    push(redis, 2, "gone")
    forget(Redis.from_url(settings.redis_url), settings, lambda fields: fields["user_id"])
    assert lost(queue) == 0
    queue.settle(held, [], frozenset())
    push(redis, 3)
    redis.xadd("turns", {"user_id": "u", "text": "far"}, id="9999999999999-0")
    assert queue.roll_over()
    assert lost(queue) == 0
    redis.delete("turns")
    queue.open()
    push(redis, 2)
    assert lost(queue) == 0
    redis.xtrim("turns", maxlen=0, approximate=False)
    assert lost(queue) == 2


def test_counts_of_an_earlier_version_are_taken_as_complete(queue: TurnQueue, redis: Redis) -> None:
    push(redis, 5)
    redis.hdel("turns:counts", "_offset")
    redis.hset("turns:counts", "recorded", 1)
    redis.xtrim("turns", maxlen=4, approximate=False)
    assert lost(queue) == 0
    redis.xtrim("turns", maxlen=3, approximate=False)
    assert lost(queue) == 1
    assert settled(queue) is False
