"""Named SQL files, read once: statements live beside the code that runs them, never inside it."""

from __future__ import annotations

from functools import cache
from importlib.resources import files

from psycopg.sql import SQL


@cache
def statement(package: str, name: str) -> SQL:
    """The statement in ``<package>/sql/<name>.sql``. Raises FileNotFoundError for a name that is not there."""
    text = files(package).joinpath("sql", f"{name}.sql").read_text("utf-8")
    return SQL(text)
