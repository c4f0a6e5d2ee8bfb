"""Rates, concurrency and pages are limited for each key and each user."""

import asyncio
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from redis import Redis
from starlette.requests import Request
from starlette.testclient import TestClient

from events.access import limiters
from events.access.limiters import RateLimiter
from events.access.principal import Principal
from events.http.errors import ProblemError
from events.http.guard import JSON
from events.http.limits import RequestLimits, limits_of
from events.platform.settings import Settings
from events.store import log
from events.types.envelope import PARTITIONS, partition_of
from events.types.tenancy import storage_id
from events.types.turns import TurnRecorded
from ingest.api.write_api import create_app
from ingest.recording.recorder import recorded_event
from tests.integration.events.http.conftest import Services
from tests.support.conversing import day
from tests.support.projectors.folding import count
from tests.support.waiting import eventually

pytestmark = pytest.mark.anyio

NOWHERE = "redis://127.0.0.1:1/0"


def turns(user: str, count: int = 100) -> list[dict[str, str]]:
    return [{"user_id": user, "text": f"turn {number}"} for number in range(count)]


@pytest.mark.parametrize("away", [False, True], ids=["redis", "redis away"])
async def test_a_subject_gets_its_burst_and_then_waits(redis_url: str, away: bool) -> None:
    limiter = RateLimiter(NOWHERE if away else redis_url, 0.001, 3)
    subject = f"key/{uuid4()}"
    try:
        assert [await limiter.take(subject, 1) for _ in range(3)] == [0, 0, 0]
        assert 900 < await limiter.take(subject, 1) <= 1000
        assert await limiter.take(f"other {subject}", 1) == 0
    finally:
        await limiter.close()


async def test_processes_share_the_buckets_and_no_name_stands_in_redis(
    redis_url: str, redis: Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limiters, "_TIMEOUT_S", 30.0)
    processes = [RateLimiter(redis_url, 0.001, 2) for _ in range(2)]
    waits = [await limiter.take("user/default/ada", 1) for limiter in processes * 2]
    assert [wait > 0 for wait in waits] == [False, False, True, True]
    for limiter in processes:
        await limiter.close()
    names = list(redis.scan_iter("*rate*"))
    assert names
    assert all("ada" not in str(name) and redis.ttl(name) > 0 for name in names)


def test_a_key_above_its_rate_gets_429_with_the_wait(services: Services) -> None:
    with TestClient(create_app(replace(services.settings, key_rate=1))) as client:
        key, other = services.key(), services.key()
        # A hundred turns cost as much as the burst of 10 s.
        assert client.post("/v1/turns", json=turns("ada"), headers=key).status_code == 202
        refused = client.post("/v1/turns", json=turns("ada"), headers=key)
        assert (refused.status_code, refused.json()["title"]) == (429, "Too many requests")
        assert 1 <= int(refused.headers["retry-after"]) <= 10
        assert client.post("/v1/turns", json=turns("ada"), headers=other).status_code == 202
        assert client.get("/healthz").status_code == 200


def test_a_user_above_the_rate_does_not_stop_others(services: Services) -> None:
    with TestClient(create_app(replace(services.settings, user_rate=1))) as client:
        ada, bob, key = f"ada {uuid4()}", f"bob {uuid4()}", services.key()
        assert client.post("/v1/turns", json=turns(ada), headers=key).status_code == 202
        assert client.post("/v1/turns", json=turns(ada), headers=services.key()).status_code == 429
        assert client.post("/v1/turns", json=turns(bob), headers=key).status_code == 202
        elsewhere = services.key(tenant="elsewhere")
        assert client.post("/v1/turns", json=turns(ada), headers=elsewhere).status_code == 202


def request(**document: Any) -> Request:
    scope = {
        "type": "http",
        "method": "POST",
        "query_string": b"",
        "path_params": {},
        "headers": [],
        JSON: document,
    }
    return Request(scope)


