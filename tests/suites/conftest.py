"""One Cardlog for the suites. Its users have names of their own, so that each test finds an empty memory."""

from collections.abc import Iterator
from uuid import uuid4

import pytest

from cardlog_client import Client
from tests.acceptance.conftest import stack
from tests.support.stack import Running

__all__ = ["client", "stack", "user"]


@pytest.fixture(scope="module")
def client(stack: Running) -> Iterator[Client]:
    with Client(stack.write_url, stack.read_url, api_key=stack.key) as opened:
        yield opened


@pytest.fixture
def user() -> str:
    return f"suite-{uuid4().hex}"
