"""A sealed memory for the tests of erasures."""

import pytest

from events.platform.database import Connection
from tests.support.ingest.memories import Memory


@pytest.fixture
def memory(database: str, connection: Connection, sealed: None) -> Memory:
    return Memory(database, connection)
