"""Start and stop: the data stays, leftovers are removed, and an error is one sentence."""

from __future__ import annotations

import signal
import subprocess
import tempfile
from pathlib import Path

import pytest

from tests.support.stack import COMMAND, Running, clean_environment, start, stop


def test_data_is_kept_between_runs_even_after_a_kill(tmp_path: Path) -> None:
    first = start(tmp_path / "data with a space")
    first.redis.xadd("turns", {"user_id": "u1", "text": "I live in Oslo."})
    first.wait()
    first.process.send_signal(signal.SIGKILL)
    first.process.wait(10)
    assert first.process.stdout is not None
    first.process.stdout.close()
    second = start(tmp_path / "data with a space")
    try:
        assert second.recall("u1", "where do I live?")["cards"][0]["value"] == "Oslo"
        third = subprocess.run(
            [*COMMAND, "up", "--data", str(second.data)],
            capture_output=True,
            text=True,
            timeout=60,
            env=clean_environment(),
        )
        assert third.returncode != 0
        assert "is in use by process" in third.stderr
        assert "Traceback" not in third.stderr
    finally:
        assert stop(second) == 0


def test_two_run_side_by_side_against_the_first_ones_servers(stack: Running, tmp_path: Path) -> None:
    second = start(tmp_path / "other", **stack.servers)
    try:
        assert second.database_url == stack.database_url
        second.redis.xadd("turns", {"user_id": "side", "text": "I live in Bern."})
        second.wait()
        assert stack.recall("side", "where do I live?")["cards"][0]["value"] == "Bern"
    finally:
        assert stop(second) == 0


@pytest.mark.parametrize(
    ("arguments", "environment", "said"),
    [
        (["recall", "--user", "u", "x"], {}, "no Cardlog runs here; start one with: cardlog up"),
        (["up"], {"CARDLOG_BATCH_TURNS": "many"}, "CARDLOG_BATCH_TURNS is 'many': use a whole number"),
        (["work", "recorder"], {}, "CARDLOG_DATABASE_URL is not set"),
        (["push", "/does/not/exist"], {"CARDLOG_REDIS_URL": "redis://127.0.0.1:1"}, "cannot be read"),
        (["when", "soon", "--at", "today"], {}, "is not ISO 8601"),
    ],
)
def test_errors_are_one_sentence_with_the_remedy(
    arguments: list[str], environment: dict[str, str], said: str
) -> None:
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(
            [*COMMAND, *arguments], capture_output=True, text=True, timeout=60,
            env=clean_environment() | {"HOME": home, "CARDLOG_DATA": home} | environment,
        )  # fmt: skip
    assert done.returncode != 0
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_the_demo_answers_its_ten_questions() -> None:
    done = subprocess.run(
        [*COMMAND, "demo"], capture_output=True, text=True, timeout=200, env=clean_environment()
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "10 of 10 questions answered rightly" in done.stdout
