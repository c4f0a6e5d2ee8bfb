"""Named SQL files, read once: statements live beside the code that runs them, never inside it."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from psycopg.sql import SQL

# What is quoted stays as it is; comments and the width of white space are for readers of the files.
_TOKEN = re.compile(r"('[^']*'|\"[^\"]*\"|\$\$.*?\$\$)|(?:--[^\n]*|\s)+", re.DOTALL)


@cache
def statement(package: str, name: str) -> SQL:
    """The statement in ``<package>/sql/<name>.sql``, in as few characters as it takes: a driver keeps what it learnt
    of a short statement, and reads a long one anew each time. Raises FileNotFoundError for a name that is not there.
    """
    text = files(package).joinpath("sql", f"{name}.sql").read_text("utf-8")
    return SQL(_TOKEN.sub(lambda token: token[1] or " ", text))
