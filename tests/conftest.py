"""Servers for every test that wants one: one Postgres and one Redis a process, a fresh database a test."""

import gc
import logging
import os
import re
import shutil
import signal
import sys
import time
import uuid
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck
from hypothesis import settings as examples
from redis import Redis
from xdist.remote import Producer
from xdist.scheduler import LoadScopeScheduling

from deploy.embedded.postgres import EmbeddedPostgres
from deploy.embedded.redis import EmbeddedRedis
from events.platform.settings import Settings
from tests.support.databases import copied, drop_used, execute, url_of

# How long an example takes says how busy the machine is, and nothing of the code. The same code has the same examples;
# `make fuzz` looks for others.
_untimed: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
examples.register_profile("cardlog", **_untimed, derandomize=True, database=None, max_examples=40)
examples.register_profile("fuzz", **_untimed, database=None, max_examples=500, print_blob=True)
examples.load_profile("cardlog")

# Python keeps its bytecode, as under make. Without bytecode, each started process compiles all its modules again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Copying a database takes a third of the time in memory. A whole run needs less than 1 GiB there.
_MEMORY = Path("/dev/shm")
if _MEMORY.is_dir() and shutil.disk_usage(_MEMORY).free > 8 * 2**30:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(_MEMORY))

# Until the tests are collected, nothing is garbage. To look for it takes a second in each process.
gc.disable()

# A shell starts jobs in the background with interrupts ignored, and so would be the commands that tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


class CardlogsTogether(LoadScopeScheduling):  # type: ignore[misc]
    """Gives a process whole files. The files of the shared Cardlog go to two processes, and each starts one.

    In one process they would take longer than all other tests together. The files that a model reads go to one of the
    two. The files that start a Cardlog of their own go
    to one process, too, because each Cardlog needs 0.7 GB.
    """

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        return _group(self.config.rootpath / file) or file


@cache
def _group(file: Path) -> str:
    text = file.read_text("utf-8")
    if re.search(r"\b(?:by_model: Running|read_by_model: Person)", text):
        return "shared below"
    if re.search(r"\b(?:stack: Running|person: Person)", text):
        return "shared" if file.parent.name == "acceptance" else "shared below"
    own = r"from tests.support.stack import .*\bstart\b|\bwatched: Running"
    return "own" if re.search(own, text) else ""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> CardlogsTogether | None:
    return CardlogsTogether(config, log) if config.option.dist == "loadfile" else None


def pytest_collection_finish() -> None:
    """Exempts the modules and the collected tests from the collector of garbage.

    Python collects the oldest objects when a quarter as many new ones are there. Beside a million objects of modules,
    the apps and clients of closed tests would take hundreds of megabytes.
    """
    gc.collect()
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """Fails a test that took more processor time than its mark allows. A busy machine does not slow this clock."""
    began = time.process_time()
    yield
    for mark in item.iter_markers("processor_seconds"):
        assert (spent := time.process_time() - began) < mark.args[0], f"took {spent:.1f} s of processor time"


@pytest.fixture(autouse=True)
def level_of_the_log() -> Iterator[None]:
    """Gives the root logger its level back: a command that a test runs in this process may change it."""
    before = logging.getLogger().level
    yield
    logging.getLogger().setLevel(before)


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """The event loop of the tests with the mark ``anyio``."""
    return "asyncio"


@pytest.fixture(scope="session")
def postgres_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server to make databases on: the one in CARDLOG_TEST_DATABASE_URL, or one of our own.

    Ours has no autovacuum. It comes to the tests that take long, so the plans would depend on the speed of the machine.
    """
    if given := os.environ.get("CARDLOG_TEST_DATABASE_URL"):
        yield given
        return
    with EmbeddedPostgres(tmp_path_factory.mktemp("postgres"), durable=False) as server:
        # It would visit a database every other second, and each is gone before it needs a visit.
        execute(server.url, "ALTER SYSTEM SET autovacuum = off")
        execute(server.url, "SELECT pg_reload_conf()")
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
    """The name of a database to be copied: every migration is applied, and the tables of the projectors are empty.

    To make the tables in each copy takes three times as long as the copy. Those of vectors belong to an embedder, so a
    test makes them itself.
    """
    from events.platform.database import migrate
    from projectors.generations.generations import ensure_live
    from projectors.registry import projectors

    name = f"template_{uuid.uuid4().hex}"
    execute(postgres_url, "CREATE DATABASE {}", name)
    with psycopg.connect(url_of(postgres_url, name), autocommit=True) as connection:
        migrate(connection)
        for projector in projectors(Settings()):
            if projector.name != "vectors":
                ensure_live(connection, projector)
    yield name
    drop_used(keep=0)
    execute(postgres_url, "DROP DATABASE {} WITH (FORCE)", name)


@pytest.fixture
def database(postgres_url: str, template: str) -> Iterator[str]:
    """The URL of a migrated database of the test's own."""
    with copied(postgres_url, template) as url:
        yield url


@pytest.fixture
def empty_database(postgres_url: str) -> Iterator[str]:
    """The URL of a database without any table, for tests of migrations."""
    with copied(postgres_url, "template1") as url:
        yield url


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
