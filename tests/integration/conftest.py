"""A connection for the integration tests, and a sealed memory."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from events.platform.database import Connection, connect
from events.platform.key_file import new_key
from events.sealing import sealer as sealing
from events.sealing.key_encryption import LocalKeyEncryption
from events.sealing.sealer import Sealer


@pytest.fixture
def connection(database: str) -> Iterator[Connection]:
    """An open connection to the test's own migrated database. The services open theirs in the same way."""
    with connect(database, application="cardlog-test") as opened:
        yield opened


@pytest.fixture
def sealed() -> Iterator[None]:
    """Seals everything that the test appends."""
    sealing.use(Sealer(LocalKeyEncryption([new_key()])))
    yield
    sealing.use(None)
