"""Reads named SQL statements, once each. The statements are in the folder of the code that runs them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

from psycopg.sql import SQL

# Quoted text does not change. Comments and most white space are only for readers of the files.
_SPACE = r"(?:--[^\n]*+|\s)"
_TOKEN = re.compile(
    rf"('[^']*'|\"[^\"]*\"|\$\$.*?\$\$)|{_SPACE}*+(<=|>=|<>|=|,){_SPACE}*+|{_SPACE}++", re.DOTALL
)
_NAME_LINE = re.compile(r"^--[ \t]*name[ \t]*:(.*)\n", re.MULTILINE)
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_EVENT = re.compile(r"\{event ([a-z]+)\}")
_EVENT_COLUMNS = files("events.platform").joinpath("event_columns.txt").read_text("utf-8").strip()


@cache
def statements(package: str) -> Mapping[str, str]:
    """Returns the text of each statement in the ``.sql`` files of a package, by name. A name is unique in its package.

    A statement begins with the line ``-- name: find_key`` and ends before the next such line. ``{event e}`` stands for
    the columns of ``log.events e`` that ``log.event_of`` takes. A statement ``find_key`` with ``{live}keys`` reads the
    first table on the search path, and ``live_find_key`` that of the schema with the name of the package. Raises
    ``ValueError`` for a name that is malformed or used twice, and for text without a name.
    """
    found: dict[str, str] = {}
    for file in sorted(files(package).iterdir(), key=lambda item: item.name):
        if not file.name.endswith(".sql"):
            continue
        head, *named = _NAME_LINE.split(file.read_text("utf-8"))
        if head.strip():
            raise ValueError(f"{file}: the text before the first name has no name: begin with `-- name: ...`")
        for name, text in zip(map(str.strip, named[::2]), named[1::2], strict=True):
            if not _NAME.fullmatch(name):
                raise ValueError(f"{file}: {name!r} is no name of a statement: use a-z, 0-9 and _")
            if name in found:
                raise ValueError(f"{file}: {package} has another statement {name!r}: use another name")
            whole = _EVENT.sub(lambda event: _EVENT_COLUMNS.replace("e.", f"{event[1]}."), text)
            found[name] = whole.replace("{live}", "")
            if "{live}" in whole:
                found[f"live_{name}"] = whole.replace("{live}", f"{package.rpartition('.')[2]}.")
    return found


@cache
def statement(package: str, name: str) -> SQL:
    """Returns a statement of a package.

    The statement has no comments and little white space: psycopg caches its parse of a short statement, but parses a
    long one each time. Raises ``LookupError`` for an unknown name.
    """
    known = statements(package)
    if name not in known:
        raise LookupError(
            f"{package} has no statement {name!r} in its .sql files: use one of {', '.join(sorted(known))}"
        )
    return SQL(_TOKEN.sub(lambda token: token[1] or token[2] or " ", known[name]))
