"""Dead letters are listed, corrected and pushed again once, or dropped with a record. None is lost."""

import json
import threading
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest
from redis import Redis

from events.platform.database import Connection
from events.platform.settings import Settings
from events.store import log
from events.types.envelope import partition_of
from events.types.turn_contract import TurnInvalidError
from events.types.turns import TurnRecorded
from ingest.recording.dead_letters import DeadLetter, DeadLetters
from ingest.recording.turn_queue import TurnQueue
from tests.support.ingest.recorder import queue_of, recording, settled
from tests.support.stack import typed_here
from tests.support.waiting import eventually

# The entry's time differs from the time of the test.
ENTRY = "1700000000123-4"
PUSHED = datetime(2023, 11, 14, 22, 13, 20, 123000, tzinfo=UTC)


def raw(settings: Settings) -> Redis:
    return Redis.from_url(settings.redis_url)


def record(settings: Settings) -> None:
    """Lets the recorder take the turns that are on the stream."""
    queue = queue_of(settings)
    with recording(settings):
        eventually(lambda: settled(queue))


def letters_of(settings: Settings) -> DeadLetters:
    return DeadLetters(raw(settings), settings.turns_stream)


def turns(connection: Connection, user: str) -> list[TurnRecorded]:
    return [event.payload for event in log.read(connection, partition_of(user)) if event.user_id == user]


def push(redis: Redis, fields: dict[Any, Any], entry_id: str = "*") -> str:
    return str(redis.xadd("turns", fields, id=entry_id))


def test_a_corrected_turn_keeps_the_time_and_the_identity_of_its_first_push(
    settings: Settings, redis: Redis, connection: Connection
) -> None:
    push(redis, {"user_id": "u1", "text": "hello", "timezone": "Taipei", "speaker": "Ann"}, ENTRY)
    record(settings)
    letters = letters_of(settings)
    [letter] = letters
    assert (letter.entry_id, letter.field, letter.pushed_at) == (ENTRY, "timezone", PUSHED)
    assert "Asia/Taipei" in letter.reason
    with pytest.raises(TurnInvalidError, match="timezone"):
        letter.fields_to_retry({})
    fields = letter.fields_to_retry({"timezone": "Asia/Taipei"})
    assert letters.push_again(letter, fields) is not None
    assert list(letters) == []
    record(settings)
    [turn] = turns(connection, "u1")
    assert (turn.text, turn.speaker, turn.timezone) == ("hello", "Ann", "Asia/Taipei")
    assert turn.said_at == PUSHED
    assert turn.turn_id == ENTRY
    # A second retry of the same letter pushes nothing. A retry by hand would not count twice either.
    assert letters.push_again(letter, fields) is None
    assert redis.xlen("turns:dead") == 0
    push(redis, {name.decode(): value.decode() for name, value in fields.items()})
    record(settings)
    assert len(turns(connection, "u1")) == 1


def test_a_time_and_an_id_the_app_gave_are_kept(
    settings: Settings, redis: Redis, connection: Connection
) -> None:
    said = "2024-02-29T23:59:59+08:00"
    push(redis, {"user_id": "u1", "text": "hello", "said_at": said, "turn_id": "t1", "mood": "good"}, ENTRY)
    record(settings)
    letters = letters_of(settings)
    [letter] = letters
    assert letters.push_again(letter, letter.fields_to_retry({}, frozenset(["mood"])))
    record(settings)
    [turn] = turns(connection, "u1")
    assert (turn.said_at, turn.turn_id) == (datetime.fromisoformat(said), "t1")


def test_every_byte_of_a_turn_survives_dying_and_being_dropped(settings: Settings, redis: Redis) -> None:
    fields = {b"user_id": b"u1", b"text": b"\xff\xfe\r\n\x01", b"f\xe9": b"odd name"}
    raw(settings).xadd("turns", fields, id=ENTRY)  # type: ignore[arg-type]
    record(settings)
    letters = letters_of(settings)
    [letter] = letters
    assert letter.fields == fields
    assert letters.find(letter.id) == letters.find(ENTRY) == letter
    assert letters.find("1-1") is None
    assert letters.find("nonsense") is None
    assert letters.drop(letter, "cannot be saved")
    assert not letters.drop(letter, "again")
    assert list(letters) == []
    dropped: Any = raw(settings).xrange("turns:dropped")
    [(_, kept)] = dropped
    assert {name: kept[b"field:" + name] for name in fields} == fields
    assert (kept[b"because"], kept[b"entry_id"]) == (b"cannot be saved", ENTRY.encode())
    counts = TurnQueue(raw(settings), "turns", "recorders").counts()
    assert (counts["dead"], counts["dropped"]) == (1, 1)


