"""Turns over several streams: a turn counts once on every stream, and every reader sees it."""

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from redis import Redis
from starlette.testclient import TestClient

from events.platform.database import Connection
from events.platform.settings import Settings
from events.platform.streams import connect_redis, connect_redis_async, pushed_streams, stream_of
from events.store import log
from events.types.turns import TurnRecorded
from ingest.api.write_api import create_app
from ingest.recording.dead_letters import DeadLetters
from ingest.recording.intake import Intake
from retrieval.recall.unprojected_tail import QueueTail
from tests.support.ingest.recorder import recording
from tests.support.overviews import overview
from tests.support.projectors.folding import settings_of
from tests.support.redis_cluster import Cluster, redis_cluster
from tests.support.streams import entries
from tests.support.waiting import eventually

STREAMS = 4


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with redis_cluster(tmp_path_factory.mktemp("cluster")) as found:
        yield found


@pytest.fixture(params=["one server", "a cluster"])
def settings(request: pytest.FixtureRequest, database: str, tmp_path: Path) -> Settings:
    if request.param == "one server":
        request.getfixturevalue("redis")  # emptied
        url = request.getfixturevalue("redis_url")
    else:
        found: Cluster = request.getfixturevalue("cluster")
        found.empty()
        url = found.url
    return Settings(
        database_url=database, redis_url=url, turn_streams=STREAMS, embed_model_path=str(tmp_path), auth="off"
    )


@contextmanager
def client_of(settings: Settings) -> Iterator[Redis]:
    with connect_redis(settings.redis_url, decode_responses=True) as client:
        yield client


def settle(settings: Settings) -> None:
    """Waits until every turn is recorded."""
    intake = Intake(settings)
    try:
        eventually(lambda: intake.statistics().behind == 0)
    finally:
        intake.close()


def turns(connection: Connection) -> list[TurnRecorded]:
    found = [event.payload for partition in range(64) for event in log.read(connection, partition)]
    return [payload for payload in found if isinstance(payload, TurnRecorded)]


def texts(connection: Connection) -> list[str]:
    return sorted(turn.text for turn in turns(connection))


def test_what_is_pushed_over_http_is_spread_by_user_and_recorded(
    settings: Settings, connection: Connection
) -> None:
    pushed = [{"user_id": f"u{number}", "text": f"turn {number}"} for number in range(60)]
    with TestClient(create_app(settings)) as write:
        assert write.get("/readyz").status_code == 200
        answer = write.post("/v1/turns", json=pushed)
        assert answer.status_code == 202, answer.text
    with client_of(settings) as client:
        held = {stream: client.xlen(stream) for stream in pushed_streams(settings)}
        assert sum(held.values()) == 60
        assert min(held.values()) > 0
    assert standing(settings)["behind"] == 60
    with recording(settings):
        settle(settings)
    assert texts(connection) == sorted(turn["text"] for turn in pushed)
    # The service answered with the ids that the turns are known by, so a token can wait for them.
    assert sorted(turn.turn_id for turn in turns(connection)) == sorted(answer.json()["turn_ids"])
    assert standing(settings) == {"behind": 0, "dead": 0, "recorded": 60}


def test_a_push_that_meets_the_last_possible_id_names_the_accepted_turns(settings: Settings) -> None:
    stream = stream_of(settings, "u1")
    with client_of(settings) as client, TestClient(create_app(settings)) as write:
        # Two ids are left behind this one.
        client.xadd(stream, {"user_id": "u1", "text": "far"}, id=f"{2**64 - 1}-{2**64 - 3}")
        pushed = [{"user_id": "u1", "text": f"turn {number}"} for number in range(4)]
        answer = write.post("/v1/turns", json=pushed)
        assert (answer.status_code, answer.json()["accepted"]) == (503, [0, 1]), answer.text
        held = [turn["text"] for turn in entries(client, stream)]
        assert held == ["far", "turn 0", "turn 1"]
        answer = write.post("/v1/turns", json=pushed)
        assert (answer.status_code, answer.json()["accepted"]) == (503, []), answer.text


