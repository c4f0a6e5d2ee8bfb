"""The TypeScript client, as Node runs it, with a whole stack. Its own tests are in ``clients/typescript/test``."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from scripts import typescript_client
from tests.support.stack import Running


@pytest.fixture(scope="module")
def package() -> Path:
    """The built client. Skips where Node or the locked npm packages are missing."""
    if shutil.which("node") is None:
        pytest.skip("Node 20 is not installed")
    if not typescript_client.GENERATOR.exists():
        pytest.skip("the npm packages are not installed; run make clients")
    subprocess.run([typescript_client.GENERATOR.with_name("tsc")], cwd=typescript_client.CLIENT, check=True)
    return typescript_client.CLIENT


def test_it_pushes_asks_and_repeats(package: Path, stack: Running) -> None:
    addresses = {"CARDLOG_WRITE_URL": stack.write_url, "CARDLOG_READ_URL": stack.read_url}
    done = subprocess.run(
        ["node", "--test", "test/client.test.mjs"], cwd=package, capture_output=True, text=True, check=False,
        env={**os.environ, **addresses, "CARDLOG_API_KEY": stack.key}, timeout=240,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "# skipped 0" in done.stdout
