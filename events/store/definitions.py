"""Compares the functions and triggers that guard the log with those of the migrations."""

from __future__ import annotations

import re
import secrets

import psycopg
from psycopg import sql

from events.platform.database import migration_texts
from events.platform.sql import statement
from events.store.log import Connection

_SCHEMA = re.compile(r"\blog\.")
_QUALIFIED = "log."


class DefinitionsUnknownError(RuntimeError):
    """The definitions cannot be compared. The message names reason and remedy."""


def differences(connection: Connection) -> list[str]:
    """Returns the functions, triggers, columns, constraints and indexes of the log that differ from the migrations.

    The migrations run once more, in another schema, in a transaction that is rolled back. The same server prints both
    sets of definitions, so the result does not depend on its version. Raises :class:`DefinitionsUnknownError` for a
    role that may not create a schema, and for a standby.
    """
    schema = f"log_expected_{secrets.token_hex(6)}"
    try:
        with connection.transaction(force_rollback=True):
            # Without a search path both sets name other schemas in full.
            connection.execute(statement("events.store", "bare_search_path"))
            found = _definitions(connection, "log")
            connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
            for text in migration_texts():
                connection.execute(sql.SQL(_SCHEMA.sub(f"{schema}.", text)))
            expected = {
                _as_log(name, schema): _as_log(definition, schema)
                for name, definition in _definitions(connection, schema).items()
            }
    except (psycopg.errors.InsufficientPrivilege, psycopg.errors.ReadOnlySqlTransaction) as error:
        raise DefinitionsUnknownError(
            f"the guards of the log were not compared: {error.diag.message_primary}; "
            "use a role that may create schemas in this database, on the primary"
        ) from error
    return [
        f"{name}: {_what(name in found, name in expected)}"
        for name in sorted({*found, *expected})
        if found.get(name) != expected.get(name)
    ]


def _what(found: bool, expected: bool) -> str:
    if found and expected:
        return "is not as the migrations made it"
    return "was added" if found else "is missing"


def _as_log(text: str, schema: str) -> str:
    return text.replace(f"{schema}.", _QUALIFIED)


def _definitions(connection: Connection, schema: str) -> dict[str, str]:
    return dict(connection.execute(statement("events.store", "definitions"), {"schema": schema}).fetchall())
