"""A log line names its process."""

import subprocess

import pytest

from tests.support.stack import COMMAND, clean_environment


@pytest.mark.parametrize(
    ("words", "name"),
    [(["work", "recorder"], "recorder"), (["serve", "write", "--port", "0"], "serve write")],
)
def test_a_process_that_runs_alone_is_named_as_in_a_stack(words: list[str], name: str) -> None:
    nowhere = {
        "CARDLOG_DATABASE_URL": "postgresql://x@127.0.0.1:1/x",
        "CARDLOG_REDIS_URL": "redis://127.0.0.1:1",
    }
    environment = clean_environment() | nowhere
    with subprocess.Popen([*COMMAND, *words], env=environment, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr is not None
            assert f" WARNING {name}: " in process.stderr.readline()
        finally:
            process.kill()
