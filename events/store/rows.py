"""Reads rows of the log, also rows with an instant that no Python date can hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import psycopg
from psycopg.abc import Buffer
from psycopg.rows import dict_row
from psycopg.sql import SQL
from psycopg.types.datetime import TimestamptzLoader

from events.platform.database import Connection, Row


class _AsWritten(TimestamptzLoader):
    """Loads an instant as a date, or as text when Python cannot hold it. The server has years after 9999."""

    def load(self, data: Buffer) -> Any:
        try:
            return super().load(data)
        except psycopg.DataError:
            return bytes(data).decode()


def rows_if_folded(connection: Connection, query: SQL, parameters: Mapping[str, object]) -> list[Row]:
    """Returns all rows of ``query``, and none before the first fold made its tables."""
    try:
        with connection.transaction():
            return rows_of(connection, query, parameters)
    except psycopg.errors.UndefinedTable:
        return []


def rows_of(connection: Connection, query: SQL, parameters: Mapping[str, object]) -> list[Row]:
    """Returns all rows of ``query``, which only reads. An instant that no Python date can hold comes as text.

    Such an instant makes the query run twice. The other rows are returned, too.
    """
    with connection.cursor(row_factory=dict_row) as cursor:
        cursor.execute(query, parameters)
        try:
            return cursor.fetchall()
        except psycopg.DataError:
            # The driver raised the error, not the server. The transaction is still good.
            pass
    with connection.cursor(row_factory=dict_row) as cursor:
        cursor.adapters.register_loader("timestamptz", _AsWritten)
        return cursor.execute(query, parameters).fetchall()
