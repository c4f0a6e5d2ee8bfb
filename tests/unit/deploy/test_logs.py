"""Lines of the log, and the progress that commands show."""

import json
import logging
import os
import warnings
from collections.abc import Callable, Iterator
from datetime import datetime
from io import StringIO
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from rich.console import Console

from deploy import logs
from deploy.environment import load_settings
from deploy.progress import Progress

Say = Callable[[logging.Logger], None]


@pytest.fixture
def written(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Callable[[str, str, Say], str]]:
    """Returns what ``say`` writes through the logger of a name, in a log format."""
    for name in [name for name in os.environ if name.startswith("CARDLOG_")]:
        monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    root = logging.getLogger()
    before, level = root.handlers[:], root.level

    def write(log_format: str, name: str, say: Say) -> str:
        root.handlers.clear()
        settings = load_settings({"CARDLOG_LOG_FORMAT": log_format})
        logs.configure_logging(settings, "projector")
        say(logging.getLogger(name))
        return capsys.readouterr().err

    yield write
    root.handlers[:] = before
    root.setLevel(level)
    logging.captureWarnings(False)


REFUSED = "no answer from redis://ann:hunter2@h:1/0\nDETAIL: my diagnosis"


def failing(logger: logging.Logger) -> None:
    try:
        raise ConnectionError(REFUSED)
    except ConnectionError:
        logger.warning(
            "gone: %s", "postgresql://ann:hunter2@h/db", exc_info=True, extra={"url": "http://a:hunter2@h"}
        )


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_a_failure_is_logged_with_its_place_and_without_secrets_or_rows(
    written: Any, log_format: str
) -> None:
    text = written(log_format, "events.platform.database", failing)
    assert "gone: postgresql://***@h/db" in text
    assert "ConnectionError: no answer from redis://***@h:1/0" in text
    assert "test_logs.py" in text
    assert "hunter2" not in text
    assert "diagnosis" not in text


def test_an_outage_writes_ten_lines_of_one_place_and_counts_the_others(
    written: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr("deploy.logs.time.monotonic", lambda: now[0])

    def say(logger: logging.Logger) -> None:
        for number in range(60):
            now[0] += 11 if number == 50 else 0
            logger.warning("away: %d\nof 60", number)
        logger.warning("another place")

    lines = written("text", "serve", say).splitlines()
    assert [line.partition("away: ")[2][:2].strip() for line in lines] == [
        *map(str, [*range(10), *range(50, 60)]), "",
    ]  # fmt: skip
    assert lines[9].endswith("9 of 60 (more of these lines within 10 s are only counted)")
    assert lines[10].endswith("50 of 60 (40 more of these lines were left out before)")


def test_a_line_for_people_is_time_level_process_and_message(written: Any) -> None:
    [line] = written("text", "uvicorn", lambda logger: logger.info("started %d", 3)).splitlines()
    assert line[24:] == "INFO    projector: started 3"


def test_fields_are_keys_and_cannot_take_the_place_of_ours(written: Any) -> None:
    extra = {"took_ms": 3, "pid_of": 1, "level": "none", "time": "never", "event": "mine"}
    [line] = written(
        "json", "ingest.recording.recorder", lambda logger: logger.info("done", extra=extra)
    ).splitlines()
    document = json.loads(line)
    assert document["took_ms"] == 3
    assert document["level"] == "info"
    assert document["time"] != "never"
    assert document["message"] == "done"


def test_libraries_are_formatted_alike_and_only_known_fields_are_taken_from_them(written: Any) -> None:
    extra = {"words": "my diagnosis", "partition": 4}
    [line] = written("json", "library", lambda logger: logger.error("bad", extra=extra)).splitlines()
    document = json.loads(line)
    assert (document["partition"], document["logger"], document["level"]) == (4, "library", "error")
    assert (document["process"], document["pid"]) == ("projector", os.getpid())
    assert datetime.fromisoformat(document["time"]).tzinfo is not None
    assert "diagnosis" not in line


def test_warnings_of_python_are_lines_too(written: Any) -> None:
    def say(_: logging.Logger) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            logging.captureWarnings(True)
            warnings.warn("old api", stacklevel=1)
            logging.captureWarnings(False)

    [line] = written("json", "py", say).splitlines()
    assert json.loads(line)["logger"] == "py.warnings"


@pytest.mark.parametrize("odd", ["\ud800", 2**70, object, b"\xff", {1: "a"}, UUID(int=1)])
def test_every_field_becomes_one_line_of_json(written: Any, odd: object) -> None:
    [line] = written("json", "ingest", lambda logger: logger.info("%s", "x", extra={"odd": odd})).splitlines()
    assert json.loads(line)["message"] == "x"


def test_plain_lines_where_there_is_no_terminal() -> None:
    told = StringIO()
    with Progress("turns", console=Console(file=told, width=20), every_s=0.0) as progress:
        progress(500, 2000)
        progress(1000, 2000)
    lines = told.getvalue().splitlines()
    assert [line.partition(",")[0] for line in lines] == ["500 turns", "1"]
    assert "50 % of 2,000" in lines[1]
    assert "\x1b" not in told.getvalue()


def test_no_more_lines_than_wanted_and_one_for_each_part() -> None:
    told = StringIO()
    with Progress("events", console=Console(file=told), every_s=3600.0) as progress:
        for part in ("folding", "indexing"):
            for done in range(100):
                progress(done, 100, doing=part)
    lines = told.getvalue().splitlines()
    assert [line.partition(":")[0] for line in lines] == ["folding", "indexing"]
    assert all("0 events, 0/s" in line for line in lines)  # no rate before there is one


def test_a_bar_on_a_terminal_that_is_gone_afterwards_even_after_an_error() -> None:
    told = StringIO()
    terminal = Console(file=told, force_terminal=True, width=120)

    def half() -> None:
        with Progress("bytes", console=terminal) as progress:
            progress(512, 1024)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        half()
    text = told.getvalue()
    assert "50%" in text
    assert "0.5/1.0 kB" in text
    assert text.endswith("\x1b[2K")  # the line of the bar is wiped
