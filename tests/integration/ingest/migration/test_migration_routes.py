"""A migration over HTTP: hostile texts are refused with their place, and a key belongs to one text."""

from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from redis import Redis
from starlette.testclient import TestClient

from events.platform.database import Connection
from events.store import log
from events.types.envelope import partition_of
from events.types.migrations import MemoryMigrated
from ingest.api.write_api import create_app
from projectors.core.documents import documents_of
from tests.support.projectors.folding import settings_of
from tests.support.waiting import PATIENT

PATH = "/v1/memory/ada/migrate"
JSON = {"content-type": "application/json"}


@pytest.fixture
def write(database: str, redis_url: str, redis: Redis) -> Iterator[TestClient]:
    settings = settings_of(database, redis_url=redis_url, **PATIENT)
    with TestClient(
        create_app(settings, documents=lambda: documents_of(settings)),
        base_url="http://localhost",
        raise_server_exceptions=False,
    ) as client:
        yield client


def noted(connection: Connection) -> int:
    events = log.read(connection, partition_of("ada"))
    return sum(isinstance(each.payload, MemoryMigrated) for each in events)


def memories(*items: Any) -> bytes:
    return orjson.dumps({"text": orjson.dumps({"results": list(items)}).decode(), "wait_s": 0})


def nested(depth: int) -> str:
    return "[" * depth + "]" * depth


HOSTILE = {
    "deep JSON": orjson.dumps({"text": nested(60_000), "format": "mem0"}),
    "deep body": b'{"text":' + nested(60_000).encode() + b"}",
    "deep date": b'{"text":' + orjson.dumps('[{"memory":"a","created_at":' + nested(1020) + "}]") + b"}",
    "deep memory": b'{"text":' + orjson.dumps('[{"memory":' + nested(1020) + "}]") + b"}",
    "huge number": b'{"text":"[{\\"memory\\":\\"a\\",\\"created_at\\":' + b"9" * 5_000 + b'}]"}',
    "infinite number": b'{"text":"[{\\"memory\\":\\"a\\",\\"created_at\\":1e999}]"}',
    "NaN": b'{"text":"likes tea","apply_from":NaN}',
    "number beyond the range": b'{"text":"likes tea","apply_from":1e999}',
    "number as text": b'{"text":"likes tea","wait_s":"' + b"9" * 5_000 + b'"}',
    "NUL in a memory": memories({"memory": "likes\0tea"}),
    "NUL in notes": orjson.dumps({"text": "- likes\0tea"}),
    "NUL in a message": orjson.dumps({"messages": [{"content": "likes\0tea"}]}),
    "NUL in the source": orjson.dumps({"text": "likes tea", "source": "a\0b"}),
    "NUL in the name": orjson.dumps({"text": "likes tea", "user_name": "a\0b"}),
    "surrogate in notes": b'{"text":"likes \\ud800 tea"}',
    "surrogate in a memory": b'{"text":"[{\\"memory\\":\\"likes \\\\ud800 tea\\"}]"}',
    "surrogate in a message": b'{"messages":[{"content":"likes \\udfff"}]}',
    "surrogate in the source": b'{"text":"likes tea","source":"\\ud800"}',
    "surrogate in the name": b'{"text":"likes tea","user_name":"\\ud800"}',
    "invalid UTF-8": b'{"text":"likes \xff tea"}',
    "too many memories": memories(*({"memory": f"likes tea {number}"} for number in range(1001))),
    "too many lines": orjson.dumps({"text": "\n".join(f"- a{number}" for number in range(1001))}),
    "too many messages": orjson.dumps({"messages": [{"content": "a"}] * 1001}),
    "too long a memory": memories({"memory": "a" * 70_000}),
    "too long a text": orjson.dumps({"text": "a" * 140_000}),
    "too many bytes": orjson.dumps({"text": "茶" * 50_000}),
    "one sentence of dots": orjson.dumps({"text": "A. " * 43_000, "format": "notes"}),
    "marks that grow": orjson.dumps({"text": "tea", "source": "\x01" * 512, "user_name": "\x01" * 512}),
    "no memory": memories({"memory": None}),
    "no list": orjson.dumps({"text": '{"results": {"memory": "a"}}'}),
    "a zone of a path": orjson.dumps({"text": "likes tea", "timezone": "../../etc/passwd"}),
    "an early instant": orjson.dumps({"text": "likes tea", "said_at": "0001-01-01T00:00:00Z"}),
    "a late date": memories({"memory": "a", "created_at": "9999-12-31T23:59:59-14:00"}),
    "two users": memories({"memory": "a", "user_id": "x"}, {"memory": "b", "user_id": "y"}),
}


