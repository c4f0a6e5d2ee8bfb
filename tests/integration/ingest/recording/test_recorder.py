"""The recorder appends every turn to the log once, records every refusal and drops nothing."""

from dataclasses import replace

from redis import Redis

from events.platform.database import Connection
from events.platform.settings import Settings
from ingest.recording.turn_queue import TurnQueue
from tests.support.ingest.recorder import allow_connections, queue_of, recording, settled, texts
from tests.support.streams import raw_entries
from tests.support.waiting import eventually

BAD = {
    "user_id": {"text": "hello"},
    "text": {"user_id": "u1", "text": ""},
    "role": {"user_id": "u1", "text": "x", "role": "robot"},
    "said_at": {"user_id": "u1", "text": "x", "said_at": "2026-05-08T10:00:00"},
    "timezone": {"user_id": "u1", "text": "x", "timezone": "Nowhere"},
    "mood": {"user_id": "u1", "text": "x", "mood": "good"},
}
BAD_BYTES = {"invalid UTF-8": b"\xff\xfe", "NUL": b"a\0b", "too long": b"x" * 65537}


def test_invalid_entries_go_to_the_dead_stream_with_field_and_reason_and_the_rest_is_recorded(
    settings: Settings, redis: Redis, connection: Connection, redis_url: str
) -> None:
    for fields in BAD.values():
        redis.xadd("turns", fields)  # type: ignore[arg-type]
    for text in BAD_BYTES.values():
        redis.xadd("turns", {"user_id": "u1", "text": text})
    redis.xadd("turns", {"user_id": "u1", "text": "good"})
    with recording(settings):
        eventually(lambda: settled(queue_of(settings)))
    assert texts(connection, "u1") == ["good"]
    letters = raw_entries(Redis.from_url(redis_url), "turns:dead")
    assert [letter[b"field"].decode() for letter in letters] == [*BAD, "text", "text", "text"]
    assert all(letter[b"reason"] for letter in letters)
    # The dead letter holds the words byte for byte, so that the turn can be pushed again.
    assert [letter[b"field:text"] for letter in letters[-3:]] == list(BAD_BYTES.values())


def test_a_turn_id_counts_once(settings: Settings, redis: Redis, connection: Connection) -> None:
    for text in ("first", "again"):
        redis.xadd("turns", {"user_id": "u1", "text": text, "turn_id": "t1"})
    with recording(settings):
        eventually(lambda: settled(queue_of(settings)))
        redis.xadd("turns", {"user_id": "u1", "text": "and again", "turn_id": "t1"})
        eventually(lambda: queue_of(settings).counts()["duplicates"] == 2)
    assert texts(connection, "u1") == ["first"]


def test_a_dead_recorders_turns_are_taken_over(
    settings: Settings, queue: TurnQueue, redis: Redis, connection: Connection
) -> None:
    redis.xadd("turns", {"user_id": "u1", "text": "held by the dead"})
    held = queue.read("dead", 10, 10)
    assert len(held) == 1
    with recording(settings, "alive"):
        eventually(lambda: settled(queue))
    assert texts(connection, "u1") == ["held by the dead"]
    queue.settle(held, [], set())  # the other recorder was only slow
    assert queue.counts()["recorded"] == 1


def test_a_restarted_recorder_finishes_what_it_held(
    settings: Settings, queue: TurnQueue, redis: Redis, connection: Connection
) -> None:
    redis.xadd("turns", {"user_id": "u1", "text": "held before the crash"})
    assert len(queue.read("r1", 10, 10)) == 1
    with recording(replace(settings, reclaim_after_ms=3_600_000)):
        eventually(lambda: settled(queue))
    assert texts(connection, "u1") == ["held before the crash"]


def test_only_what_every_group_acknowledged_is_trimmed(queue: TurnQueue, redis: Redis) -> None:
    for number in range(10):
        redis.xadd("turns", {"user_id": "u1", "text": str(number)})
    entries = queue.read("r1", 7, 10)
    queue.settle([*entries[:2], *entries[3:]], [], set())
    assert queue.trim()[0] == 2  # the third is pending: it and all after it stay
    queue.settle([entries[2]], [], set())
    assert queue.trim()[0] == 5
    assert redis.xlen("turns") == 3
    redis.xgroup_create("turns", "somebody else", id="0")
    queue.settle(queue.read("r1", 10, 10), [], set())
    assert queue.trim()[0] == 0


def test_idle_consumers_are_deleted_but_not_those_with_pending_entries(
    settings: Settings, queue: TurnQueue, redis: Redis
) -> None:
    for text in ("settled", "held"):
        redis.xadd("turns", {"user_id": "u1", "text": text})
    queue.settle(queue.read("done", 1, 10), [], set())
    assert len(queue.read("holding", 1, 10)) == 1
    assert queue.delete_idle_consumers(3_600_000) == 0
    assert queue.delete_idle_consumers(0) == 1
    left = redis.xinfo_consumers("turns", settings.consumer_group)
    assert [consumer["name"] for consumer in left] == ["holding"]
    assert [entry.fields[b"text"] for entry in queue.read_own("holding", 10)] == [b"held"]


def test_many_recorders_record_every_turn_once(
    settings: Settings, redis: Redis, connection: Connection
) -> None:
    pipe = redis.pipeline()
    for number in range(2000):
        pipe.xadd("turns", {"user_id": f"u{number % 7}", "text": str(number), "turn_id": str(number)})
    pipe.execute()
    with recording(settings, "a"), recording(settings, "b"), recording(settings, "c"):
        eventually(lambda: settled(queue_of(settings)))
    found = [text for user in range(7) for text in texts(connection, f"u{user}")]
    assert sorted(map(int, found)) == list(range(2000))


def test_while_postgres_is_away_the_recorder_waits_and_loses_nothing(
    settings: Settings, redis: Redis, connection: Connection, postgres_url: str
) -> None:
    name = connection.info.dbname
    with recording(settings):
        redis.xadd("turns", {"user_id": "u1", "text": "before"})
        eventually(lambda: texts(connection, "u1") == ["before"])
        allow_connections(connection, postgres_url, name, False)
        redis.xadd("turns", {"user_id": "u1", "text": "during"})
        eventually(lambda: queue_of(settings).depth().pending == 1)
        allow_connections(connection, postgres_url, name, True)
        eventually(lambda: texts(connection, "u1") == ["before", "during"])
        eventually(lambda: settled(queue_of(settings)))
