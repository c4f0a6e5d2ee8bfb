"""An entry of many megabytes becomes a dead letter, and no reader of the queue holds many of them at once."""

from dataclasses import replace

import pytest
from redis import Redis

from events.platform.database import Connection
from events.platform.settings import Settings
from ingest.recording.dead_letters import DeadLetters
from ingest.recording.forgotten_entries import forget
from ingest.recording.turn_queue import LARGEST_ENTRY, Entry, TurnQueue
from tests.support.ingest.recorder import queue_of, recording, settled, texts
from tests.support.waiting import eventually

MIB = 1024 * 1024
MANY = 12
FIELDS = {f"field {number}": "x" * (MIB - 1024) for number in range(4)}
LARGE = FIELDS | {"user_id": "u"}
BYTES = sum(len(name) + len(value) for name, value in LARGE.items())
PAGE = 16 * MIB + LARGEST_ENTRY


@pytest.fixture
def settings(database: str, redis: Redis, redis_url: str) -> Settings:
    return Settings(database_url=database, redis_url=redis_url, reclaim_after_ms=1)


def push_large(redis: Redis, count: int = MANY) -> None:
    for _ in range(count):
        redis.xadd("turns", LARGE)  # type: ignore[arg-type]


def held(page: list[Entry]) -> int:
    return sum(len(name) + len(value) for entry in page for name, value in entry.fields.items())


def test_it_becomes_a_dead_letter_with_its_size_and_the_turns_beside_it_are_recorded(
    settings: Settings, redis: Redis, connection: Connection
) -> None:
    for number in range(3):
        push_large(redis, 1)
        redis.xadd("turns", {"user_id": "u", "text": f"turn {number}"})
    with recording(settings):
        eventually(lambda: settled(queue_of(settings)))
    assert texts(connection, "u") == ["turn 0", "turn 1", "turn 2"]
    letters = list(DeadLetters(Redis.from_url(settings.redis_url), "turns"))
    assert [(letter.field, letter.reason.partition(";")[0]) for letter in letters] == [
        ("(turn)", f"is {BYTES} bytes long")
    ] * 3
    for letter in letters:
        assert letter.fields[b"user_id"] == b"u", "an erasure looks for it"
        assert letter.fields[b"field 0"].startswith(b"x" * 1_000_000)


def test_a_recorder_holds_a_page_and_no_more_whichever_way_it_reads(queue: TurnQueue, redis: Redis) -> None:
    push_large(redis)
    page = queue.read("r1", 500, 1)
    assert 1 < len(page) < MANY
    assert held(page) <= PAGE + BYTES, "only the entry that was waited for is whole"
    assert {entry.fields[b"user_id"] for entry in page} == {b"u"}, "it is the last field"
    assert {entry.size for entry in page} == {BYTES}
    again = queue.read_own("r1", 500)
    assert held(again) <= PAGE
    queue.read("r1", 500, 1)
    taken = queue.reclaim("r2", 0, 500)
    assert taken
    assert held(taken) <= PAGE
    queue.settle([], [(entry, "(turn)", "is large") for entry in page], frozenset())
    assert queue.dead_count() == len(page)


def test_it_does_not_wait_for_postgres(settings: Settings, redis: Redis) -> None:
    push_large(redis, 1)
    redis.xadd("turns", {"user_id": "u", "text": "waits"})
    queue = queue_of(settings)
    with recording(replace(settings, database_url="postgresql://127.0.0.1:1/nowhere")):
        eventually(lambda: queue.dead_count() == 1)
        assert queue.depth().pending == 1


def test_an_erasure_reaches_it_by_its_user(settings: Settings, redis: Redis) -> None:
    push_large(redis, 6)
    redis.xadd("turns", {"user_id": "v", "text": "stays"})
    redis.xadd("turns", LARGE, id=f"{2**64 - 1}-{2**64 - 1}")  # type: ignore[arg-type]
    done = forget(
        Redis.from_url(settings.redis_url), settings, lambda fields: "u" if fields["user_id"] == "u" else None
    )
    assert done.counts == {"u": {"queue": 7}}
    assert redis.xlen("turns") == 1


def test_a_stream_rolls_over_when_large_entries_are_read(queue: TurnQueue, redis: Redis) -> None:
    push_large(redis, 6)
    redis.xadd("turns", {"user_id": "u", "text": "far"}, id="9999999999999-0")
    assert not queue.roll_over(), "they are too large for one step"
    while page := queue.read("r", 500, 1):
        queue.settle([], [(entry, "(turn)", "is large") for entry in page], frozenset())
    assert queue.roll_over()
