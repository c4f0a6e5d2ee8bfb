"""A whole Cardlog as a user starts it: the command, in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from tests.support.stack import Running, start, stop
from tests.support.waiting import eventually


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    running = start(tmp_path_factory.mktemp("stack") / "data")
    eventually(lambda: httpx.get(f"{running.read_url}/readyz").status_code == 200)
    yield running
    assert stop(running) == 0
