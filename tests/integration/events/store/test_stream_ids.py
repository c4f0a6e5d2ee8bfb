"""Queue ids that are no dates: turns are dated by arrival, and the stream continues after every last id."""

from datetime import UTC, datetime, timedelta

import pytest
from redis import Redis, ResponseError

from events.platform.database import Connection
from events.platform.settings import Settings
from events.sealing.entries import sealed_entry
from events.store import log
from events.types.envelope import partition_of
from events.types.turn_contract import entry_time
from ingest.recording.dead_letters import DeadLetters
from tests.support.ingest.recorder import queue_of, recording, settled, texts
from tests.support.waiting import eventually

YEAR_2286 = "9999999999999-0"
LARGEST = f"{2**64 - 1}-{2**64 - 1}"
LAST_BUT_ONE = f"{2**64 - 1}-{2**64 - 2}"


@pytest.fixture
def settings(database: str, redis: Redis, redis_url: str) -> Settings:
    return Settings(database_url=database, redis_url=redis_url, reclaim_after_ms=50)


def clock(redis: Redis) -> datetime:
    seconds, microseconds = redis.time()
    return datetime.fromtimestamp(seconds, UTC) + timedelta(microseconds=microseconds)


def near_now(redis: Redis, entry_id: str) -> bool:
    return abs(clock(redis) - entry_time(entry_id)) < timedelta(hours=1)


@pytest.mark.parametrize("far", [YEAR_2286, LAST_BUT_ONE, LARGEST])
def test_a_far_id_is_no_date_and_the_stream_rolls_over(
    far: str, settings: Settings, redis: Redis, connection: Connection
) -> None:
    before = clock(redis)
    redis.xadd("turns", {"user_id": "u", "text": "honest"})
    redis.xadd("turns", {"user_id": "u", "text": "far"}, id=far)
    if far == LARGEST:
        with pytest.raises(ResponseError):
            redis.xadd("turns", {"user_id": "u", "text": "stuck"})
    else:
        redis.xadd("turns", {"user_id": "u", "text": "counted on from it"})
    queue = queue_of(settings)
    last = queue.last_id()
    assert last is not None
    with recording(settings):
        eventually(lambda: near_now(redis, queue.last_id() or ""))
        eventually(lambda: settled(queue))
        assert queue.settled_up_to(last), "who waits for what was pushed before is not kept waiting"
        new = redis.xadd("turns", {"user_id": "u", "text": "after"})
        eventually(lambda: "after" in texts(connection, "u"))
        eventually(lambda: settled(queue))
    assert near_now(redis, str(new))
    expected = ["honest", "far", *([] if far == LARGEST else ["counted on from it"]), "after"]
    assert texts(connection, "u") == expected
    said = [event.payload.said_at for event in log.read(connection, partition_of("u"))]
    assert all(before - timedelta(seconds=1) <= each <= clock(redis) for each in said), said
    assert queue.settled_up_to(str(new))


def test_the_stream_does_not_roll_over_before_every_group_has_settled_it(
    settings: Settings, redis: Redis, connection: Connection
) -> None:
    redis.xgroup_create("turns", "somebody else", id="0", mkstream=True)
    redis.xadd("turns", {"user_id": "u", "text": "far"}, id=YEAR_2286)
    queue = queue_of(settings)
    queue.open()
    with recording(settings):
        eventually(lambda: texts(connection, "u") == ["far"])
        eventually(lambda: settled(queue))
        assert not queue.roll_over()
        assert redis.xlen("turns") == 1
        redis.xreadgroup("somebody else", "they", {"turns": ">"})
        assert not queue.roll_over(), "read is not settled"
        redis.xack("turns", "somebody else", YEAR_2286)
        eventually(lambda: near_now(redis, queue.last_id() or ""))
    groups = {group["name"]: group["last-delivered-id"] for group in redis.xinfo_groups("turns")}
    assert set(groups) == {"somebody else", settings.consumer_group}
    assert set(groups.values()) == {queue.last_id()}


