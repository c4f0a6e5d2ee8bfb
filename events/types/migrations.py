"""The event that another memory was migrated, and the mark of the turns that come from it."""

from dataclasses import dataclass
from functools import lru_cache

import orjson

from events.types.codec import event_type

STREAM = "migrations"
APPLY_FROM = 0.8
"""The confidence from which a value applies at once, unless the caller says otherwise."""
_MEMBER = "cardlog"
_SOURCE = "migrated_from"
_NAME = "user_name"


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Migrated:
    """Where a turn comes from. Its values below the confidence ``apply_from`` wait for an approval.

    ``notes``: another memory wrote the words about the user. Without it the words are those of a conversation.
    ``user_name`` is what the notes call the user.
    """

    source: str
    apply_from: float = APPLY_FROM
    notes: bool = True
    user_name: str | None = None

    def metadata(self) -> dict[str, object]:
        """Returns the metadata of a turn with this mark."""
        mark = {_SOURCE: self.source, "apply_from": self.apply_from, "notes": self.notes}
        return {_MEMBER: mark if self.user_name is None else mark | {_NAME: self.user_name}}


@lru_cache(maxsize=4096)
def migrated(metadata: str | None) -> Migrated | None:
    """Returns the mark in the metadata of a turn or card. None: the turn is one of a conversation with Cardlog."""
    if metadata is None or _SOURCE not in metadata:
        return None
    mark = orjson.loads(metadata).get(_MEMBER)
    if not isinstance(mark, dict):
        return None
    source, apply_from, notes = mark.get(_SOURCE), mark.get("apply_from"), mark.get("notes")
    if not isinstance(source, str) or not isinstance(apply_from, int | float) or not isinstance(notes, bool):
        return None
    name = mark.get(_NAME)
    return Migrated(
        source=source, apply_from=apply_from, notes=notes, user_name=name if isinstance(name, str) else None
    )
