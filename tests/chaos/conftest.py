"""One stack for the whole suite, and one ledger of everything that was pushed to it."""

from collections.abc import Iterator

import pytest

from tests.support.chaos.faults import Site, seconds, seed
from tests.support.chaos.load import Ledger


def pytest_report_header() -> str:
    return f"chaos: CARDLOG_CHAOS_SEED={seed()} CARDLOG_CHAOS_SECONDS={seconds():.0f}"


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    site = Site(tmp_path_factory.mktemp("chaos") / "data")
    yield site
    assert site.stop() == 0


@pytest.fixture(scope="session")
def ledger() -> Ledger:
    return Ledger()
