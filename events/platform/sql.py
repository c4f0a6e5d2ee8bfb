"""Reads named SQL files, once each. The statements are in files beside the code that runs them."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from psycopg.sql import SQL

# Quoted text does not change. Comments and most white space are only for readers of the files.
_SPACE = r"(?:--[^\n]*+|\s)"
_TOKEN = re.compile(
    rf"('[^']*'|\"[^\"]*\"|\$\$.*?\$\$)|{_SPACE}*+(<=|>=|<>|=|,){_SPACE}*+|{_SPACE}++", re.DOTALL
)


class _Files(dict[str, Traversable]):
    def __missing__(self, name: str) -> Traversable:
        raise FileNotFoundError(f"there is no statement {name!r}: use one of {', '.join(sorted(self))}")


@cache
def _files(package: str) -> _Files:
    """Returns the SQL files of a package by name. A name is unique in its package."""
    found = _Files()
    folders = [files(package).joinpath("sql")]
    for folder in folders:
        for item in folder.iterdir():
            if item.is_dir():
                folders.append(item)
            elif item.name.endswith(".sql"):
                found[item.name.removesuffix(".sql")] = item
    return found


@cache
def statement(package: str, name: str) -> SQL:
    """Returns the statement ``<name>.sql`` in the folder ``sql`` of a package, or in a folder below it.

    The statement has no comments and little white space: psycopg caches its parse of a short statement, but parses a
    long one each time. Raises ``FileNotFoundError`` for an unknown name.
    """
    text = _files(package)[name].read_text("utf-8")
    return SQL(_TOKEN.sub(lambda token: token[1] or token[2] or " ", text))
