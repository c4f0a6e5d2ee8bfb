"""The services of these tests, once for all of them. Each test has users of its own."""

from __future__ import annotations

import uuid
from collections.abc import Iterator

import pytest

from events.platform.database import connect
from tests.support.databases import execute, url_of
from tests.support.retrieval.core_documents import Documents, documents


@pytest.fixture(scope="package")
def services(postgres_url: str, redis_url: str, template: str) -> Iterator[Documents]:
    name = f"core_{uuid.uuid4().hex}"
    execute(postgres_url, "CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY", name, template)
    database = url_of(postgres_url, name)
    try:
        with (
            connect(database, application="test") as connection,
            documents(database, redis_url, connection) as found,
        ):
            yield found
    finally:
        execute(postgres_url, "DROP DATABASE {} WITH (FORCE)", name)


@pytest.fixture
def ada(services: Documents) -> Documents:
    """A user of the test's own."""
    return services.of(f"user {uuid.uuid4()}")
