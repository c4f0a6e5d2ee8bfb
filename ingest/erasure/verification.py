"""Checks a receipt against the log: the tombstones are there, and the erased words cannot be read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import UUID

from events.platform.database import Connection
from events.platform.sql import statement
from events.store.log import read
from events.store.rows import rows_of
from events.types.envelope import Event
from events.types.tombstones import SubjectErased
from ingest.erasure.selection import events_of, is_readable


def faults(connection: Connection, receipt: dict[str, object]) -> list[str]:
    """Returns the reasons why ``receipt`` does not hold for this log. An empty list means that it holds."""
    return list(_faults(connection, receipt))


def _faults(connection: Connection, receipt: dict[str, Any]) -> Iterator[str]:
    erasure_id = UUID(receipt["erasure_id"])
    for place in receipt["log"]:
        where = f"partition {place['partition']}, position {place['position']}"
        row = connection.execute(
            statement("events.store", "digest_at"),
            {"partition": place["partition"], "position": place["position"]},
        ).fetchone()
        if row is None:
            yield f"{where}: is missing in this log; an older backup was restored, run `cardlog erase --replay`"
        elif bytes(row[0]).hex() != place["head_after"]:
            yield f"{where}: has another digest than the receipt; this is another log"
        elif (found := _at(connection, place["partition"], place["position"])) is None or not _is_of(
            found, erasure_id
        ):
            yield f"{where}: is not the event of this erasure"
    rows = rows_of(connection, statement("ingest.erasure", "tombstones_of"), {"erasure_id": erasure_id})
    if len(rows) != receipt["users"]:
        yield f"this database knows the erasure for {len(rows)} of {receipt['users']} users"
    for row in rows:
        named = None if row["events"] is None else set(row["events"])
        readable = sum(
            is_readable(event)
            for event in events_of(connection, row["user_id"])
            if (event.position < row["position"] if named is None else event.event_id in named)
        )
        if readable:
            yield f"{readable} erased events can be read; run `cardlog erase --replay`"


def _at(connection: Connection, partition: int, position: int) -> Event | None:
    found = read(connection, partition, after=position - 1, limit=1)
    return found[0] if found and found[0].position == position else None


def _is_of(event: Event, erasure_id: UUID) -> bool:
    return not is_readable(event) or (
        isinstance(event.payload, SubjectErased) and event.payload.erasure_id == erasure_id
    )
