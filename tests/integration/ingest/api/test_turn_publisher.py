"""The publisher pushes turns, whatever became of its connections since the last push."""

import asyncio
import json
import threading
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from redis import Redis
from redis.exceptions import OutOfMemoryError

from deploy.command import main
from deploy.commands.operate.doctor import doctor
from deploy.commands.run.push import push
from events.platform.settings import Settings
from ingest.api.turn_publisher import PublishFailedError, TurnPublisher
from ingest.api.write_api import create_app
from ingest.recording.recorder import Recorder
from tests.support.overviews import overview
from tests.support.streams import entries
from tests.support.waiting import eventually, working


def test_connections_that_redis_has_ended_fail_no_push(
    redis: Redis, redis_url: str, redis_operator: Redis
) -> None:
    async def pushes() -> None:
        publisher = TurnPublisher(Settings(redis_url=redis_url), idle_s=0)
        try:
            await publisher.push([{"user_id": "u1", "text": "before"}])
            redis_operator.client_kill_filter(_type="normal", skipme=True)
            await publisher.push([{"user_id": "u1", "text": "after"}])
        finally:
            await publisher.close()

    asyncio.run(pushes())
    assert [turn["text"] for turn in entries(redis, "turns")] == ["before", "after"]


def test_a_full_redis_is_named_without_the_words_of_the_turn(
    redis_url: str, redis_operator: Redis, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = Settings(redis_url=redis_url)
    turn = {"user_id": "u1", "text": "my diagnosis\n) of pipeline caused error: x"}
    (tmp_path / "turns.jsonl").write_text(json.dumps(turn))

    async def pushes() -> None:
        publisher = TurnPublisher(settings)
        try:
            await publisher.push([turn])
        finally:
            await publisher.close()

    redis_operator.config_set("maxmemory", 1)
    try:
        with pytest.raises(PublishFailedError) as by_service:
            asyncio.run(pushes())
        with pytest.raises(OutOfMemoryError) as by_command:
            push(str(tmp_path / "turns.jsonl"), cardlog=settings)
        assert doctor(settings=settings, data=None) == 1
        assert "FAIL  redis: the memory is full" in capsys.readouterr().out
    finally:
        redis_operator.config_set("maxmemory", 0)
    for error in (by_service.value, by_command.value):
        assert "diagnosis" not in str(error)
        assert "raise its maxmemory" in str(error)


def test_a_redis_that_throws_turns_away_when_it_is_full_is_named(
    redis_url: str, redis_operator: Redis, capsys: pytest.CaptureFixture[str]
) -> None:
    redis_operator.config_set("maxmemory-policy", "allkeys-lru")
    try:
        assert doctor(settings=Settings(redis_url=redis_url), data=None) == 1
    finally:
        redis_operator.config_set("maxmemory-policy", "noeviction")
    away = Settings(redis_url=redis_url, database_url="postgresql://127.0.0.1:9/nowhere")
    doctor(settings=away, data=None)
    with_eviction, without = capsys.readouterr().out.split("allkeys-lru throws turns away", 1)
    assert "FAIL  redis: maxmemory-policy" in with_eviction
    assert "ok    redis" in without
    assert "FAIL  postgres" in without
    assert "ok    extraction: with these settings: rules" in without


@pytest.mark.parametrize(
    ("setting", "refusing", "usual", "reason"),
    [("min-replicas-to-write", 1, 0, "NOREPLICAS"), ("maxmemory", 1, 0, "raise its maxmemory")],
)
def test_a_redis_that_refuses_turns_is_not_ready_and_the_doctor_says_so(
    write: TestClient,
    redis: Redis,
    redis_url: str,
    redis_operator: Redis,
    capsys: pytest.CaptureFixture[str],
    setting: str,
    refusing: int,
    usual: int,
    reason: str,
) -> None:
    ready = "/readyz?stages=ignore"
    assert write.get(ready).status_code == 200
    redis_operator.config_set(setting, refusing)
    try:
        answer = write.get(ready)
        assert doctor(settings=Settings(redis_url=redis_url), data=None) == 1
    finally:
        redis_operator.config_set(setting, usual)
    assert answer.status_code == 503
    assert reason in answer.json()["detail"]
    assert "FAIL  redis: " in capsys.readouterr().out
    assert write.get(ready).status_code == 200
    assert redis.dbsize() == 0


def test_a_wrong_password_names_its_setting(
    database: str,
    redis_url: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
) -> None:
    host = redis_url.rpartition("@")[2]
    settings = Settings(database_url=database, redis_url=f"redis://:wrong@{host}")
    said = "redis refuses the login in CARDLOG_REDIS_URL: "
    with TestClient(create_app(settings)) as write:
        assert said in write.get("/readyz").json()["detail"]
        eventually(lambda: said in caplog.text)
    assert said in str(overview(settings).stages[0].detail)
    doctor(settings=settings, data=None)
    assert f"FAIL  redis: {said}" in capsys.readouterr().out
    assert ":wrong@" not in caplog.text
    monkeypatch.setenv("CARDLOG_DATABASE_URL", database)
    monkeypatch.setenv("CARDLOG_REDIS_URL", settings.redis_url)
    assert main(["dead", "list"]) == 1
    assert f"cardlog dead: {said}" in capsys.readouterr().err
    stop = threading.Event()
    with working(Recorder(settings, "one", stop.is_set).run, stop):
        eventually(lambda: "the recorder waits" in caplog.text)
    assert next(said in line for line in caplog.messages if "the recorder waits" in line)
