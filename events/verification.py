"""Proof that the log is what was appended: no hole, no change, nothing out of order."""

from __future__ import annotations

from dataclasses import dataclass

from events.envelope import PARTITIONS
from events.log import Connection
from events.sql import statement


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found: at most one fault a partition, its first."""

    events: int
    faults: tuple[str, ...]


def verify(connection: Connection) -> Verification:
    """Check every partition against its digest chain and its head, partition by partition.

    The chain is recomputed by the server from the stored columns; the first position whose digest does
    not follow from the one before is named. Reads only, and takes memory independent of the log's size.
    """
    total, faults = 0, []
    for partition in range(PARTITIONS):
        row = connection.execute(statement("events", "verify_partition"), {"partition": partition}).fetchone()
        assert row is not None
        count, hole, broken, last, last_digest, head, head_digest = row
        total += count
        first_bad = min((position for position in (hole, broken) if position is not None), default=None)
        if first_bad is not None:
            what = "is missing" if first_bad == hole else "was changed, or stands in another's place"
            faults.append(f"partition {partition}, position {first_bad}: {what}")
        elif last != head:
            faults.append(f"partition {partition}, position {last + 1}: is missing, the head says {head}")
        elif last_digest is not None and last_digest != head_digest:
            faults.append(f"partition {partition}, position {last}: its digest is not the head's")
    return Verification(total, tuple(faults))
