"""The protocol's own suite (``make test-mcp``).

``mcp_conformance/`` names, for each version, what fails without the tools of the suite's example, without sessions and
without prompts. The suite also reports a line there that is stale: its scenario or check passes.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.connections import serving
from tests.support.stack import Running

SUITE = os.environ.get("CARDLOG_MCP_CONFORMANCE", "")
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


def suite(url: str, version: str, folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    words = ["--suite", "all", "--spec-version", version, *more]
    return subprocess.run(
        [os.path.abspath(SUITE), "server", "--url", url, *words], capture_output=True, text=True, cwd=folder
    )
