"""The protocol's own suite (``make test-mcp``), in two parts.

Against the server of the product, which lacks the tools of the suite's example: ``mcp_conformance/`` names, for each
version, what fails without that example, without sessions and without prompts. The suite also reports a line there that
is stale: its scenario or check passes. Against the same endpoint with the tools of that example and with sessions,
every scenario passes.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.connections import served, serving
from tests.support.stack import Running

SUITE = os.environ.get("CARDLOG_MCP_CONFORMANCE", "")
_SCENARIO = re.compile(r"^[✓✗] \S+: (\d+) passed, (\d+) failed$", re.MULTILINE)
EXPECTED = Path(__file__).parent / "mcp_conformance"

pytestmark = pytest.mark.skipif(not SUITE, reason="CARDLOG_MCP_CONFORMANCE does not name the suite's program")


@pytest.fixture(scope="module")
def url(stack: Running) -> Iterator[str]:
    """A read service that asks for no key, because the suite sends none."""
    with serving("read", stack.redis_url, **stack.servers, CARDLOG_WRITE_URL=stack.write_url) as found:
        yield f"{found}/mcp/?user_id=conformance"


@pytest.mark.timeout(600)
@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
def test_only_the_expected_scenarios_fail(url: str, version: str, tmp_path: Path) -> None:
    expected = EXPECTED / f"{version}.yaml"
    done = suite(url, version, tmp_path, "--expected-failures", str(expected))
    assert done.returncode == 0, done.stdout


@pytest.mark.timeout(600)
@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28"])
def test_every_scenario_passes_with_the_tools_of_the_suite(version: str, tmp_path: Path) -> None:
    program = [sys.executable, "-m", "tests.support.mcp_fixtures"]
    with served(lambda listener: [*program, str(listener)], CARDLOG_REDIS_URL="redis://127.0.0.1:1") as url:
        done = suite(f"{url}/mcp/", version, tmp_path)
    counts = [(int(passed), int(failed)) for passed, failed in _SCENARIO.findall(done.stdout)]
    print(f"{version}: {len(counts)} scenarios, {sum(passed for passed, _ in counts)} checks")
    assert done.returncode == 0, done.stdout
    assert len(counts) >= 30
    assert all(not failed for _, failed in counts)


def suite(url: str, version: str, folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    words = ["--suite", "all", "--spec-version", version, *more]
    return subprocess.run(
        [os.path.abspath(SUITE), "server", "--url", url, *words], capture_output=True, text=True, cwd=folder
    )
