"""The publisher pushes turns, whatever became of its connections since the last push."""

from __future__ import annotations

import asyncio

from redis import Redis

from events.platform.settings import Settings
from ingest.api.turn_publisher import TurnPublisher
from tests.support.streams import entries


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
