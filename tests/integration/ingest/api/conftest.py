"""A memory with both services."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from events.platform.database import Connection
from tests.support.conversing import Memory, remembering


@pytest.fixture
def memory(database: str, connection: Connection) -> Iterator[Memory]:
    with remembering(database, connection) as opened:
        yield opened
