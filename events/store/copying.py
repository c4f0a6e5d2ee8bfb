"""Copies rows into a table. PostgreSQL refuses COPY into a table with row-level security; such rows take a detour."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext

import psycopg
from psycopg.pq import TransactionStatus
from psycopg.rows import tuple_row
from psycopg.sql import SQL, Composed, Identifier

from events.platform.database import Connection, statement

_PACKAGE = "events.store"
_FEW = 100  # rows
_MOST_BYTES = 256 * 1024  # of a temporary table that rows were deleted from


@contextmanager
def copying(
    connection: Connection, table: str, copy: SQL, columns: Sequence[str] = ()
) -> Iterator[psycopg.Copy]:
    """Yields a COPY into ``table``. ``copy`` is the statement, with ``{into}`` in the place of the table.

    ``{columns}``, if it is there, stands for ``columns``.

    When a policy applies to this role, the rows go into a temporary table first, and then by INSERT into ``table``.
    """
    staged = f"staged_{table.rpartition('.')[2]}"
    with connection.cursor(row_factory=tuple_row) as cursor:
        asked = {"table": table, "staged": f"pg_temp.{staged}"}
        found = cursor.execute(statement(_PACKAGE, "row_security"), asked).fetchone()
        assert found is not None, "a COPY names a table that exists"
        protected, present, size = found
        into, wanted = Identifier(*table.split(".")), _listed(columns)
        if not protected:
            with cursor.copy(copy.format(into=into, columns=wanted)) as copied:
                yield copied
            return
        names = {"into": into, "staged": Identifier(staged), "columns": _listed(present)}
        with _within(connection):
            if size is None:
                cursor.execute(statement(_PACKAGE, "create_staged").format(**names))
            with cursor.copy(copy.format(into=names["staged"], columns=wanted)) as copied:
                yield copied
            if cursor.rowcount <= _FEW and (size or 0) <= _MOST_BYTES:
                cursor.execute(statement(_PACKAGE, "move_few_staged").format(**names))
            else:
                cursor.execute(statement(_PACKAGE, "move_staged").format(**names))
                cursor.execute(statement(_PACKAGE, "empty_staged").format(**names))


def _within(connection: Connection) -> AbstractContextManager[object]:
    """Returns the transaction of the caller, or a new one."""
    idle = connection.info.transaction_status == TransactionStatus.IDLE
    return connection.transaction() if idle else nullcontext()


def _listed(columns: Sequence[str]) -> Composed:
    return SQL(", ").join(map(Identifier, columns))
