"""A whole Cardlog as a user starts it, in a process of its own, and the HTTP client that all tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.stack import Running, start, stop
from tests.support.waiting import eventually
from tests.support.web import WEB

LONG: dict[str, str] = {
    f"CARDLOG_{name}_DEADLINE_MS": "10000" for name in ("OVERLAY", "TAGS", "FUZZY", "TIME", "SEMANTIC")
} | {"CARDLOG_WAIT_FOR_MS": "10000"}


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """A Cardlog that all tests share, with users of their own. On a busy machine it misses no deadline."""
    running = start(tmp_path_factory.mktemp("stack") / "data", **LONG)
    WEB.headers.update(running.headers)
    eventually(lambda: WEB.get(f"{running.read_url}/readyz").status_code == 200)
    running.redis.xadd("turns", {"user_id": "first", "text": "Every worker has begun."})
    running.wait()
    yield running
    assert stop(running) == 0


@pytest.fixture(scope="session", autouse=True)
def _web_closes() -> Iterator[None]:
    yield
    WEB.close()
