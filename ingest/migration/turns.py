"""The turns of a migration, and its note in the log.

Equal sentences of one user have one turn id, so the log takes each of them once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from events.http.errors import invalid
from events.platform.database import Connection
from events.types.envelope import Payload
from events.types.metadata import MetadataInvalidError, metadata_text
from events.types.migrations import APPLY_FROM, STREAM, MemoryMigrated, Migrated
from events.types.queue_entry import QueueKey
from events.types.turn_contract import TurnInvalidError, parse_turn
from ingest.core.aggregate import CoreDocument
from ingest.decider import Command, Keyed, decide, dedupe_key
from ingest.migration.texts import Memory

PREFIX = "migrated"
"""What the turn ids of migrated sentences begin with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """How sentences are migrated. ``said_at`` is the instant of those that have none.

    ``user_name`` is what the sentences call the user.
    """

    user_id: str
    owner: str
    source: str
    said_at: datetime
    timezone: str = "UTC"
    apply_from: float = APPLY_FROM
    notes: bool = True
    user_name: str | None = None

    @property
    def mark(self) -> Migrated:
        return Migrated(
            source=self.source, apply_from=self.apply_from, notes=self.notes, user_name=self.user_name
        )


@dataclass(frozen=True, slots=True)
class Migration:
    """The turns to push, by turn id and in order, and the id of the whole text."""

    migration_id: str
    terms: Terms
    turns: dict[str, dict[str, str]]

    def part(self, turn_ids: Iterable[str]) -> Migration:
        """Returns the same migration with some of its turns."""
        return replace(self, turns={each: self.turns[each] for each in turn_ids})


def migration_of(memories: Sequence[Memory], terms: Terms, key: QueueKey) -> Migration:
    """Returns the turns of ``memories``, with one turn for equal ones. ``key`` is the key of the installation.

    Raises a 422 problem for a source or a name of the user that no turn can hold.
    """
    try:
        metadata = metadata_text(terms.mark.metadata()) or ""
    except MetadataInvalidError as error:
        raise invalid("source", f"and user_name cannot be kept: the mark of the turns {error}") from None
    turns: dict[str, dict[str, str]] = {}
    for each in memories:
        own = "" if each.at is None else each.at.isoformat()
        words = " ".join(each.text.split())
        turn_id = f"{PREFIX}/{key.digest_of(terms.owner, each.role, own, words)}"
        turns.setdefault(
            turn_id,
            {
                "user_id": terms.user_id,
                "text": each.text,
                "role": each.role,
                "session_id": f"migrated from {terms.source}",
                "said_at": (each.at or terms.said_at).isoformat(timespec="seconds"),
                "timezone": terms.timezone,
                "turn_id": turn_id,
                "metadata": metadata,
            },
        )
    return Migration(key.digest_of(terms.owner, terms.source, *turns), terms, turns)


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

    decide(Keyed(connection, STREAM, command, key), lambda _: payload, is_repeat)
