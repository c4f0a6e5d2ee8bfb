"""The tables of a generation of vectors, also those that a generation of an older build lacks."""

from __future__ import annotations

from typing import Literal, get_args

from events.platform.database import Connection
from projectors.generations.generations import run_step

Later = Literal["pending_table", "blocked_table", "reembeddings_table", "spaces_table"]
TABLES: tuple[str, ...] = ("cache_tables", "tables", *get_args(Later))


def complete(connection: Connection, name: Later) -> None:
    """Makes a table that the generation first on the search path lacks."""
    run_step(connection, None, "tables", TABLES.index(name))
