"""Cardlog starts in a folder whose files have the names of its packages."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.stack import WITHOUT_MODEL, clean_environment

CARDLOG = Path(sys.executable).with_name("cardlog")


@pytest.mark.skipif(not CARDLOG.exists(), reason="the command is not installed beside this Python")
def test_packages_of_the_working_directory_are_left_alone(tmp_path: Path) -> None:
    place = tmp_path / "project"
    for name in ("deploy", "events", "ingest", "projectors", "retrieval"):
        (place / name).mkdir(parents=True)
        (place / name / "__init__.py").write_text("raise SystemExit('this package is somebody else’s')\n")
    (place / "redis.py").write_text("raise SystemExit('and so is this module')\n")
    data, environment = tmp_path / "data", clean_environment() | WITHOUT_MODEL

    def cardlog(*words: str, given: str | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [CARDLOG, "--data", data, *words],
            cwd=place, env=environment, capture_output=True, text=True, timeout=120, input=given,
        )  # fmt: skip

    with (tmp_path / "up.log").open("w") as log:
        up = subprocess.Popen(
            [CARDLOG, "up", "--data", data, "--port-write", "0", "--port-read", "0"],
            cwd=place, env=environment, stdout=subprocess.PIPE, stderr=log, text=True,
        )  # fmt: skip
    try:
        assert up.stdout is not None
        line = up.stdout.readline()
        assert line, (tmp_path / "up.log").read_text()[-2000:]
        assert json.loads(line)["ready"] is True
        turn = json.dumps({"user_id": "u1", "text": "I live in Oslo."})
        pushed = cardlog("push", "-", given=turn)
        assert pushed.returncode == 0, pushed.stderr
        waited = cardlog("wait", "--timeout", "60")
        assert waited.returncode == 0, waited.stderr
        assert "Oslo" in cardlog("recall", "where do I live?", "--user", "u1").stdout
    finally:
        up.terminate()
        up.wait(40)
        if up.stdout is not None:
            up.stdout.close()
    assert "somebody else" not in (tmp_path / "up.log").read_text()
