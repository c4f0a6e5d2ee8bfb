"""A connection for the integration tests, a memory, a sealed memory, and clients of both services."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from events.platform.database import Connection, connect
from events.platform.key_file import new_key
from events.sealing import sealer as sealing
from events.sealing.key_encryption import LocalKeyEncryption
from events.sealing.sealer import Sealer
from tests.support.conversing import Memory, remembering
from tests.support.projectors.folding import settings_of
from tests.support.waiting import ALONE, PATIENT

# A new client of HTTP reads the certificates of all authorities, which takes a fiftieth of a second. No test needs one.
os.environ.setdefault("SSL_CERT_DIR", str(Path(__file__).parent))

_BOUNDS = (
    "retrieval.http.read_api.ANSWERS_WITHIN_S",
    "retrieval.pool._LIST_WAITS_S",
    "retrieval.recall.ask._MODES_WITHIN_S",
    "retrieval.recall.user_sizes._WITHIN_S",
    "retrieval.recall.user_sizes._ZONE_WITHIN_S",
)


@pytest.fixture(scope="session", autouse=True)
def unhurried() -> Iterator[None]:
    """Lets the services in this process take as long as a busy machine needs. A test of a bound sets its own."""
    with pytest.MonkeyPatch.context() as patch:
        for bound in _BOUNDS:
            patch.setattr(bound, 60.0)
        yield


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


@pytest.fixture
def memory(database: str, connection: Connection) -> Iterator[Memory]:
    with remembering(database, connection) as opened:
        yield opened


@pytest.fixture
def write(database: str, redis_url: str) -> Iterator[TestClient]:
    """A client of a write service in this process, without keys."""
    from ingest.api.write_api import create_app as write_app

    with TestClient(
        write_app(settings_of(database, redis_url=redis_url, **PATIENT)), base_url="http://localhost"
    ) as client:
        yield client


@pytest.fixture
def read(database: str, redis_url: str) -> Iterator[TestClient]:
    """A client of a read service in this process, without keys."""
    from retrieval.http.read_api import create_app as read_app

    with TestClient(
        read_app(settings_of(database, redis_url=redis_url, **ALONE)), base_url="http://localhost"
    ) as client:
        yield client