def test_a_hostile_text_is_refused_and_leaves_nothing(write: TestClient, connection: Connection) -> None:
    for name, body in HOSTILE.items():
        answer = write.post(PATH, content=body, headers=JSON)
        assert answer.status_code in (400, 413, 422), (name, answer.text[:300])
        assert answer.json()["detail"], name
    assert noted(connection) == 0


def test_a_request_without_a_memory_says_what_to_send(write: TestClient) -> None:
    for body, words in (
        ({}, "text: is required; send text or messages"),
        ({"text": '{"facts": [{"fact": "Likes tea"}]}'}, "JSON is read as get_all() of mem0 gives it"),
    ):
        answer = write.post(PATH, json=body)
        assert (answer.status_code, answer.json()["field"]) == (422, "text")
        assert words in answer.json()["detail"]


def test_memories_with_one_id_or_one_text_count_by_their_text(write: TestClient) -> None:
    body = memories(
        {"id": "same", "memory": "Likes tea"}, {"id": "same", "memory": "Has a cat"},
        {"id": "other", "memory": " Likes  tea "}, {"id": {"deep": []}, "memory": "Likes tea"},
    )  # fmt: skip
    answer = write.post(PATH, content=body, headers=JSON)
    assert (answer.status_code, answer.json()["sentences"]) == (200, 2)
    assert (
        write.post(PATH, content=body, headers=JSON).json()["migration_id"] == answer.json()["migration_id"]
    )


def test_an_idempotency_key_belongs_to_one_text(write: TestClient, connection: Connection) -> None:
    key = {"idempotency-key": "k1"}

    def sent(text: str, **headers: str) -> Any:
        return write.post(PATH, json={"text": text, "wait_s": 0}, headers={**key, **headers})

    first = sent("Likes tea.")
    again = sent("Likes tea.")
    assert (first.status_code, again.status_code) == (200, 200)
    assert first.json()["migration_id"] == again.json()["migration_id"]
    assert noted(connection) == 1
    other = sent("Likes coffee.")
    assert (other.status_code, other.json()["field"]) == (422, "Idempotency-Key")
    assert noted(connection) == 1
    # Another user may use the same key, and a dry run uses none.
    elsewhere = write.post("/v1/memory/bea/migrate", json={"text": "Likes coffee.", "wait_s": 0}, headers=key)
    assert elsewhere.status_code == 200
    assert sent("Likes coffee.", **{"idempotency-key": "k2"}).status_code == 200
    assert (
        write.post(
            PATH, json={"text": "Likes jazz.", "dry_run": True}, headers={"idempotency-key": "k3"}
        ).json()["sentences"]
        == 1
    )
    assert sent("Likes rock.", **{"idempotency-key": "k3"}).status_code == 200


def test_the_name_of_the_user_is_the_user(write: TestClient) -> None:
    def liked(**body: Any) -> set[str]:
        answer = write.post(PATH, json=body | {"dry_run": True})
        assert answer.status_code == 200, answer.text
        return {
            op["value"]
            for each in answer.json()["applied"]
            for op in each["patch"]
            if op["path"] == "/preferences/likes/-"
        }

    assert liked(text="Quilla likes tea.", user_name="Quilla Marsh") == {"tea"}
    assert liked(text="User's name is Quilla Marsh. Quilla likes tea.") == {"tea"}
    assert liked(text="Quilla likes tea.") == set()
    assert liked(text="Quilla likes tea.", user_name="Orla") == set()
