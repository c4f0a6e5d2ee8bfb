"""Putting another generation in the live one's place, under readers and writers that never stop."""

from __future__ import annotations

from collections.abc import Mapping

from psycopg import sql

from events.platform.sql import statement
from events.store import log
from events.store.log import Connection
from projectors.generations.generations import (
    Generation,
    GenerationError,
    Projector,
    changing,
    list_generations,
    with_fold_paused,
)
from projectors.rebuild.fail_fast_fold import step

_PACKAGE = "projectors.rebuild"
_BATCH = 200
_NEARLY = 1000
_PASSES = 200


def catch_up(
    connection: Connection, projector: Projector, generation: Generation, *, park: bool = False
) -> int:
    """Fold what the log got meanwhile, until nearly level or until it grows faster than that; returns the events."""
    folded = 0
    for _ in range(_PASSES):
        if behind(connection, generation) <= _NEARLY:
            break
        folded += step(connection, projector, generation, generation.schema, limit=_BATCH, park=park)
    return folded


def behind(connection: Connection, generation: Generation) -> int:
    """How many events of the log ``generation`` has not folded."""
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
) -> int:
    """Fold up to ``heads``, exactly, while nobody else folds into ``generation``; returns the events."""
    folded = 0
    while passed := step(connection, projector, generation, schema, limit=_BATCH, until=heads, park=park):
        folded += passed
    positions = generation.processor.positions(connection)
    if any(positions[partition] != head for partition, head in heads.items()):
        raise GenerationError(
            f"somebody else folds into generation {generation.number} of {generation.projection}; stop them first"
        )
    return folded


def swap(
    connection: Connection, projector: Projector, incoming: Generation, *, park: bool = False
) -> Generation:
    """Make ``incoming`` the live generation; returns the one that was. ``park`` as in
    :func:`projectors.rebuild.fail_fast_fold.step`.

    One transaction: the last events are folded while the live projector waits, then the schemas are renamed.
    Readers never wait, for a rename locks no table, and no moment is without a live generation. Live
    projectors go on with the new one by themselves. Whatever fails, the live generation stays.
    """
    with with_fold_paused(connection, incoming.projection), connection.transaction():
        level(connection, projector, incoming, incoming.schema, log.heads(connection), park=park)
        names = {"projection": incoming.projection, "generation": incoming.number}
        row = connection.execute(statement(_PACKAGE, "retire_live"), names).fetchone()
        if row is None:
            raise GenerationError(f"{incoming.projection} has no live generation to put another in place of")
        outgoing = Generation(incoming.projection, row[0])
        _rename(connection, incoming.projection, outgoing.schema)
        _rename(connection, incoming.schema, incoming.projection)
        connection.execute(statement(_PACKAGE, "make_live"), names)
    log.announce(connection)
    return outgoing


def rollback(connection: Connection, projector: Projector) -> tuple[Generation, Generation]:
    """Bring the generation that was live last up to date and make it live again; returns (live, retired).

    Raises :class:`GenerationError` where there is none, and what :func:`projectors.rebuild.fail_fast_fold.step` raises.
    """
    with changing(connection, projector.name):
        retired = [s for s in list_generations(connection, projector.name) if s.status == "retired"]
        if not retired:
            raise GenerationError(f"{projector.name} has no earlier generation to go back to")
        last = max(retired, key=lambda s: (s.live_at is not None and s.live_at.timestamp(), s.number))
        catch_up(connection, projector, last.generation, park=True)
        outgoing = swap(connection, projector, last.generation, park=True)
    return last.generation, outgoing


def _rename(connection: Connection, old: str, new: str) -> None:
    connection.execute(
        sql.SQL("ALTER SCHEMA {} RENAME TO {}").format(sql.Identifier(old), sql.Identifier(new))
    )
