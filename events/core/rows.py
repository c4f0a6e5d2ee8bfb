"""Rows of the tables of the document as states, changes and queue entries, and back."""

from dataclasses import asdict, fields
from uuid import UUID

import msgspec
import orjson

from events.core.feed import Trust
from events.core.state import Change, CoreState, QueueEntry
from events.platform.database import Row
from events.types.json_values import json_text
from events.types.records import learned

_ENTRY = learned(QueueEntry)
_ROW = ("queue_id", "status", "position", "queued_at")
_SAME = tuple(
    each.name for each in fields(Change) if each.name not in ("ops", "guards", "trust", "turn_ids", "others")
)


def state_of(row: Row, position: int) -> CoreState:
    """Returns the state of a row of ``documents`` or ``snapshots``, and the empty one when its columns are null."""
    if row["version"] is None:
        return CoreState(position=position)
    return CoreState(
        document=orjson.loads(row["document"]),
        marks=orjson.loads(row["marks"]),
        version=row["version"],
        position=max(position, row["position"]),
        updated_at=row["updated_at"],
    )


def state_values(user_id: str, state: CoreState) -> tuple[object, ...]:
    """Returns the values of a row of ``documents`` or ``snapshots``, in the order of its columns."""
    document, marks = json_text(state.document), json_text(state.marks)
    return (user_id, state.version, state.position, document, marks, state.updated_at)


def change_of(row: Row) -> Change:
    return Change(
        ops=orjson.loads(row["ops"]),
        guards=tuple(row["guards"]),
        trust=Trust(row["trust"]),
        turn_ids=tuple(row["turn_ids"]),
        others=tuple(row["others"]),
        **{name: row[name] for name in _SAME},
    )


def change_values(user_id: str, change: Change) -> tuple[object, ...]:
    """Returns the values of a row of ``changes``, in the order of its columns."""
    return (
        user_id, change.version, change.event_id, change.position, change.kind, json_text(list(change.ops)),
        list(change.guards), change.at, change.recorded_at,
        change.actor, int(change.trust), change.source,
        None if change.confidence is None else float(change.confidence), change.rationale, list(change.turn_ids),
        [str(each) for each in change.others],
    )  # fmt: skip


def entry_of(row: Row) -> QueueEntry:
    return msgspec.convert(orjson.loads(row["entry"]) | {name: row[name] for name in _ROW}, _ENTRY)


def entry_values(user_id: str, entry: QueueEntry) -> tuple[object, ...]:
    """Returns the values of a row of ``queue``, in the order of its columns."""
    members = asdict(entry)
    queue_id: UUID = members["queue_id"]
    values = (user_id, queue_id, entry.status, entry.position, entry.queued_at)
    for name in _ROW:
        del members[name]
    return (*values, json_text(members))
