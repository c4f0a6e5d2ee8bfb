"""Compares the functions and triggers that guard the log with those of the migrations."""

import re
import secrets
from collections.abc import Sequence

import psycopg
from psycopg import sql

from events.platform.database import Connection, migration_texts, statement

_CREATED = re.compile(r"^CREATE SCHEMA (\w+);", re.MULTILINE)


class DefinitionsUnknownError(RuntimeError):
    """The definitions cannot be compared. The message names reason and remedy."""


def differences(connection: Connection) -> list[str]:
    """Returns the functions, triggers, columns, constraints and indexes that differ from the migrations.

    The guarded schemas are that of the log and every schema that a migration creates. The migrations run once more,
    in other schemas, in a transaction that is rolled back. The same server prints both sets of definitions, so the
    result does not depend on its version. Raises :class:`DefinitionsUnknownError` for a role that may not create a
    schema, and for a standby.
    """
    texts = migration_texts()
    schemas = ["log", *(name for text in texts for name in _CREATED.findall(text))]
    mark = f"_expected_{secrets.token_hex(6)}"
    ours = re.compile(rf"\b(CREATE SCHEMA )?({'|'.join(schemas)})(?=\.|;)")
    try:
        with connection.transaction(force_rollback=True):
            # Without a search path both sets name other schemas in full.
            connection.execute(statement("events.store", "bare_search_path"))
            found = _definitions(connection, schemas)
            connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(f"log{mark}")))
            for text in texts:
                connection.execute(sql.SQL(ours.sub(rf"\1\2{mark}", text)))
            expected = _definitions(connection, schemas, mark)
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


def _definitions(connection: Connection, schemas: Sequence[str], mark: str = "") -> dict[str, str]:
    """Returns the definitions in ``schemas`` by name. ``mark`` is the end of the schemas' names in the database."""
    found: dict[str, str] = {}
    for schema in schemas:
        rows = connection.execute(statement("events.store", "definitions"), {"schema": schema + mark})
        for name, definition in rows:
            found[name if schema == "log" else f"{schema}: {name}"] = definition
    return {name.replace(mark, ""): text.replace(mark, "") for name, text in found.items()}
