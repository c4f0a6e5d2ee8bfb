"""Folds events and stops at the first event that cannot be folded. Rebuilds use it; live projections park instead."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from events.platform.database import Connection, statement
from events.store.checkpoints import Claim, read_claimed
from events.store.log import Unreadable, reason_of, unerased
from events.types.envelope import Event
from projectors import parking
from projectors.forgetting import TOMBSTONES, fold_tombstones
from projectors.generations.generations import Generation, use_schema
from projectors.generations.projector import Projector

_PACKAGE = "projectors.rebuild"


class FoldFailedError(RuntimeError):
    """An event cannot be folded, or is missing. The message names partition, position, event id and type."""


def place_of(partition: int, position: int, event_id: UUID, kind: str) -> str:
    """Returns the place of an event as text. `cardlog log show --at` accepts its partition and position."""
    return f"event {event_id} ({kind}, partition {partition}, position {position})"


def found_in(partition: int, position: int, event_id: UUID, kind: str, error: Exception) -> FoldFailedError:
    """Returns the error that names one event and the reason of its failure."""
    return FoldFailedError(f"{place_of(partition, position, event_id, kind)}: {reason_of(error)}")


def fold_or_fail(connection: Connection, projector: Projector, events: Sequence[Event]) -> None:
    """Folds ``events`` in the caller's transaction, without the erased ones.

    Raises :class:`FoldFailedError`, which names the first event that cannot be folded.
    """
    events = unerased(events)
    for event in events:
        if isinstance(event.payload, Unreadable):
            place = place_of(event.partition, event.position, event.event_id, event.type)
            raise FoldFailedError(f"{place}: {event.payload.reason}")
    try:
        with connection.transaction():
            projector.project(connection, list(events))
    except Exception as error:
        if not parking.is_the_events_fault(error):
            raise
        for event in events:
            try:
                with connection.transaction():
                    projector.project(connection, [event])
            except Exception as single:
                raise found_in(
                    event.partition, event.position, event.event_id, event.type, single
                ) from single
        raise


def step(
    connection: Connection,
    projector: Projector,
    generation: Generation,
    schema: str,
    *,
    limit: int,
    until: Mapping[int, int] | None = None,
    park: bool = False,
) -> int:
    """Folds one batch of new events into ``schema``, exactly once. Returns the number of events passed.

    The fold stops exactly at the positions ``until``. It skips events that an operator dropped. With ``park`` it
    parks an event that cannot be folded, as a live projector does.
    Raises :class:`FoldFailedError` without ``park``, and :class:`events.store.checkpoints.LogHoleError`. After an
    error the batch has no effect.
    """
    with connection.transaction():
        partitions = None
        if until is not None:
            positions = generation.processor.positions(connection)
            partitions = [partition for partition, head in until.items() if head > positions[partition]]
        claims = generation.processor.claim(
            connection, limit=projector.batch_partitions, partitions=partitions
        )
        if until is not None:
            claims = [Claim(c.partition, c.position, min(c.head, until[c.partition])) for c in claims]
        if not claims:
            return 0
        batches = read_claimed(connection, claims, limit=limit, types=projector.types | TOMBSTONES)
        events = [event for page in batches for event in page.events]
        use_schema(connection, schema)
        if park:
            parking.fold(connection, generation, projector, events, schema)
        else:
            fold_tombstones(connection, generation, projector, schema, events)
            dropped = _dropped(connection, generation.projection)
            fold_or_fail(
                connection,
                projector,
                [event for event in events if (event.partition, event.position) not in dropped],
            )
        generation.processor.advance(connection, [(page.claim, page.last) for page in batches])
    return sum(page.last - page.claim.position for page in batches)


def _dropped(connection: Connection, projection: str) -> set[tuple[int, int]]:
    rows = connection.execute(statement(_PACKAGE, "dropped"), {"projection": projection})
    return {(partition, position) for partition, position in rows}
