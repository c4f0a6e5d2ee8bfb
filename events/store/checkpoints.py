"""Reads the log exactly once: claim partitions, read the new events, move the checkpoints with the work.

Everything happens inside one transaction of the caller. The rows of a processor and its checkpoints become visible
together or not at all.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from events.platform.database import Connection, rows_of, statement, tuples_of
from events.store.log import event_if_readable
from events.types.envelope import Event


class CheckpointMovedError(RuntimeError):
    """Another worker moved the checkpoint first. The caller rolls back and repeats the batch."""


class LogHoleError(RuntimeError):
    """A position behind the checkpoint is missing in the log. The log is corrupt."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A partition that is locked for this transaction. The events from ``position`` + 1 to ``head`` may be read."""

    partition: int
    position: int
    head: int


@dataclass(frozen=True, slots=True)
class Processor:
    """Names a processor by name and generation. Extractors and relays have generation 0."""

    name: str
    generation: int = 0

    def open(self, connection: Connection) -> None:
        """Creates the missing checkpoints of this processor, at position 0."""
        connection.execute(statement("events.store", "open_checkpoints"), self._names)

    @property
    def _names(self) -> dict[str, object]:
        return {"processor": self.name, "generation": self.generation}

    def claim(
        self, connection: Connection, *, limit: int = 64, partitions: Sequence[int] | None = None
    ) -> list[Claim]:
        """Locks up to ``limit`` partitions that have news and that no other worker holds.

        ``partitions`` limits the choice. None means all partitions.
        """
        if partitions is not None and not partitions:
            return []
        chosen = {"partitions": None if partitions is None else list(partitions), "limit": limit}
        rows = tuples_of(connection, statement("events.store", "claim"), self._names | chosen)
        return [Claim(*row) for row in rows]

    def advance(self, connection: Connection, moves: Sequence[tuple[Claim, int]]) -> None:
        """Moves the checkpoint of each claim to its new position.

        Raises :class:`CheckpointMovedError` unless every checkpoint is still at the position of its claim.
        """
        cursor = connection.execute(
            statement("events.store", "advance"),
            {
                **self._names,
                "partitions": [claim.partition for claim, _ in moves],
                "before": [claim.position for claim, _ in moves],
                "after": [after for _, after in moves],
            },
        )
        if cursor.rowcount != len(moves):
            raise CheckpointMovedError(
                f"{self.name} (generation {self.generation}): "
                f"{len(moves) - cursor.rowcount} of {len(moves)} checkpoints were moved by someone else"
            )

    def progress(self, connection: Connection) -> dict[int, tuple[int, int]]:
        """Returns checkpoint and head of each partition, from one snapshot."""
        rows = tuples_of(connection, statement("events.store", "progress"), self._names)
        return {partition: (position, head) for partition, position, head in rows}

    def positions(self, connection: Connection) -> dict[int, int]:
        return dict(tuples_of(connection, statement("events.store", "checkpoints"), self._names))


def past(position: int, appended: Collection[int]) -> int:
    """Returns the last of the ``appended`` positions that follow ``position`` without another one between them."""
    while position + 1 in appended:
        position += 1
    return position


def reached_heads(batches: Sequence[tuple[Claim, Sequence[Event]]]) -> bool:
    """True when the events of each claim reach the head of the claim. Later events are announced."""
    return all(events and events[-1].position >= claim.head for claim, events in batches)


def read_claimed(
    connection: Connection, claims: Sequence[Claim], *, limit: int
) -> list[tuple[Claim, list[Event]]]:
    """Returns the next events, at most ``limit`` of each claimed partition, in order, also unreadable ones.

    Raises :class:`LogHoleError` when a batch does not start at checkpoint + 1 or skips a position.
    """
    rows = rows_of(
        connection,
        statement("events.store", "read_claimed"),
        {
            "partitions": [claim.partition for claim in claims],
            "positions": [claim.position for claim in claims],
            "heads": [claim.head for claim in claims],
            "limit": limit,
        },
    )
    batches: dict[int, list[Event]] = {claim.partition: [] for claim in claims}
    for row in rows:
        batches[row["partition"]].append(event_if_readable(row))
    for claim in claims:
        check_contiguous(claim, batches[claim.partition])
    return [(claim, batches[claim.partition]) for claim in claims]


def check_contiguous(claim: Claim, events: Sequence[Event]) -> None:
    """Raises :class:`LogHoleError` unless the positions of ``events`` are claim.position + 1, + 2, …, and not empty."""
    if not events:
        raise LogHoleError(
            f"partition {claim.partition} claims position {claim.head} but holds nothing after {claim.position}; "
            "run `cardlog log verify`"
        )
    for expected, event in enumerate(events, claim.position + 1):
        if event.position != expected:
            raise LogHoleError(
                f"partition {claim.partition} has no position {expected} (next is {event.position}); "
                "run `cardlog log verify`"
            )
