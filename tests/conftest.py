"""Servers for every test that wants one: one Postgres and one Redis a run, a fresh database a test."""

from __future__ import annotations

import os
import signal
import uuid
from collections.abc import Iterator

import psycopg
import pytest
from hypothesis import settings as examples
from redis import Redis

from deploy.embedded import EmbeddedPostgres, EmbeddedRedis
from tests.support.databases import execute, url_of

# How long an example takes says how busy the machine is, and nothing of the code.
examples.register_profile("cardlog", deadline=None)
examples.load_profile("cardlog")

# A shell starts jobs in the background with interrupts ignored, and so would be the commands that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def postgres_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server to make databases on: the one in CARDLOG_TEST_DATABASE_URL, or one of our own."""
    if given := os.environ.get("CARDLOG_TEST_DATABASE_URL"):
        yield given
        return
    with EmbeddedPostgres(tmp_path_factory.mktemp("postgres"), durable=False) as server:
        yield server.url


@pytest.fixture(scope="session")
def _redis_urls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str]]:
    if given := os.environ.get("CARDLOG_TEST_REDIS_URL"):
        yield given, given
        return
    with EmbeddedRedis(tmp_path_factory.mktemp("redis"), durable=False) as server:
        yield server.url, server.operator_url


@pytest.fixture(scope="session")
def redis_url(_redis_urls: tuple[str, str]) -> str:
    """A Redis that tests may empty: the one in CARDLOG_TEST_REDIS_URL, or one of our own."""
    return _redis_urls[0]


@pytest.fixture(scope="session")
def template(postgres_url: str) -> Iterator[str]:
    """The name of a database with every migration applied, to be copied."""
    from events.platform.database import migrate

    name = f"template_{uuid.uuid4().hex}"
    execute(postgres_url, "CREATE DATABASE {}", name)
    with psycopg.connect(url_of(postgres_url, name), autocommit=True) as connection:
        migrate(connection)
    yield name
    execute(postgres_url, "DROP DATABASE {} WITH (FORCE)", name)


@pytest.fixture
def database(postgres_url: str, template: str) -> Iterator[str]:
    """The URL of a migrated database of the test's own."""
    name = f"test_{uuid.uuid4().hex}"
    # Copying files takes two thirds of the time of copying through the write-ahead log, without fsync.
    execute(postgres_url, "CREATE DATABASE {} TEMPLATE {} STRATEGY FILE_COPY", name, template)
    yield url_of(postgres_url, name)
    execute(postgres_url, "DROP DATABASE {} WITH (FORCE)", name)


@pytest.fixture
def empty_database(postgres_url: str) -> Iterator[str]:
    """The URL of a database without any table, for tests of migrations."""
    name = f"empty_{uuid.uuid4().hex}"
    execute(postgres_url, "CREATE DATABASE {}", name)
    yield url_of(postgres_url, name)
    execute(postgres_url, "DROP DATABASE {} WITH (FORCE)", name)


@pytest.fixture
def redis_operator(_redis_urls: tuple[str, str]) -> Iterator[Redis]:
    """A client of the same Redis with every right."""
    with Redis.from_url(_redis_urls[1]) as client:
        yield client


@pytest.fixture
def redis(_redis_urls: tuple[str, str]) -> Iterator[Redis]:
    """A client of an empty Redis; answers are str."""
    url, operator_url = _redis_urls
    with Redis.from_url(operator_url) as operator:
        operator.flushdb()
    with Redis.from_url(url, decode_responses=True) as client:
        yield client