def test_two_who_retry_at_once_push_once(settings: Settings, redis: Redis) -> None:
    for number in range(50):
        push(redis, {"user_id": "u1", "text": str(number), "role": "robot"})
    record(settings)
    letters = list(letters_of(settings))
    assert len(letters) == 50
    pushed: list[str | None] = []

    def retry(mine: list[DeadLetter]) -> None:
        own = letters_of(settings)
        pushed.extend(own.push_again(letter, letter.fields_to_retry({"role": "user"})) for letter in mine)

    threads = [threading.Thread(target=retry, args=(list(order),)) for order in (letters, reversed(letters))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len([entry for entry in pushed if entry]) == 50
    waiting: Any = redis.xrange("turns")
    assert sorted(int(fields["text"]) for _, fields in waiting) == list(range(50))
    assert redis.xlen("turns:dead") == 0
    assert redis.hget("turns:counts", "retried") == "50"


def test_a_letter_that_came_without_an_entry_id_has_its_own_time(settings: Settings, redis: Redis) -> None:
    redis.xadd("turns:dead", {"reason": "put here by hand", "field:text": "x"}, id=ENTRY)
    [letter] = letters_of(settings)
    assert (letter.entry_id, letter.pushed_at, letter.field) == (ENTRY, PUSHED, "")


def test_an_entry_of_very_many_fields_can_be_dropped(settings: Settings, redis: Redis) -> None:
    push(redis, {f"field {n}": "x" for n in range(9000)} | {"user_id": "u1", "text": "x"})
    record(settings)
    letters = letters_of(settings)
    [letter] = letters
    assert letters.drop(letter, "no turn")
    assert list(letters) == []


def test_the_command_lists_shows_corrects_and_drops(
    settings: Settings,
    redis: Redis,
    connection: Connection,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("CARDLOG_DATABASE_URL", settings.database_url)
    monkeypatch.setenv("CARDLOG_REDIS_URL", settings.redis_url)
    command = partial(typed_here, capsys, "dead")
    push(redis, {"user_id": "u1", "text": "one", "role": "robot"}, "1700000000001-0")
    push(redis, {"user_id": "u1", "text": "two", "role": "robot"}, "1700000000002-0")
    push(redis, {"user_id": "u1", "text": b"\xff"}, "1700000000003-0")
    push(redis, {"text": "\x1b[31mred", "role": "robot"}, "1700000000004-0")
    record(settings)
    listed = json.loads(command("list", "--json").stdout)
    assert [(each["field"], each["entry_id"]) for each in listed] == [
        ("role", "1700000000001-0"), ("role", "1700000000002-0"),
        ("text", "1700000000003-0"), ("user_id", "1700000000004-0"),
    ]  # fmt: skip
    assert listed[0]["fields"] == {"user_id": "u1", "text": "one", "role": "robot"}
    assert listed[2]["fields"]["text"] == {"base64": "/w=="}
    assert len(json.loads(command("list", "--json", "--limit", "2").stdout)) == 2
    assert "2023-11-14 22:13:20" in command("list").stdout
    shown = command("show", "1700000000004-0").stdout
    assert "\\x1b[31mred" in shown
    assert "\x1b" not in shown

    assert command("retry").returncode == 2, "which ones must be said"
    unknown = command("retry", listed[0]["id"], "--set", "mood=good")
    assert unknown.returncode == 1
    assert "'mood' is not a field of a turn" in unknown.stderr
    kept = command("retry", listed[0]["id"])
    assert kept.returncode == 1
    assert "stays: role: is 'robot'" in kept.stderr
    assert command("retry", listed[0]["id"], "--set", "role=user").returncode == 0
    both = command("retry", "--all", "--set", "role=user", "--json")
    assert both.returncode == 1
    done = json.loads(both.stdout)
    assert [each["id"] for each in done["pushed"]] == [listed[1]["id"]]
    assert [each["field"] for each in done["kept"]] == ["text", "user_id"]
    record(settings)
    assert [turn.text for turn in turns(connection, "u1")] == ["one", "two"]
    assert [turn.said_at.microsecond for turn in turns(connection, "u1")] == [1000, 2000]

    assert command("drop").returncode == 2
    assert command("drop", listed[2]["id"], "--because", "noise").returncode == 0
    asked = json.loads(command("drop", "--all", "--json").stdout)
    assert asked == {"dropped": [], "would_drop": [listed[3]["id"]]}
    assert json.loads(command("drop", "--all", "--yes", "--json").stdout) == {"dropped": [listed[3]["id"]]}
    assert command("list").stdout == "no dead letters\n"
    assert "there is no dead letter 5-5" in command("show", "5-5").stderr
    dropped: Any = raw(settings).xrange("turns:dropped")
    assert [fields[b"because"] for _, fields in dropped] == [b"noise", b"dropped by hand"]
    # The log of a recorder names the id of the push, which a later letter need not have.
    raw(settings).xadd(
        "turns:dead", {"entry_id": "5-7", "field": "role", "reason": "x", "field:text": "late"}
    )
    assert "late" in command("show", "5-7").stdout
