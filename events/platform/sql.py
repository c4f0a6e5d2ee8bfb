"""Named SQL files, read once: statements live beside the code that runs them, never inside it."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from psycopg.sql import SQL

# What is quoted stays as it is; comments and the width of white space are for readers of the files.
_TOKEN = re.compile(r"('[^']*'|\"[^\"]*\"|\$\$.*?\$\$)|(?:--[^\n]*|\s)+", re.DOTALL)


class _Files(dict[str, Traversable]):
    def __missing__(self, name: str) -> Traversable:
        raise FileNotFoundError(f"there is no statement {name!r} among {sorted(self)}")


@cache
def _files(package: str) -> _Files:
    """The files of a package's statements by name, which is unique in the package."""
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
    """The statement ``<name>.sql`` in the folder ``sql`` of a package, or in a folder of that.

    The statement has as few characters as it takes: a driver keeps what it learnt of a short statement, and reads a
    long one anew each time. Raises FileNotFoundError for a name that is not there.
    """
    text = _files(package)[name].read_text("utf-8")
    return SQL(_TOKEN.sub(lambda token: token[1] or " ", text))
