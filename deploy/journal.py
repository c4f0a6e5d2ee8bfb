"""The journal every process keeps on standard error: lines for people, or JSON objects for machines.

Neither holds what somebody said, nor a secret: ids and places say which turn or event is meant.
"""

from __future__ import annotations

import logging
import sys
import traceback
from datetime import UTC, datetime
from types import TracebackType

import orjson

from events.settings import Settings

_NOISY = ("httpx", "uvicorn.error", "psycopg.pool")
FIELDS = ("stage", "turn_id", "entry_id", "event_id", "partition", "position", "field")

_ExcInfo = tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]


def keep(settings: Settings, process: str) -> None:
    """Write everything logged in this process to standard error, as ``settings`` want it."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Lines(process) if settings.log_format == "text" else _Objects(process))
    logging.basicConfig(level=settings.log_level.upper(), handlers=[handler])
    logging.captureWarnings(True)
    for name in _NOISY:
        logging.getLogger(name).setLevel(logging.WARNING)


def _first_line(error: BaseException) -> str:
    """What an error says, without the further lines in which a database quotes the row it refused."""
    text = str(error).partition("\n")[0]
    name = type(error).__qualname__
    return f"{name}: {text}" if text else name


class _Lines(logging.Formatter):
    def __init__(self, process: str) -> None:
        super().__init__("%(asctime)s %(levelname)-7s %(process_name)s: %(message)s")
        self._process = process

    def format(self, record: logging.LogRecord) -> str:
        record.process_name = self._process
        return super().format(record)

    def formatException(self, ei: _ExcInfo) -> str:
        """Where it happened, cause first."""
        lines: list[str] = []
        error = ei[1]
        seen: set[int] = set()
        while error is not None and id(error) not in seen:
            seen.add(id(error))
            frames = "".join(traceback.format_tb(error.__traceback__))
            lines.insert(0, f"{frames}{_first_line(error)}")
            error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        return "\n".join(lines)


class _Objects(_Lines):
    def format(self, record: logging.LogRecord) -> str:
        document: dict[str, object] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "process": self._process,
            "pid": record.process,
            "logger": record.name,
            "message": record.getMessage(),
        }
        for name in FIELDS:
            if hasattr(record, name):
                document[name] = getattr(record, name)
        if record.exc_info and record.exc_info[1] is not None:
            document["error"] = _first_line(record.exc_info[1])
            document["traceback"] = self.formatException(record.exc_info)
        return orjson.dumps(document, default=str).decode()
