"""The Messages API of the tests, and settings of a worker that asks it."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from events.platform.settings import Settings
from tests.support.ingest.messages_api import MessagesApi


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
        extract_timeout_s=1,
        extract_grace_s=5,
    )
