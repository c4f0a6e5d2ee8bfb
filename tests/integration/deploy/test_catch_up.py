"""A command that waits for the stages says what it waits for."""

from dataclasses import replace

import pytest

from deploy.catch_up import CatchingUp, StillBehindError
from events.platform.database import Connection
from events.platform.settings import Settings
from events.store import log
from tests.support.events.turns import turn


def test_it_tells_the_stage_that_is_behind(database: str, redis_url: str, connection: Connection) -> None:
    log.append(connection, [turn("u1", "I live in Lisbon.")])
    settings = replace(Settings(), database_url=database, redis_url=redis_url, turns_stream="empty")
    told: list[str] = []
    with pytest.raises(StillBehindError, match="extractor is 1 event behind"):
        CatchingUp(settings, 0.5, tell_every_s=0.0).run(told.append)
    assert "waiting: extractor is 1 event behind" in told
