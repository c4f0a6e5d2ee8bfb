"""The scenarios of the protocol's own suite that a server without its fixtures can pass.

    npm install @modelcontextprotocol/conformance@0.2.0-alpha.12
    CARDLOG_MCP_CONFORMANCE=node_modules/.bin/conformance python -m pytest tests/acceptance/test_mcp_conformance.py

The other scenarios call tools, prompts and resources that only the suite's own example has.
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
PASSED = {
    "2025-11-25": (
        "server-initialize", "server-session-lifecycle", "ping", "tools-list", "resources-list",
        "server-sse-multiple-streams", "server-sse-polling", "dns-rebinding-protection",
    ),
    "2026-07-28": (
        "tools-list", "resources-list", "server-sse-multiple-streams", "sep-2164-resource-not-found",
        "dns-rebinding-protection", "http-header-validation", "input-required-result-missing-input-response",
        "input-required-result-unsupported-methods", "input-required-result-ignore-extra-params",
        "input-required-result-validate-input",
    ),
}  # fmt: skip

pytestmark = pytest.mark.skipif(not SUITE, reason="CARDLOG_MCP_CONFORMANCE does not name the suite's program")


@pytest.fixture(scope="module")
def url(stack: Running) -> Iterator[str]:
    """A read service that asks for no key, because the suite sends none."""
    with serving("read", stack.redis_url, **stack.servers, CARDLOG_WRITE_URL=stack.write_url) as found:
        yield f"{found}/mcp/?user_id=conformance"


@pytest.mark.parametrize(
    ("version", "scenario"), [(version, each) for version, names in PASSED.items() for each in names]
)
def test_a_scenario_passes(url: str, version: str, scenario: str, tmp_path: Path) -> None:
    words = ["server", "--url", url, "--scenario", scenario, "--spec-version", version]
    done = subprocess.run(
        [os.path.abspath(SUITE), *words], capture_output=True, text=True, cwd=tmp_path, timeout=120
    )
    assert done.returncode == 0, done.stdout
