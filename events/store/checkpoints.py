"""Reading the log exactly once: claim partitions, read what is new, move the checkpoint with the work.

Everything here happens inside one transaction of the caller: what a processor writes and the checkpoint
it moves become visible together, or not at all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg.rows import tuple_row

from events.platform.sql import statement
from events.store.log import event_if_readable, event_of
from events.store.rows import rows_of
from events.types.envelope import Event

Connection = psycopg.Connection[Any]


class CheckpointMovedError(RuntimeError):
    """Another runner moved the checkpoint first; roll back, nothing of this batch counts."""


class LogHoleError(RuntimeError):
    """The log does not continue where the checkpoint stands: a position is missing. Corruption, never normal."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A partition locked for this transaction: read from ``position`` + 1, up to ``head`` at most."""

    partition: int
    position: int
    head: int


@dataclass(frozen=True, slots=True)
class Processor:
    """A reader of the log, known by name and generation. Extractors and relays have generation 0."""

    name: str
    generation: int = 0

    def open(self, connection: Connection) -> None:
        """Make the checkpoints of this processor, at 0, where they are not there yet."""
        connection.execute(
            statement("events.store", "open_checkpoints"),
            {"processor": self.name, "generation": self.generation},
        )

    def claim(
        self, connection: Connection, *, limit: int = 64, partitions: Sequence[int] | None = None
    ) -> list[Claim]:
        """Lock up to ``limit`` partitions that have news and that no other runner holds; of ``partitions`` only."""
        if partitions is not None and not partitions:
            return []
        with connection.cursor(row_factory=tuple_row) as cursor:
            rows = cursor.execute(
                statement("events.store", "claim"),
                {
                    "processor": self.name,
                    "generation": self.generation,
                    "partitions": None if partitions is None else list(partitions),
                    "limit": limit,
                },
            ).fetchall()
        return [Claim(*row) for row in rows]

    def advance(self, connection: Connection, moves: Sequence[tuple[Claim, int]]) -> None:
        """Move each claimed partition to its new position.

        Raises :class:`CheckpointMovedError` unless every checkpoint still stood where its claim began.
        """
        cursor = connection.execute(
            statement("events.store", "advance"),
            {
                "processor": self.name,
                "generation": self.generation,
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
        """Where this processor and the head of each partition stand, at one moment."""
        with connection.cursor(row_factory=tuple_row) as cursor:
            rows = cursor.execute(
                statement("events.store", "progress"), {"processor": self.name, "generation": self.generation}
            ).fetchall()
        return {partition: (position, head) for partition, position, head in rows}

    def positions(self, connection: Connection) -> dict[int, int]:
        """Where this processor stands, by partition."""
        with connection.cursor(row_factory=tuple_row) as cursor:
            return dict(
                cursor.execute(
                    statement("events.store", "checkpoints"),
                    {"processor": self.name, "generation": self.generation},
                ).fetchall()
            )


def reached_heads(batches: Sequence[tuple[Claim, Sequence[Event]]]) -> bool:
    """Whether the events of each claim go up to the head it was claimed at: what comes after will be announced."""
    return all(events and events[-1].position >= claim.head for claim, events in batches)


def read_claimed(
    connection: Connection, claims: Sequence[Claim], *, limit: int, keep_unreadable: bool = False
) -> list[tuple[Claim, list[Event]]]:
    """The next events, at most ``limit`` of each claimed partition, in order.

    Raises :class:`LogHoleError` when a batch does not start at checkpoint + 1 or skips a position, and the
    codec's errors for data it cannot read; with ``keep_unreadable`` such an event comes with
    :class:`events.store.log.Unreadable` for its payload instead.
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
    read_event = event_if_readable if keep_unreadable else event_of
    batches: dict[int, list[Event]] = {claim.partition: [] for claim in claims}
    for row in rows:
        batches[row["partition"]].append(read_event(row))
    for claim in claims:
        check_contiguous(claim, batches[claim.partition])
    return [(claim, batches[claim.partition]) for claim in claims]


def check_contiguous(claim: Claim, events: Sequence[Event]) -> None:
    """Raise :class:`LogHoleError` unless ``events`` are claim.position + 1, + 2, …, and not empty."""
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
