"""A turn of another tenant is recorded only with a proof that the services make."""

import asyncio
from collections.abc import Iterator

import pytest
from redis import Redis

from events.http.tokens import read_queue_key
from events.platform.database import Connection
from events.platform.settings import Settings
from events.types.queue_entry import PROOF, TENANT, QueueKey
from events.types.tenancy import storage_id
from ingest.api.turn_publisher import TurnPublisher
from ingest.recording.dead_letters import DeadLetters
from tests.support.ingest.recorder import queue_of, recording, settled, texts
from tests.support.projectors.folding import NOW
from tests.support.retrieval.overlay import Memory, pending
from tests.support.roles import roles_for
from tests.support.waiting import PATIENT, eventually

ACME, GLOBEX = storage_id("acme", "ada"), storage_id("globex", "ada")
TURN = {"user_id": "ada", "text": "I live in Taipei.", "turn_id": "t1"}


@pytest.fixture
def settings(database: str, redis: Redis, redis_url: str) -> Iterator[Settings]:
    with roles_for(database, ("recorder",)) as (recorder,):
        yield Settings(database_url=recorder, redis_url=redis_url, reclaim_after_ms=50)


def record(settings: Settings) -> None:
    with recording(settings):
        eventually(lambda: settled(queue_of(settings)))


def push(settings: Settings, key: QueueKey, tenant: str, **fields: str) -> None:
    async def do() -> None:
        publisher = TurnPublisher(settings)
        await publisher.push([TURN | fields], tenant=tenant, key=key)
        await publisher.close()

    asyncio.run(do())


def test_users_of_two_tenants_with_one_name_have_a_log_each(
    settings: Settings, redis: Redis, connection: Connection
) -> None:
    key = read_queue_key(settings)
    push(settings, key, "acme", text="of acme")
    push(settings, key, "globex", text="of globex")
    redis.xadd("turns", TURN | {"text": "of nobody"})  # type: ignore[arg-type]
    record(settings)
    assert texts(connection, ACME) == ["of acme"]
    assert texts(connection, GLOBEX) == ["of globex"]
    assert texts(connection, "ada") == ["of nobody"]


def test_a_forged_tenant_becomes_a_dead_letter_of_nobody(
    settings: Settings, redis: Redis, connection: Connection
) -> None:
    entry = read_queue_key(settings).entry_of(TURN, "acme")
    forged = [
        TURN | {TENANT: "acme"},
        TURN | {TENANT: "acme", PROOF: "0" * 64},
        entry | {TENANT: "globex"},
        entry | {"text": "other words"},
        entry | {"user_id": "eve"},
        entry | {"role": "assistant"},
        TURN | {PROOF: entry[PROOF]},
        QueueKey(b"another key").entry_of(TURN, "acme"),
        TURN | {"user_id": ACME},
    ]
    for fields in forged:
        redis.xadd("turns", fields)  # type: ignore[arg-type]
    record(settings)
    letters = list(DeadLetters(Redis.from_url(settings.redis_url), "turns"))
    assert [letter.field for letter in letters] == [TENANT] * 8 + ["user_id"]
    assert {letter.tenant for letter in letters} == {"default"}
    assert connection.execute("SELECT count(*) FROM log.events").fetchone() == (0,)


def test_a_copied_entry_counts_once(settings: Settings, redis: Redis, connection: Connection) -> None:
    for _ in range(3):
        redis.xadd("turns", read_queue_key(settings).entry_of(TURN, "acme"))  # type: ignore[arg-type]
    record(settings)
    assert texts(connection, ACME) == [TURN["text"]]


def test_a_dead_letter_keeps_its_tenant_through_a_retry(
    settings: Settings, redis: Redis, connection: Connection
) -> None:
    key = read_queue_key(settings)
    push(settings, key, "acme", timezone="Nowhere")
    record(settings)
    letters = DeadLetters(Redis.from_url(settings.redis_url), "turns")
    [letter] = letters
    assert (letter.tenant, letter.field) == ("acme", "timezone")
    assert letters.push_again(letter, letter.fields_to_retry({"timezone": "Asia/Taipei"}, key=key))
    record(settings)
    assert texts(connection, ACME) == [TURN["text"]]


def test_a_recall_sees_the_waiting_turns_of_its_own_tenant_only(
    database: str, redis: Redis, redis_url: str
) -> None:
    memory = Memory(Settings(database_url=database, redis_url=redis_url, **PATIENT), redis)
    key = read_queue_key(memory.settings)
    push(memory.settings, key, "acme", said_at=NOW.isoformat())
    redis.xadd("turns", TURN | {TENANT: "globex", PROOF: "0" * 64})  # type: ignore[arg-type]
    asked = "where do I live?"
    assert pending(memory.ask(asked, user=ACME))
    assert not pending(memory.ask(asked, user=GLOBEX))
    assert not pending(memory.ask(asked, user="ada"))
