"""Copies rows into a table. PostgreSQL refuses COPY into a table with row-level security; such rows take a detour."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import psycopg
from psycopg.rows import tuple_row
from psycopg.sql import SQL, Composed, Identifier

from events.platform.database import Connection, statement

_PACKAGE = "events.store"


@contextmanager
def copying(
    connection: Connection, table: str, copy: SQL, columns: Sequence[str] = ()
) -> Iterator[psycopg.Copy]:
    """Yields a COPY into ``table``. ``copy`` is the statement, with ``{into}`` in the place of the table.

    ``{columns}``, if it is there, stands for ``columns``.

    When a policy applies to this role, the rows go into a temporary table first, and then by INSERT into ``table``.
    """
    with connection.cursor(row_factory=tuple_row) as cursor:
        found = cursor.execute(statement(_PACKAGE, "row_security"), {"table": table}).fetchone()
        assert found is not None, "a COPY names a table that exists"
        protected, present = found
        into, wanted = Identifier(*table.split(".")), _listed(columns)
        if not protected:
            with cursor.copy(copy.format(into=into, columns=wanted)) as copied:
                yield copied
            return
        names = {
            "into": into,
            "staged": Identifier(f"staged_{table.rpartition('.')[2]}"),
            "columns": _listed(present),
        }
        with connection.transaction():
            cursor.execute(statement(_PACKAGE, "create_staged").format(**names))
            with cursor.copy(copy.format(into=names["staged"], columns=wanted)) as copied:
                yield copied
            cursor.execute(statement(_PACKAGE, "move_staged").format(**names))
            cursor.execute(statement(_PACKAGE, "empty_staged").format(**names))


def _listed(columns: Sequence[str]) -> Composed:
    return SQL(", ").join(map(Identifier, columns))
