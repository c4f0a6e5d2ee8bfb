"""Rows of the log, also where one of them holds an instant that Python has no date for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import psycopg
from psycopg.abc import Buffer
from psycopg.rows import dict_row
from psycopg.sql import SQL
from psycopg.types.datetime import TimestamptzLoader


class _AsWritten(TimestamptzLoader):
    """The instant, or its text where Python cannot hold it: the server's years go on after 9999, and have no end."""

    def load(self, data: Buffer) -> Any:
        try:
            return super().load(data)
        except psycopg.DataError:
            return bytes(data).decode()


def rows_of(
    connection: psycopg.Connection[Any], query: SQL, parameters: Mapping[str, object]
) -> list[dict[str, Any]]:
    """All rows of ``query``, which only reads. An instant that Python has no date for comes as the text of it.

    One such row costs asking twice, and hides none of the others.
    """
    with connection.cursor(row_factory=dict_row) as cursor:
        cursor.execute(query, parameters)
        try:
            return cursor.fetchall()
        except psycopg.DataError:
            # The driver's complaint, not the server's: the transaction goes on.
            pass
    with connection.cursor(row_factory=dict_row) as cursor:
        cursor.adapters.register_loader("timestamptz", _AsWritten)
        return cursor.execute(query, parameters).fetchall()
