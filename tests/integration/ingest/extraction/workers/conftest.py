"""The Messages API of the tests, and workers that ask it."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from events.platform.database import Connection
from events.platform.settings import Settings
from tests.support.ingest.messages_api import MessagesApi
from tests.support.ingest.model_workers import Reader


@pytest.fixture
def api() -> Iterator[MessagesApi]:
    with MessagesApi() as server:
        yield server


@pytest.fixture
def settings(database: str, api: MessagesApi) -> Settings:
    return replace(
        api.settings,
        database_url=database,
        session_batch_linger_ms=0,
        session_batch_turns=1,
        extract_timeout_s=300,
        extract_grace_s=5,
    )


@pytest.fixture
def reader(settings: Settings, api: MessagesApi, connection: Connection) -> Reader:
    return Reader(settings, api, connection)
