"""The beginning of a migration: its turns are checked, and the log notes it."""

from __future__ import annotations

from datetime import datetime

from events.http.errors import invalid
from events.references.reference_log import first_event
from events.store import log
from events.store.log import Connection
from events.types.envelope import NewEvent, uuid7
from events.types.migrations import STREAM, MemoryMigrated
from events.types.turn_contract import TurnInvalidError, parse_turn
from ingest.core.appending import dedupe_key, other_command
from ingest.migration.turns import Migration


def check(migration: Migration, now: datetime) -> None:
    """Raises a 422 problem for the first turn that breaks the turn contract. The number counts from 1."""
    for number, fields in enumerate(migration.turns.values(), 1):
        try:
            parse_turn(fields, entry_time=now, entry_id="0-0")
        except TurnInvalidError as error:
            raise invalid(error.field, f"of sentence {number} {error.reason}", sentence=number) from None


def begin(
    connection: Connection, migration: Migration, actor: str, now: datetime, idempotency_key: str | None
) -> None:
    """Notes the migration in the log, once for each text and key.

    Raises a 422 problem for an idempotency key of another command.
    """
    terms = migration.terms
    key = f"migration/{migration.migration_id}"
    if idempotency_key is not None:
        key = dedupe_key(idempotency_key)
    payload = MemoryMigrated(
        migration_id=migration.migration_id,
        source=terms.source,
        sentences=len(migration.turns),
        apply_from=terms.apply_from,
    )
    event = NewEvent(
        event_id=uuid7(),
        user_id=terms.owner,
        stream=STREAM,
        payload=payload,
        occurred_at=now,
        actor=actor,
        dedupe_key=key,
    )
    [place] = log.append(connection, [event])
    if place.duplicate and idempotency_key is not None:
        first = first_event(connection, terms.owner, key)
        before = None if first is None else first.payload
        if not isinstance(before, MemoryMigrated) or before.migration_id != payload.migration_id:
            raise other_command()