def standing(settings: Settings) -> dict[str, int | None]:
    intake = Intake(settings)
    try:
        found = intake.statistics()
        return {"behind": found.behind, "dead": found.dead} | (
            {"recorded": found.counts["recorded"]} if found.counts["recorded"] else {}
        )
    finally:
        intake.close()


def test_a_plain_xadd_to_turns_counts_in_every_layout(settings: Settings, connection: Connection) -> None:
    with client_of(settings) as client, recording(settings):
        client.xadd("turns", {"user_id": "u1", "text": "plainly"})
        eventually(lambda: texts(connection) == ["plainly"])
    [turn] = turns(connection)
    assert "@" not in turn.turn_id


def test_turns_left_by_another_layout_are_recorded(settings: Settings, connection: Connection) -> None:
    """The number of streams changes during the run, up and down. The recorders find the streams by themselves."""
    few = replace(settings, turn_streams=2)
    with client_of(settings) as client, recording(few):
        for number in range(64):
            client.xadd(f"turns:{{{number}}}", {"user_id": "u1", "text": f"{number:02}"})
        eventually(lambda: len(turns(connection)) == 64)
        client.xadd("turns:{63}", {"user_id": "u1", "text": "64"})
        settle(few)
    assert texts(connection) == [f"{number:02}" for number in range(65)]


def test_entries_of_two_streams_with_the_same_id_are_two_turns(
    settings: Settings, connection: Connection
) -> None:
    with client_of(settings) as client:
        for stream in ("turns", *pushed_streams(settings)):
            client.xadd(stream, {"user_id": "u1", "text": f"from {stream}"}, id="1700000000000-0")
    with recording(settings):
        settle(settings)
    assert texts(connection) == sorted(f"from {stream}" for stream in ("turns", *pushed_streams(settings)))


def test_dead_letters_of_every_stream_are_listed_corrected_and_dropped(
    settings: Settings, connection: Connection
) -> None:
    streams = ("turns", *pushed_streams(settings))
    with client_of(settings) as client:
        for number, stream in enumerate(streams):
            client.xadd(
                stream, {"user_id": "u1", "text": stream, "timezone": "Nowhere"}, id=f"{number + 1}-0"
            )
    with recording(settings):
        settle(settings)
    with connect_redis(settings.redis_url) as raw:
        letters = DeadLetters(raw, settings.turns_stream)
        found = list(letters)
        assert {letter.fields[b"text"].decode() for letter in found} == set(streams)
        ages = [tuple(map(int, letter.own_id.split("-"))) for letter in found]
        assert ages == sorted(ages)
        assert len({letter.id for letter in found}) == len(found)
        assert [letters.find(letter.id) for letter in found] == found
        assert [letters.find(letter.entry_id) for letter in found] == found
        assert standing(settings) == {"behind": 0, "dead": len(found)}
        assert letters.drop(found[-1], "enough")
        for letter in found[:-1]:
            fields = letter.fields_to_retry({"timezone": "UTC"})
            assert letters.push_again(letter, fields)
            assert letters.push_again(letter, fields) is None
        assert list(letters) == []
    with recording(settings):
        settle(settings)
    assert texts(connection) == sorted(letter.fields[b"text"].decode() for letter in found[:-1])
    assert {turn.turn_id for turn in turns(connection)} == {letter.entry_id for letter in found[:-1]}


def test_a_users_waiting_turns_are_seen_on_every_stream(settings: Settings) -> None:
    with client_of(settings) as client:
        for stream in ("turns", "turns:{1}", "turns:{3}", "turns:{40}"):
            client.xadd(stream, {"user_id": "u1", "text": f"from {stream}"}, id="1700000000000-0")
            client.xadd(stream, {"user_id": "u2", "text": "somebody else's"})
    found = asyncio.run(_waiting(settings, "u1"))
    assert found.warning is None
    assert sorted(turn.text for turn in found.turns) == [
        "from turns", "from turns:{1}", "from turns:{3}", "from turns:{40}",
    ]  # fmt: skip
    assert len({turn.turn_id for turn in found.turns}) == 4


