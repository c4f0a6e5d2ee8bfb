"""The event that another memory was migrated. Its sentences are turns of their own."""

from __future__ import annotations

from events.types.codec import event_type

STREAM = "migrations"


@event_type(version=1)
class MemoryMigrated:
    """The sentences of another memory were taken, as turns.

    ``migration_id`` is a keyed digest of the sentences, so the same text has the same id. ``source`` is where they come
    from. Values below the confidence ``apply_from`` wait for an approval.
    """

    migration_id: str
    source: str
    sentences: int
    apply_from: float
