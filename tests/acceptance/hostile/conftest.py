"""The client that all tests here share is closed at the end of the run."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.connections import WEB


@pytest.fixture(scope="session", autouse=True)
def _web_closes() -> Iterator[None]:
    yield
    WEB.close()
