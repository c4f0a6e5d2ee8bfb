"""Forgetting: the tables of a projection lose what was made of erased events.

An erasure forgets in the live and in every retired generation at once. A generation that is built meanwhile forgets
when it folds the event ``SubjectErased``, as every generation does.
"""

from collections.abc import Iterator, Sequence
from uuid import UUID

import psycopg
from psycopg.rows import tuple_row

from events.platform.database import Connection, statement, tuples_of
from events.store.log import Unreadable, history
from events.types.envelope import Event, partition_of
from events.types.tombstones import Erased, SubjectErased
from projectors.generations.generations import Generation, hold_live, list_generations, remove, use_schema
from projectors.generations.projector import Projector

_PACKAGE = "projectors"
TOMBSTONES = frozenset((SubjectErased.__name__,))
"""The types of :func:`fold_tombstones`, which concern every projection."""


class ForgettingProjection:
    """The tables of one projection, as an erasure sees them."""

    def __init__(self, projector: Projector) -> None:
        self._projector = projector
        self.name = projector.name

    def forget_words(self, connection: Connection, events: Sequence[Event]) -> int:
        """Deletes what the projection keeps under the words of ``events`` alone. Returns the number of rows."""
        return self._projector.forget_words(connection, events)

    def hold(self, connection: Connection, storage_id: str) -> None:
        """Stops the fold of the user's partition until the transaction ends. Waits for a running batch."""
        hold_live(connection, self.name)
        for generation, _ in self._generations(connection):
            connection.execute(
                statement(_PACKAGE, "lock_checkpoint"),
                {
                    "processor": generation.projection,
                    "generation": generation.number,
                    "partition": partition_of(storage_id),
                },
            )

    def forget(
        self, connection: Connection, storage_id: str, event_ids: Sequence[UUID] | None
    ) -> dict[str, int]:
        """Deletes what was made of ``event_ids``, or everything of the user for None, in the caller's transaction.

        Returns the numbers of deleted rows, by table of the live generation. Call :meth:`hold` first. A retired
        generation that this build cannot read is dropped.
        """
        counts: dict[str, int] = {}
        for generation, schema in self._generations(connection):
            try:
                with connection.transaction():
                    found = forget(connection, self._projector, generation, schema, storage_id, event_ids)
            except (psycopg.errors.UndefinedTable, psycopg.errors.UndefinedColumn):
                if schema == self.name:
                    raise
                remove(connection, generation)
                continue
            if schema == self.name:
                counts = found
        return counts

    def _generations(self, connection: Connection) -> list[tuple[Generation, str]]:
        """Returns the live and the retired generations, each with the schema of its tables."""
        return [
            (each.generation, self.name if each.status == "live" else each.generation.schema)
            for each in list_generations(connection, self.name)
            if each.status != "building"
        ]


def forget(
    connection: Connection,
    projector: Projector,
    generation: Generation,
    schema: str,
    storage_id: str,
    event_ids: Sequence[UUID] | None,
) -> dict[str, int]:
    """Deletes what ``generation`` made of some events of a user. Returns the numbers of deleted rows by table."""
    use_schema(connection, schema)
    before = projector.held(connection, storage_id)
    names = {"user_id": storage_id, "partition": partition_of(storage_id), "events": _listed(event_ids)}
    with connection.cursor(row_factory=tuple_row) as cursor:
        row = cursor.execute(statement(_PACKAGE, "forget_parked"), names).fetchone()
    assert row is not None
    up_to = generation.processor.positions(connection).get(partition_of(storage_id), 0)
    remaining = _remaining(connection, projector, generation, storage_id, event_ids or (), up_to)
    projector.forget(connection, storage_id, event_ids, remaining)
    after = projector.held(connection, storage_id)
    counts = {f"{projector.name}.{table}": number - after[table] for table, number in before.items()}
    return counts | {f"parked {projector.name} events": row[0], f"dropped {projector.name} events": row[1]}


def fold_tombstones(
    connection: Connection, generation: Generation, projector: Projector, schema: str, events: Sequence[Event]
) -> None:
    """Forgets what the tombstones among ``events`` erased. ``events`` follow the checkpoints of ``generation``.

    Every row of a tombstone's user comes from an event before the tombstone, because the batch is not folded yet.
    """
    for event in events:
        if not isinstance(tombstone := event.payload, SubjectErased):
            continue
        gone: list[UUID] | None = None
        if tombstone.positions is not None:
            gone = [
                row[0]
                for row in connection.execute(
                    statement(_PACKAGE, "erased_events"),
                    {
                        "partition": event.partition,
                        "positions": list(tombstone.positions),
                        "user_id": event.user_id,
                    },
                )
            ]
            if not gone:
                continue
        forget(connection, projector, generation, schema, event.user_id, gone)


def _remaining(
    connection: Connection,
    projector: Projector,
    generation: Generation,
    storage_id: str,
    without: Sequence[UUID],
    up_to: int,
) -> Iterator[Event]:
    """Yields the other events of the user that the generation has folded, in order."""
    names = {
        "processor": generation.projection,
        "generation": generation.number,
        "user_id": storage_id,
        "partition": partition_of(storage_id),
    }
    rows = tuples_of(connection, statement(_PACKAGE, "unfolded_positions"), names)
    unfolded, gone = {position for (position,) in rows}, set(without)
    for event in history(connection, storage_id, up_to=up_to, types=projector.types):
        if (
            event.position not in unfolded
            and event.event_id not in gone
            and not isinstance(event.payload, Erased | Unreadable)
        ):
            yield event


def _listed(event_ids: Sequence[UUID] | None) -> list[UUID] | None:
    return None if event_ids is None else list(event_ids)
