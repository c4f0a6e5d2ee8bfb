"""Copies rows into a table. PostgreSQL refuses COPY into a table with row-level security; such rows take a detour."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg.rows import tuple_row
from psycopg.sql import SQL, Identifier

from events.platform.database import Connection
from events.platform.sql import statement

_PACKAGE = "events.store"


@contextmanager
def copying(connection: Connection, table: str, copy: SQL) -> Iterator[psycopg.Copy]:
    """Yields a COPY into ``table``. ``copy`` is the statement, with ``{into}`` in the place of the table.

    When a policy applies to this role, the rows go into a temporary table first, and then by INSERT into ``table``.
    """
    with connection.cursor(row_factory=tuple_row) as cursor:
        found = cursor.execute(statement(_PACKAGE, "row_security"), {"table": table}).fetchone()
        assert found is not None, "a COPY names a table that exists"
        protected, columns = found
        into = Identifier(*table.split("."))
        if not protected:
            with cursor.copy(copy.format(into=into)) as copied:
                yield copied
            return
        names = {
            "into": into,
            "staged": Identifier(f"staged_{table.rpartition('.')[2]}"),
            "columns": SQL(", ").join(map(Identifier, columns)),
        }
        with connection.transaction():
            cursor.execute(statement(_PACKAGE, "create_staged").format(**names))
            with cursor.copy(copy.format(into=names["staged"])) as copied:
                yield copied
            cursor.execute(statement(_PACKAGE, "move_staged").format(**names))
            cursor.execute(statement(_PACKAGE, "empty_staged").format(**names))