async def test_each_question_of_a_batch_counts_for_its_user(redis_url: str) -> None:
    # A batch takes most of the bucket, which needs half a minute to hold enough for another one.
    limits = RequestLimits(Settings(redis_url=redis_url, user_rate=1, rate_burst_s=40))
    users = [f"ada {uuid4()}", f"bea {uuid4()}"]
    questions = [{"user_id": user, "query": "where?"} for user in users * 16]

    async with limits.admitted(request(questions=questions), Principal()):
        pass
    for user in users:
        again = [{**each, "user_id": user} for each in questions]
        with pytest.raises(ProblemError, match="this user asks faster"):
            async with limits.admitted(request(questions=again), Principal()):
                pass
    await limits.close()


async def test_requests_about_one_user_at_the_same_time_are_limited() -> None:
    limits = RequestLimits(Settings(user_concurrency=1))
    app, other = Principal(key_id="app"), Principal(key_id="other")

    async with AsyncExitStack() as running:
        await running.enter_async_context(limits.admitted(request(user_id="ada"), app))
        with pytest.raises(ProblemError, match="this user already has 1"):
            await running.enter_async_context(limits.admitted(request(user_id="ada"), other))
        await running.enter_async_context(limits.admitted(request(user_id="bob"), app))
    async with limits.admitted(request(user_id="ada"), app):
        pass


def test_a_page_is_limited() -> None:
    limits = RequestLimits(Settings(max_page=20))

    async def ask(k: int) -> None:
        async with limits.admitted(request(user_id="ada", k=k), Principal(key_id="app")):
            pass

    asyncio.run(ask(20))
    with pytest.raises(ProblemError, match="k: is 21; this service gives at most 20"):
        asyncio.run(ask(21))


@pytest.mark.parametrize("command", ["patches", "migrations", "erasures"])
def test_commands_of_a_tenant_with_many_memories_leave_connections_to_others(
    services: Services, command: str
) -> None:
    loud, quiet = services.key(tenant="loud"), services.key(tenant="quiet")
    partition = (partition_of(storage_id("quiet", "ada")) + 1) % PARTITIONS
    users = [
        user
        for user in (f"{command} {number}" for number in range(6_000))
        if partition_of(storage_id("loud", user)) == partition
    ][:45]
    turn = TurnRecorded(
        turn_id="t", text="x", role="user", said_at=day(0), timezone="UTC", session_id="s", project_id="p"
    )
    log.append(services.connection, [recorded_event(storage_id("loud", user), turn) for user in users])

    def patch(user: str, key: dict[str, str]) -> int:
        change = [{"op": "add", "path": "/profile/other/x", "value": f"{uuid4()}"}]
        body = {"patch": change, "actor": "user"}
        return services.write.post(f"/v1/memory/{user}/events", json=body, headers=key).status_code

    def send(user: str) -> int:
        if command == "erasures":
            return services.write.delete(f"/v1/users/{user}", headers=loud).status_code
        if command == "migrations":
            body = {"text": "User likes tea.", "wait_s": 0}
            return services.write.post(f"/v1/memory/{user}/migrate", json=body, headers=loud).status_code
        return patch(user, loud)

    with ThreadPoolExecutor(len(users)) as many:
        with services.connection.transaction():
            services.connection.execute("SELECT FROM log.heads WHERE partition = %s FOR UPDATE", (partition,))
            sent = [many.submit(send, user) for user in users]
            eventually(lambda: count(services.connection, "pg_locks WHERE NOT granted") >= 3)
            assert [patch("ada", quiet) for _ in range(5)] == [200] * 5
        assert {each.result() for each in sent} <= {200, 503}


def test_exports_of_one_tenant_do_not_open_any_number_of_connections(services: Services) -> None:
    loud = services.key(tenant="loud")

    def export(number: int) -> int:
        return services.read.get(f"/v1/users/{number}/export", headers=loud).status_code

    with ThreadPoolExecutor(20) as many:
        with services.connection.transaction():
            services.connection.execute("LOCK TABLE log.events IN ACCESS EXCLUSIVE MODE")
            sent = [many.submit(export, number) for number in range(20)]
            done, _ = wait(sent, timeout=60, return_when=FIRST_COMPLETED)
            assert {each.result() for each in done} == {503}
            waiting = "pg_locks WHERE NOT granted AND relation = 'log.events'::regclass"
            assert 1 <= count(services.connection, waiting) <= services.settings.pool_size // 2
        assert {each.result() for each in sent} <= {404, 503}


def test_no_limit_costs_nothing_by_default() -> None:
    assert limits_of(Settings()) is None
