"""A connection for the integration tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from events.platform.database import Connection, connect


@pytest.fixture
def connection(database: str) -> Iterator[Connection]:
    """An open connection to the test's own migrated database. The services open theirs in the same way."""
    with connect(database, application="cardlog-test") as opened:
        yield opened
