"""The log of every process on standard error: text lines for people, or JSON objects for machines.

A log line holds no words of a user and no secret. Ids and positions name the turn or event.
"""

import json
import logging
import os
import sys
import time
import traceback
from datetime import UTC, datetime
from pathlib import Path

import orjson

from deploy.environment import unknown_variables
from events.platform.settings import PROCESS, Settings, redacted

logger = logging.getLogger(__name__)

_NOISY = ("httpx", "httpx2", "uvicorn.error", "psycopg.pool")
_OURS = frozenset(("events", "ingest", "projectors", "retrieval", "deploy"))
_STANDARD = {*vars(logging.makeLogRecord({})), "message", "asctime", "taskName"}
_REPEATS_S, _MOST_REPEATS = 10.0, 10
FIELDS = ("stage", "turn_id", "entry_id", "event_id", "partition", "position", "field")
"""The ``extra=`` fields that are also taken from libraries. Other fields of a library may hold a user's words."""


def configure_logging(settings: Settings, process: str, *, data: Path | None = None) -> None:
    """Configures the log of this process: standard error, with the format and level of ``settings``.

    The command warns about unknown variables that look like settings. The processes that it starts do not repeat the
    warning. ``data`` is the data folder when it is not the default one.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Formatter(settings.log_format, process))
    handler.addFilter(_Repeats())
    logging.basicConfig(level=settings.log_level.upper(), handlers=[handler])
    logging.captureWarnings(True)
    for name in _NOISY:
        logging.getLogger(name).setLevel(logging.WARNING)
    if PROCESS not in os.environ:
        for sentence in unknown_variables(data):
            logger.warning("%s", sentence)


class _Repeats(logging.Filter):
    """Lets ten warnings of one place in the code pass within ten seconds, and counts the others.

    Without it, an outage writes a line for each request.
    """

    def __init__(self) -> None:
        super().__init__()
        self._places: dict[tuple[str, int], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno < logging.WARNING:
            return True
        place, now = (record.pathname, record.lineno), time.monotonic()
        since, count = self._places.get(place, (now, 0))
        if now - since >= _REPEATS_S:
            if count > _MOST_REPEATS:
                _add(record, f"{count - _MOST_REPEATS:,} more of these lines were left out before")
            since, count = now, 0
        self._places[place] = since, count + 1
        if count == _MOST_REPEATS - 1:
            _add(record, f"more of these lines within {_REPEATS_S:g} s are only counted")
        return count < _MOST_REPEATS


def _add(record: logging.LogRecord, words: str) -> None:
    record.msg, record.args = f"{record.getMessage()} ({words})", ()


class _Formatter(logging.Formatter):
    """Writes text lines, or JSON objects of the same facts."""

    def __init__(self, log_format: str, process: str) -> None:
        super().__init__()
        self._log_format = log_format
        self._process = process

    def format(self, record: logging.LogRecord) -> str:
        ours = record.name.partition(".")[0] in _OURS
        extra = {name: value for name, value in vars(record).items() if name not in _STANDARD}
        facts: dict[str, object] = {
            **{name: value for name, value in extra.items() if ours or name in FIELDS},
            "message": record.getMessage(),
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "process": self._process,
            "pid": record.process,
            "logger": record.name,
        }
        if record.exc_info and (error := record.exc_info[1]):
            facts |= {"error": _first_line(error), "traceback": _traceback(error)}
        facts = {name: redacted(value) if isinstance(value, str) else value for name, value in facts.items()}
        if self._log_format == "json":
            return _serialized(facts)
        words = " ".join(str(facts["message"]).splitlines())  # a library's message may have several lines
        line = f"{self.formatTime(record)} {record.levelname:<7} {self._process}: {words}"
        return f"{line}\n{facts['traceback']}" if "traceback" in facts else line


def _serialized(facts: dict[str, object]) -> str:
    try:
        return orjson.dumps(facts, default=str).decode()
    except TypeError:  # a lone surrogate, or a number of more than 64 bits
        return json.dumps(facts, default=str)


def _first_line(error: BaseException) -> str:
    """Returns the type and the first line of an error. In further lines a database quotes the refused row."""
    text = str(error).partition("\n")[0]
    name = type(error).__qualname__
    return f"{name}: {text}" if text else name


def _traceback(error: BaseException | None) -> str:
    """Returns the frames of the error and of its causes, the first cause first."""
    lines: list[str] = []
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        frames = "".join(traceback.format_tb(error.__traceback__))
        lines.insert(0, f"{frames}{_first_line(error)}")
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    return "\n".join(lines)
