"""The beginning of a migration: its turns are checked, and the log notes it."""

from __future__ import annotations

from datetime import datetime

from events.http.errors import invalid
from events.platform.database import Connection
from events.types.codec import Payload
from events.types.migrations import STREAM, MemoryMigrated
from events.types.turn_contract import TurnInvalidError, parse_turn
from ingest.core.aggregate import CoreDocument
from ingest.decider import Command, Keyed, decide, dedupe_key
from ingest.migration.turns import Migration


def check(migration: Migration, now: datetime) -> None:
    """Raises a 422 problem for the first turn that breaks the turn contract. The number counts from 1."""
    for number, fields in enumerate(migration.turns.values(), 1):
        try:
            parse_turn(fields, entry_time=now, entry_id="0-0")
        except TurnInvalidError as error:
            raise invalid(error.field, f"of sentence {number} {error.reason}", sentence=number) from None


def begin(connection: Connection, migration: Migration, command: Command) -> None:
    """Notes the migration in the log, once for each text and key.

    Raises a 422 problem for an idempotency key of another command.
    """
    terms = migration.terms
    payload = MemoryMigrated(
        migration_id=migration.migration_id,
        source=terms.source,
        sentences=len(migration.turns),
        apply_from=terms.apply_from,
    )
    key = f"migration/{migration.migration_id}"
    if command.idempotency_key is not None:
        key = dedupe_key(CoreDocument.keyed, command.idempotency_key)

    def is_repeat(first: Payload) -> bool:
        same = isinstance(first, MemoryMigrated) and first.migration_id == payload.migration_id
        return same or command.idempotency_key is None

    decide(Keyed(connection, terms.owner, STREAM, command, key), lambda _: payload, is_repeat)
