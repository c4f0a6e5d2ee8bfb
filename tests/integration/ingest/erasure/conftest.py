"""A sealed memory for the tests of erasures."""

import pytest

from tests.support.ingest.memories import Memory


@pytest.fixture
def memory(database: str, sealed: None) -> Memory:
    return Memory(database)