def test_a_first_look_that_takes_too_long_is_made_for_the_next(cluster: Cluster, database: str) -> None:
    """A cluster's client first looks for its nodes. No question waits for the look, and each look is kept."""
    cluster.empty()
    settings = Settings(database_url=database, redis_url=cluster.url, turn_streams=STREAMS)
    with client_of(settings) as client:
        client.xadd("turns:{1}", {"user_id": "u1", "text": "hello"})
    assert asyncio.run(_impatient(settings)) == (0, 1)


async def _impatient(settings: Settings) -> tuple[int, int]:
    client = connect_redis_async(settings.redis_url)
    try:
        hasty = QueueTail(client, settings, 0.0)
        first = await hasty.turns_of("u1")
        assert first.warning is not None
        assert hasty._opening is not None
        await hasty._opening
        second = await QueueTail(client, settings, 5.0).turns_of("u1")
        return len(first.turns), len(second.turns)
    finally:
        await client.aclose()


async def _waiting(settings: Settings, user: str) -> Any:
    client = connect_redis_async(settings.redis_url)
    try:
        return await QueueTail(client, settings, 5.0).turns_of(user)
    finally:
        await client.aclose()


def test_waiting_for_all_that_was_pushed_waits_for_every_stream(settings: Settings) -> None:
    streams = ("turns", *pushed_streams(settings), "turns:{50}")
    intake = Intake(settings)
    with client_of(settings) as client:
        for stream in streams:
            client.xadd(stream, {"user_id": "u1", "text": f"before, {stream}"})
        until = intake.last_ids()
        assert until.keys() == set(streams)
        with recording(settings):
            settle(settings)
        assert intake.settled_up_to(until)
        for stream in streams:
            client.xadd(stream, {"user_id": "u1", "text": f"after, {stream}"})
            later = intake.last_ids()
            assert intake.settled_up_to(until)
            assert not intake.settled_up_to({stream: later[stream]})
            assert not intake.settled_up_to(later)
        assert overview(settings).stages[0].behind == len(streams)
    intake.close()


def test_a_node_that_dies_is_waited_for_and_nothing_is_lost(
    cluster: Cluster, connection: Connection, tmp_path: Path
) -> None:
    cluster.empty()
    settings = settings_of(
        connection, redis_url=cluster.url, turn_streams=STREAMS, embed_model_path=str(tmp_path)
    )
    users = [f"u{number}" for number in range(40)]
    victim = cluster.node_of(stream_of(settings, users[0]))
    lost = {user for user in users if cluster.node_of(stream_of(settings, user)) is victim}
    assert 0 < len(lost) < len(users)
    with client_of(settings) as client:
        _push(client, settings, users, "before")
        pid = victim.pid
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        eventually(lambda: victim.poll() is not None)
    with recording(settings):
        # The turns of the other nodes are recorded while the node is away. Its own turns are on its disk.
        eventually(lambda: len(turns(connection)) == len(users) - len(lost))
        # The queue depth is unknown, and unknown is never zero.
        recorder = overview(settings).stages[0]
        assert (recorder.behind, recorder.state) == (None, "unknown")
        assert "redis is away" in str(recorder.detail)
        victim.restart()
        eventually(lambda: len(turns(connection)) == len(users))
        with client_of(settings) as client:
            eventually(lambda: _push(client, settings, users, "after"))
            eventually(lambda: len(turns(connection)) == 2 * len(users))
        settle(settings)
    assert texts(connection) == sorted(
        [f"{user} before" for user in users] + [f"{user} after" for user in users]
    )


def _push(client: Redis, settings: Settings, users: list[str], word: str) -> bool:
    for user in users:
        client.xadd(
            stream_of(settings, user),
            {"user_id": user, "text": f"{user} {word}", "turn_id": f"{user} {word}"},
        )
    return True
