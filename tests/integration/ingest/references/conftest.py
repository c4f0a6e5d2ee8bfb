"""The write service of the tests of references."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from starlette.testclient import TestClient

from ingest.api.write_api import create_app
from tests.support.projectors.folding import settings_of
from tests.support.waiting import PATIENT


@pytest.fixture
def api(database: str, redis_url: str) -> Iterator[TestClient]:
    with TestClient(
        create_app(settings_of(database, redis_url=redis_url, **PATIENT)), base_url="http://localhost"
    ) as client:
        yield client
