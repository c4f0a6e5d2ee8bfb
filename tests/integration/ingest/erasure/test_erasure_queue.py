"""Turns that wait in Redis go with their user, also a turn that a recorder holds in memory."""

from datetime import UTC, datetime, timedelta

import pytest
from redis import Redis

from events.platform.database import Connection
from events.sealing import sealer as sealing
from events.store import log
from events.types.envelope import partition_of, uuid7
from events.types.tombstones import digest_of
from events.types.turns import TurnRecorded
from ingest.erasure import subjects
from ingest.erasure.erasure import ErasureRefusedError
from ingest.erasure.receipts import receipt_of
from ingest.erasure.tombstones import Tombstone
from ingest.recording.recorder import event_of
from ingest.recording.turn_queue import TurnQueue
from tests.support.ingest.memories import Memory
from tests.support.streams import add, entries

GROUP = "recorders"


@pytest.fixture
def queued(database: str, connection: Connection, redis_url: str, redis: Redis, sealed: None) -> Memory:
    return Memory(database, connection, redis_url=redis_url)


def recorded(connection: Connection, user: str) -> list[str]:
    return [
        event.payload.text
        for event in log.read(connection, partition_of(user))
        if event.user_id == user and isinstance(event.payload, TurnRecorded)
    ]


def test_waiting_turns_and_dead_letters_of_a_user_go_and_others_stay(queued: Memory, redis: Redis) -> None:
    for user in ("ada", "bea"):
        add(redis, "turns", {"user_id": user, "text": "I live in Montevideo."})
        add(redis, "turns:dead", {"entry_id": "1-1", "field": "role", "reason": "bad", "field:user_id": user})
        add(redis, "turns:dropped", {"entry_id": "1-1", "because": "bad", "field:user_id": user})
    outcome = queued.erase("user", "ada")
    assert {name: number for name, number in outcome.counts.items() if "let" in name or name == "queue"} == {
        "queue": 1, "dead letters": 1, "dropped letters": 1,
    }  # fmt: skip
    for stream in ("turns", "turns:dead", "turns:dropped"):
        assert [e.get("user_id", e.get("field:user_id")) for e in entries(redis, stream)] == ["bea"]


def test_waiting_turns_stay_when_only_derived_rows_go(queued: Memory, redis: Redis) -> None:
    used = sealing.in_use()
    sealing.use(None)
    queued.say("ada", "I live in Montevideo.")
    sealing.use(used)
    add(redis, "turns", {"user_id": "ada", "text": "I work at Kestrel Labs."})
    queued.erase("user", "ada", derived_only=True)
    assert [entry["text"] for entry in entries(redis, "turns")] == ["I work at Kestrel Labs."]


def test_a_restored_queue_loses_what_an_erased_user_had_pushed(
    queued: Memory, connection: Connection, redis: Redis
) -> None:
    erased_at = datetime.now(UTC) - timedelta(days=3)
    before = f"{int(erased_at.timestamp() * 1000) - 1}-1"
    queued.say("ada", "I live in Montevideo.")
    redis.xadd("turns", {"user_id": "ada", "text": "I live in Montevideo."}, id=before)
    redis.xadd("turns:dead", {"entry_id": "1-1", "field": "role", "field:user_id": "ada"}, id=before)
    add(redis, "turns", {"user_id": "ada", "text": "I am back."})
    user = digest_of("user", "ada")
    tombstone = Tombstone(erasure_id=uuid7(), kind="user", user=user, events=None, erased_at=erased_at)
    subjects.replay(queued.eraser(), connection, [tombstone])
    assert [entry["text"] for entry in entries(redis, "turns")] == ["I am back."]
    assert entries(redis, "turns:dead") == []


@pytest.mark.parametrize("named", [{"turn_id": "mine"}, {}])
def test_a_recorder_that_holds_a_turn_of_the_erased_records_nothing(
    queued: Memory, connection: Connection, redis: Redis, named: dict[str, str]
) -> None:
    queue = TurnQueue(Redis.from_url(queued.settings.redis_url), "turns", GROUP)
    queue.open()
    add(redis, "turns", {"user_id": "ada", "text": "I live in Montevideo.", **named})
    [held] = queue.read("r1", 10, 10)
    queued.erase("user", "ada")
    [place] = log.append(connection, [event_of(held, datetime.now(UTC))])
    assert place.duplicate
    assert recorded(connection, "ada") == []
    # Nobody reads the turn again, and the group has nothing left to settle.
    assert queue.depth().pending == 0
    # What the user says later is new.
    add(redis, "turns", {"user_id": "ada", "text": "I live in Lisbon."})
    [later] = queue.read("r1", 10, 10)
    log.append(connection, [event_of(later, datetime.now(UTC))])
    assert recorded(connection, "ada") == ["I live in Lisbon."]


def test_a_waiting_turn_that_names_an_erased_person_goes(queued: Memory, redis: Redis) -> None:
    add(redis, "turns", {"user_id": "ada", "text": "Quillwortine phoned."})
    add(redis, "turns", {"user_id": "ada", "text": "It rains."})
    queued.say("ada", "Quillwortine came.")
    outcome = queued.erase("person", ["quillwortine"], ["ada"])
    assert (outcome.counts["queue"], outcome.counts["turns"]) == (1, 1)
    assert [entry["text"] for entry in entries(redis, "turns")] == ["It rains."]


def test_while_redis_is_away_the_log_is_erased_and_the_queue_later(
    database: str, connection: Connection, redis_url: str, redis: Redis, sealed: None
) -> None:
    away = Memory(database, connection, redis_url="redis://127.0.0.1:1/0")
    add(redis, "turns", {"user_id": "ada", "text": "I live in Montevideo."})
    away.say("ada", "I live in Montevideo.")
    done = away.erase("user", "ada")
    assert recorded(connection, "ada") == []
    receipt = receipt_of(connection, done.erasure_id)
    assert receipt is not None
    assert receipt["steps"]["queue"] is None
    with pytest.raises(ErasureRefusedError, match="redis is away"):
        away.erase("turn", "ada", "t1")
    assert Memory(database, connection, redis_url=redis_url).eraser().resume(connection) == 1
    assert entries(redis, "turns") == []
    receipt = receipt_of(connection, done.erasure_id)
    assert receipt is not None
    assert receipt["steps"]["queue"] is not None
