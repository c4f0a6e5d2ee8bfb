"""Proof that the log is what was appended: no hole, no change, nothing out of order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import psycopg

from events.envelope import PARTITIONS
from events.log import Connection
from events.sql import statement

SEED = sha256(b"").digest()  # what the digest of a partition's first event follows on
_SLICE = 10_000


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found: at most one fault a partition, its first."""

    events: int
    faults: tuple[str, ...]


def verify(
    connection: Connection, progress: Callable[[int], None] = lambda done: None, *, slice_events: int = _SLICE
) -> Verification:
    """Check every partition against its digest chain and its head, slice by slice.

    The chain is recomputed by the server from the stored columns; the first position whose digest does
    not follow from the one before is named. Reads only, holds no snapshot while writers go on, and takes
    memory independent of the log's size. ``progress`` is told how many events were checked so far.
    """
    total, faults = 0, []
    for partition in range(PARTITIONS):
        done = total

        def told(count: int, done: int = done) -> None:
            progress(done + count)

        count, fault = _partition(connection, partition, told, slice_events)
        total += count
        if fault is not None:
            faults.append(f"partition {partition}, position {fault}")
    return Verification(total, tuple(faults))


def _partition(
    connection: Connection, partition: int, progress: Callable[[int], None], limit: int
) -> tuple[int, str | None]:
    """How many events were checked, and the first fault."""
    row = _one(connection, "head", {"partition": partition})
    if row is None:
        return 0, "0: the partition has no head"
    head, head_digest = row
    position, digest = 0, SEED
    while position < head:
        where = {"partition": partition, "after": position, "head": head, "limit": limit, "digest": digest}
        try:
            found = _one(connection, "verify_slice", where)
        except psycopg.InternalError as error:
            # Damage below the rows: checksums, lengths. The server does not say which row it was.
            return position, f"{position + 1} or after: cannot be read: {error.diag.message_primary}"
        assert found is not None
        count, hole, broken, last_digest = found
        first_bad = min((each for each in (hole, broken) if each is not None), default=None)
        if first_bad is not None:
            what = "is missing" if first_bad == hole else "was changed, or stands in another's place"
            return first_bad - 1, f"{first_bad}: {what}"
        position += count
        if count < min(limit, head - position + count):
            return position, f"{position + 1}: is missing, the head says {head}"
        digest = last_digest
        progress(position)
    if digest != head_digest:
        return position, f"{position}: its digest is not the head's"
    row = _one(connection, "behind_head", {"partition": partition})
    assert row is not None
    head, last = row
    if last is not None and last > head:
        return position, f"{head + 1}: stands behind the head"
    return position, None


def _one(connection: Connection, name: str, parameters: dict[str, object]) -> tuple[Any, ...] | None:
    return connection.execute(statement("events", name), parameters).fetchone()
