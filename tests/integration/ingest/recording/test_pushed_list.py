"""Turns on the list of the restricted pushers are recorded as turns of the stream are."""

import json
from collections.abc import Mapping

import pytest
from redis import Redis

from events.platform.database import Connection
from events.platform.settings import Settings
from events.store import log
from events.types.envelope import partition_of
from ingest.recording.dead_letters import DeadLetters
from ingest.recording.forgotten_entries import forget
from ingest.recording.intake import Intake
from tests.support.ingest.recorder import queue_of, recording, settled, texts
from tests.support.waiting import eventually

LIST = "turns:pushed"


def push(redis: Redis, *turns: Mapping[str, object]) -> None:
    redis.rpush(LIST, *(json.dumps(turn) for turn in turns))


def test_turns_on_the_list_are_recorded_in_their_order(
    settings: Settings, redis: Redis, connection: Connection
) -> None:
    push(redis, *({"user_id": "u", "text": str(number)} for number in range(1_200)))
    push(redis, {"user_id": "v", "text": "hello", "turn_id": "t", "metadata": {"ticket": 17}})
    push(redis, {"user_id": "v", "text": "again", "turn_id": "t"})
    assert queue_of(settings).depth().waiting == 1_202
    with recording(settings):
        eventually(lambda: settled(queue_of(settings)))
    assert texts(connection, "u") == [str(number) for number in range(1_200)]
    [event] = (event for event in log.read(connection, partition_of("v")) if event.user_id == "v")
    assert (event.payload.text, event.payload.metadata) == ("hello", '{"ticket":17}')


def test_who_waits_for_what_was_pushed_waits_for_the_list_too(settings: Settings, redis: Redis) -> None:
    push(redis, {"user_id": "u", "text": "hello"})
    intake = Intake(settings)
    last = intake.last_ids()
    assert not intake.settled_up_to(last)
    with recording(settings):
        eventually(lambda: intake.settled_up_to(last))


@pytest.mark.parametrize(
    ("pushed", "field"),
    [
        (b"no JSON", "pushed"),
        (b'["user_id", "u"]', "pushed"),
        (b'{"user_id": "u", "text": "\xff"}', "pushed"),
        (b'{"user_id": "u", "text": 5}', "text"),
        (b'{"user_id": "u", "text": "x", "tenant": "acme"}', "tenant"),
    ],
)
def test_what_is_no_turn_becomes_a_dead_letter(
    pushed: bytes, field: str, settings: Settings, redis: Redis
) -> None:
    redis.rpush(LIST, pushed)
    queue = queue_of(settings)
    with recording(settings):
        eventually(lambda: queue.dead_count() == 1)
    [letter] = DeadLetters(Redis.from_url(settings.redis_url), "turns")
    assert letter.field == field
    assert letter.fields[b"pushed"] == pushed


def test_a_dead_letter_of_the_list_can_be_corrected(
    settings: Settings, redis: Redis, connection: Connection
) -> None:
    push(redis, {"user_id": "u", "text": "hello", "role": "robot"})
    queue = queue_of(settings)
    letters = DeadLetters(Redis.from_url(settings.redis_url), "turns")
    with recording(settings):
        eventually(lambda: queue.dead_count() == 1)
        [letter] = letters
        assert letters.push_again(letter, letter.fields_to_retry({"role": "user"}))
        eventually(lambda: texts(connection, "u") == ["hello"])


def test_an_entry_cannot_show_the_turn_of_one_user_to_another(settings: Settings, redis: Redis) -> None:
    redis.xadd("turns", {"user_id": "victim", "pushed": '{"user_id": "u", "text": "x"}'})
    queue = queue_of(settings)
    with recording(settings):
        eventually(lambda: queue.dead_count() == 1)


def test_an_erasure_reaches_the_list(settings: Settings, redis: Redis) -> None:
    push(redis, {"user_id": "u", "text": "a secret"}, {"user_id": "v", "text": "stays"})
    done = forget(
        Redis.from_url(settings.redis_url), settings, lambda fields: "u" if fields["user_id"] == "u" else None
    )
    assert done.counts == {"u": {"queue": 1}}
    assert redis.llen(LIST) == 0
    assert redis.xlen("turns") == 1


def test_the_list_drains_while_memory_is_full_even_at_the_first_start(
    settings: Settings, redis: Redis, redis_operator: Redis, connection: Connection
) -> None:
    push(redis, {"user_id": "u", "text": "hello"})
    redis_operator.config_set("maxmemory", 1)
    try:
        with recording(settings):
            eventually(lambda: texts(connection, "u") == ["hello"])
    finally:
        redis_operator.config_set("maxmemory", 0)


def test_a_key_of_its_name_that_is_no_list_stops_no_other_turn(
    settings: Settings, redis: Redis, connection: Connection, caplog: pytest.LogCaptureFixture
) -> None:
    redis.set(LIST, "x")
    redis.xadd("turns", {"user_id": "u", "text": "hello"})
    with recording(settings):
        eventually(lambda: texts(connection, "u") == ["hello"])
    assert f"{LIST} in Redis is no list" in caplog.text
