"""Log lines are JSON objects or text, and hold no words of a user."""

import logging
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import psycopg
import pytest

from deploy import logs
from events.platform.database import Connection
from events.platform.settings import Settings
from events.store import log
from tests.support.stack import COMMAND, clean_environment


def written(
    capsys: pytest.CaptureFixture[str],
    log_format: Literal["text", "json"],
    say: Callable[[logging.Logger], None],
) -> str:
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    root.handlers.clear()
    try:
        logs.configure_logging(Settings(log_format=log_format), "projector")
        say(logging.getLogger("projectors.parking"))
    finally:
        root.handlers[:] = before
        root.setLevel(level)
        logging.captureWarnings(False)
    return capsys.readouterr().err


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_the_log_says_what_failed_and_not_what_somebody_said(
    capsys: pytest.CaptureFixture[str], connection: Connection, log_format: Literal["text", "json"]
) -> None:
    connection.execute("CREATE TEMPORARY TABLE secrets (words text CHECK (words = 'fine'))")
    words, details = "my diagnosis", list[str]()

    def say(logger: logging.Logger) -> None:
        try:
            connection.execute("INSERT INTO secrets VALUES (%s)", (words,))
        except psycopg.Error as error:
            details.append(str(error))
            logger.warning("cannot go on: %s", log.reason_of(error), exc_info=True)

    text = written(capsys, log_format, say)
    assert words in details[0]
    assert "CheckViolation" in text
    assert Path(__file__).name in text
    assert words not in text


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
