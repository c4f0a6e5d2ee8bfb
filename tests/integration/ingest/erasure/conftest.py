"""A sealed memory for the tests of erasures."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from events.platform.key_file import new_key
from events.sealing import sealer as sealing
from events.sealing.key_encryption import LocalKeyEncryption
from events.sealing.sealer import Sealer
from tests.support.ingest.memories import Memory


@pytest.fixture
def sealed() -> Iterator[None]:
    """Seals everything that the test appends."""
    sealing.use(Sealer(LocalKeyEncryption([new_key()])))
    yield
    sealing.use(None)


@pytest.fixture
def memory(database: str, sealed: None) -> Memory:
    return Memory(database)
