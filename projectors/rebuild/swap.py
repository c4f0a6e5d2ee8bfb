"""Makes another generation live while readers and writers continue."""

from collections.abc import Mapping

from events.platform.database import Connection, statement
from events.store import log
from projectors.generations.generations import (
    Generation,
    GenerationError,
    changing,
    difference,
    list_generations,
    protect,
    with_fold_paused,
)
from projectors.generations.projector import Projector
from projectors.rebuild.fail_fast_fold import step

_PACKAGE = "projectors.rebuild"
_BATCH = 200
_NEARLY = 1000
"""At this many events behind the head, or fewer, a generation counts as caught up."""
_PASSES = 200


def catch_up(
    connection: Connection, projector: Projector, generation: Generation, *, park: bool = False
) -> None:
    """Folds new events until the generation is at most ``_NEARLY`` events behind.

    It gives up after ``_PASSES`` batches, for a log that grows faster than the fold. ``park`` as in
    :func:`projectors.rebuild.fail_fast_fold.step`.
    """
    for _ in range(_PASSES):
        if behind(connection, generation) <= _NEARLY:
            break
        step(connection, projector, generation, generation.schema, limit=_BATCH, park=park)


def behind(connection: Connection, generation: Generation) -> int:
    """Returns the number of events of the log that ``generation`` has not folded."""
    positions = generation.processor.positions(connection)
    return sum(head - positions.get(partition, 0) for partition, head in log.heads(connection).items())


def level(
    connection: Connection,
    projector: Projector,
    generation: Generation,
    schema: str,
    heads: Mapping[int, int],
    *,
    park: bool = False,
) -> None:
    """Folds exactly up to ``heads``.

    Raises :class:`GenerationError` when another process folds into ``generation`` at the same time.
    """
    while step(connection, projector, generation, schema, limit=_BATCH, until=heads, park=park):
        pass
    positions = generation.processor.positions(connection)
    if any(positions[partition] != head for partition, head in heads.items()):
        raise GenerationError(
            f"another process folds into generation {generation.number} of {generation.projection}; stop it first"
        )


def swap(
    connection: Connection, projector: Projector, incoming: Generation, *, park: bool = False
) -> Generation:
    """Makes ``incoming`` the live generation and returns the generation that was live before.

    One transaction folds the last events while the live projector waits, and then renames the schemas. Readers
    never wait, because a rename locks no table. There is always exactly one live generation. Live projectors
    continue with the new generation by themselves. After any failure the old generation is still live.
    ``park`` as in :func:`projectors.rebuild.fail_fast_fold.step`. Raises :class:`GenerationError` when there is
    no live generation, or when the fold cannot be paused.
    """
    with with_fold_paused(connection, incoming.projection), connection.transaction():
        level(connection, projector, incoming, incoming.schema, log.heads(connection), park=park)
        names = {"projection": incoming.projection, "generation": incoming.number}
        row = connection.execute(statement(_PACKAGE, "retire_live"), names).fetchone()
        if row is None:
            raise GenerationError(f"{incoming.projection} has no live generation to replace")
        outgoing = Generation(incoming.projection, row[0])
        _rename(connection, incoming.projection, outgoing.schema)
        protect(connection, incoming.schema)
        _rename(connection, incoming.schema, incoming.projection)
        connection.execute(statement(_PACKAGE, "make_live"), names)
    log.announce(connection)
    return outgoing


def rollback(
    connection: Connection, projector: Projector, number: int | None = None
) -> tuple[Generation, Generation]:
    """Catches up a retired generation and makes it live again. Returns (live, retired).

    ``number`` names the generation; None means the one that was live before. Raises :class:`GenerationError` when
    there is no such retired generation or its tables have other columns than those of ``projector``, and the errors
    of :func:`projectors.rebuild.fail_fast_fold.step`.
    """
    with changing(connection, projector.name):
        retired = [
            each
            for each in list_generations(connection, projector.name)
            if each.status == "retired" and number in (None, each.number)
        ]
        if not retired:
            which = "earlier generation to go back to" if number is None else f"retired generation {number}"
            raise GenerationError(f"{projector.name} has no {which}")
        last = max(retired, key=lambda s: (s.live_at is not None and s.live_at.timestamp(), s.number))
        if other := difference(connection, projector, last.number, last.generation.schema):
            raise GenerationError(other)
        catch_up(connection, projector, last.generation, park=True)
        outgoing = swap(connection, projector, last.generation, park=True)
    return last.generation, outgoing


def _rename(connection: Connection, old: str, new: str) -> None:
    connection.execute(statement(_PACKAGE, "rename_tables"), {"old": old, "new": new})