def test_what_nobody_was_given_yet_moves_along_under_the_name_it_had(
    settings: Settings, redis: Redis, connection: Connection
) -> None:
    queue = queue_of(settings)
    queue.open()
    redis.xadd("turns", {"user_id": "u", "text": "far", "turn_id": "own"}, id=YEAR_2286)
    told = [str(redis.xadd("turns", {"user_id": "u", "text": f"more {n}"})) for n in range(20)]
    redis.xadd("turns", {"user_id": "u", "text": "odd", **{f"f{n}": "" for n in range(900)}})
    assert queue.roll_over()
    assert near_now(redis, queue.last_id() or "")
    assert redis.xlen("turns") == 22
    assert not queue.settled_up_to(told[-1])
    with recording(settings):
        eventually(lambda: settled(queue))
    assert texts(connection, "u") == ["far", *(f"more {n}" for n in range(20))]
    names = [event.payload.turn_id for event in log.read(connection, partition_of("u"))]
    assert names == ["own", *told]
    assert queue.dead_count() == 1
    assert queue.settled_up_to(told[-1])


def test_a_sealed_turn_that_died_on_its_move_can_be_retried(
    settings: Settings, redis: Redis, connection: Connection, sealed: None
) -> None:
    queue = queue_of(settings)
    queue.open()
    moved = sealed_entry({"user_id": "u", "text": "sealed"}) | {"turn_id": YEAR_2286}
    redis.xadd("turns", moved)  # type: ignore[arg-type]
    [entry] = queue.read("an earlier version", 1, 1)
    queue.settle([], [(entry, "sealed", "the sealed entry was changed")], set())
    letters = DeadLetters(Redis.from_url(settings.redis_url), "turns")
    [letter] = letters
    assert letters.push_again(letter, letter.fields_to_retry({}))
    with recording(settings):
        eventually(lambda: texts(connection, "u") == ["sealed"])
    assert [event.payload.turn_id for event in log.read(connection, partition_of("u"))] == [YEAR_2286]


def test_nothing_is_lost_or_doubled_while_far_ids_come_again_and_again(
    settings: Settings, redis: Redis, connection: Connection
) -> None:
    pushed: list[str] = []
    queue = queue_of(settings)
    with recording(settings), recording(settings, "r2"):
        for round_ in range(4):
            for number in range(50):
                pushed.append(f"{round_} {number}")
                redis.xadd("turns", {"user_id": "u", "text": pushed[-1]})
            pushed.append(f"{round_} far")
            redis.xadd("turns", {"user_id": "u", "text": pushed[-1]}, id=YEAR_2286)
            for number in range(50):
                pushed.append(f"{round_} more {number}")
                redis.xadd("turns", {"user_id": "u", "text": pushed[-1]})
            eventually(lambda: near_now(redis, queue.last_id() or ""))
        eventually(lambda: settled(queue))
    assert queue.counts()["rolled_over"] >= 4
    assert sorted(texts(connection, "u")) == sorted(pushed)


def test_a_dead_turn_with_a_far_id_is_pushed_again_with_the_time_it_died(
    settings: Settings, redis: Redis, connection: Connection, redis_url: str
) -> None:
    redis.xadd("turns", {"user_id": "u", "text": "x", "role": "robot"}, id=LARGEST)
    with recording(settings):
        eventually(lambda: redis.xlen("turns:dead") == 1)
        letters = DeadLetters(Redis.from_url(redis_url), "turns")
        [letter] = letters
        assert letter.entry_id == LARGEST
        eventually(lambda: near_now(redis, queue_of(settings).last_id() or ""))
        assert letters.push_again(letter, letter.fields_to_retry({"role": "user"})) is not None
        eventually(lambda: texts(connection, "u") == ["x"])
    [event] = log.read(connection, partition_of("u"))
    assert event.payload.turn_id == f"dead/{letter.id}", "the id it was pushed under may come again"
    assert abs(clock(redis) - event.payload.said_at) < timedelta(minutes=10)
