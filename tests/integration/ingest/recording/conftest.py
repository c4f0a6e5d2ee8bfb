"""Settings of a recorder on the queue of a test, and the queue."""

import pytest
from redis import Redis

from events.platform.settings import Settings
from ingest.recording.turn_queue import TurnQueue
from tests.support.ingest.recorder import queue_of


@pytest.fixture
def settings(database: str, redis: Redis, redis_url: str) -> Settings:
    return Settings(database_url=database, redis_url=redis_url, reclaim_after_ms=50)


@pytest.fixture
def queue(settings: Settings) -> TurnQueue:
    queue = queue_of(settings)
    queue.open()
    return queue
