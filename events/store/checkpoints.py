"""Reads the log exactly once: claim partitions, read the new events, move the checkpoints with the work.

Everything happens inside one transaction of the caller. The rows of a processor and its checkpoints become visible
together or not at all.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from events.platform.database import Connection, rows_of, statement, tuples_of
from events.store.log import event_if_readable
from events.types.codec import known_types
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
class Page:
    """The events of a claim up to the position ``last``, in order, as far as their types concern the reader."""

    claim: Claim
    last: int
    events: list[Event] = field(default_factory=list)


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


def read_claimed(
    connection: Connection, claims: Sequence[Claim], *, limit: int, types: Collection[str] | None = None
) -> list[Page]:
    """Returns the next events, at most ``limit`` of each claimed partition, in order, also unreadable ones.

    ``types`` are those that concern the reader; None means all. Events of other types are passed and not read, but for
    types that this build does not know.

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
            "passed": [] if types is None else sorted(known_types().keys() - types),
        },
    )
    by_partition = {claim.partition: claim for claim in claims}
    pages: dict[int, Page] = {}
    for row in rows:
        claim, last, missing = by_partition[row.pop("claimed")], row.pop("last"), row.pop("missing")
        if claim.partition not in pages:
            _check(claim, last, missing)
            pages[claim.partition] = Page(claim, last)
        if row["position"] is not None:
            pages[claim.partition].events.append(event_if_readable(row))
    return list(pages.values())


def _check(claim: Claim, last: int | None, missing: int | None) -> None:
    """Raises :class:`LogHoleError` when there is no ``last`` position, or when one is ``missing`` before it."""
    if last is None:
        raise LogHoleError(
            f"partition {claim.partition} claims position {claim.head} but holds nothing after {claim.position}; "
            "run `cardlog log verify`"
        )
    if missing is not None:
        raise LogHoleError(f"partition {claim.partition} has no position {missing}; run `cardlog log verify`")
