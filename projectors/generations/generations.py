"""Generations of a projection: the live one's tables stand in the schema named after the projection."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, runtime_checkable

import psycopg
from psycopg import sql
from psycopg.rows import class_row

from events.platform.sql import statement
from events.store.checkpoints import Processor
from events.store.log import Connection
from events.types.envelope import Event

_PACKAGE = "projectors.generations"


class ProjectorBlockedError(RuntimeError):
    """The projector cannot go on until something outside it changes; the message says what. Nothing is lost."""


class GenerationError(RuntimeError):
    """What was asked of a generation cannot be done; the message says why. Nothing was changed."""


class Projector(Protocol):
    """A pure fold plus the tables it fills.

    ``project`` runs inside the runner's transaction with the generation's schema first on the search
    path, and must depend on nothing but the events given and the tables it wrote itself.
    ``load`` does the same for the whole history of whole users, one user after the other, into tables
    that hold nothing of them; only events of ``types`` are given to it, for the fold ignores all others.
    The steps may be done at the same time, the longest first.
    Both folds must leave the same rows, whatever the batches. ``package`` holds ``sql/digest.sql``.
    A live round begins ``rest_s`` after the one before at the earliest, unless more is known to be there.
    A projector is pickled to reach the processes of a rebuild.
    """

    name: str
    package: str
    batch_partitions: int
    rest_s: float
    types: frozenset[str]

    def create_tables(self, connection: Connection) -> None: ...

    def create_indexes(self, connection: Connection) -> None: ...

    def index_steps(self) -> list[sql.SQL]: ...

    def analyze_steps(self) -> list[sql.SQL]: ...

    def project(self, connection: Connection, events: list[Event]) -> None: ...

    def load(self, connection: Connection, events: Iterable[Event]) -> None: ...


@runtime_checkable
class Deferring(Protocol):
    """A projector that can put off the slow part of its work, so that its checkpoint keeps up with the log.

    More than ``defer_above`` events behind, ``deferred`` folds in its place, ``defer_partitions`` at a time. ``settle``
    does some of what was put off, inside the runner's transaction with the generation's schema first on the search
    path, and returns how much: 0 when nothing is left; ``left`` tells how much that is, and the age in seconds of the
    oldest. Once all is settled, the rows are those ``project`` leaves.
    """

    defer_above: int
    defer_partitions: int

    @property
    def deferred(self) -> Projector: ...

    def settle(self, connection: Connection) -> int: ...

    def left(self, connection: Connection) -> tuple[int, float | None]: ...


@dataclass(frozen=True, slots=True)
class Generation:
    """One set of tables of a projection."""

    projection: str
    number: int

    @property
    def processor(self) -> Processor:
        """The reader whose checkpoints this generation's tables stand at."""
        return Processor(self.projection, self.number)

    @property
    def schema(self) -> str:
        """Where the tables stand while this generation is not the live one."""
        return f"{self.projection}_g{self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationStatus:
    """A generation as operators see it. ``events`` were folded, ``behind`` are in the log and were not."""

    projection: str
    number: int
    status: str
    created_at: datetime
    live_at: datetime | None
    events: int
    behind: int
    bytes: int

    @property
    def generation(self) -> Generation:
        return Generation(self.projection, self.number)


def use_schema(connection: Connection, schema: str) -> None:
    """Put ``schema`` first on the search path until the transaction ends."""
    connection.execute(sql.SQL("SET LOCAL search_path TO {}, public").format(sql.Identifier(schema)))


def settle_all(connection: Connection, projector: Projector, schema: str) -> int:
    """Do all that was put off in ``schema``, some of it a transaction; returns how much."""
    done = 0
    while isinstance(projector, Deferring):
        with connection.transaction():
            use_schema(connection, schema)
            settled = projector.settle(connection)
        if not settled:
            break
        done += settled
    return done


def ensure_live(connection: Connection, projector: Projector) -> Generation:
    """The live generation of ``projector``, made empty if there is none. Safe from any number of processes."""
    with connection.transaction():
        connection.execute(statement(_PACKAGE, "generations_lock"))
        row = connection.execute(
            statement(_PACKAGE, "live_generation"), {"projection": projector.name}
        ).fetchone()
        if row is not None:
            return Generation(projector.name, row[0])
        generation = _add(connection, projector, "live")
        use_schema(connection, projector.name)
        projector.create_indexes(connection)
    return generation


def begin(connection: Connection, projector: Projector) -> Generation:
    """A new generation in building: its tables, empty and without indexes, and its checkpoints at 0."""
    with connection.transaction():
        connection.execute(statement(_PACKAGE, "generations_lock"))
        return _add(connection, projector, "building")


def _add(connection: Connection, projector: Projector, status: str) -> Generation:
    row = connection.execute(
        statement(_PACKAGE, "next_generation"), {"projection": projector.name}
    ).fetchone()
    assert row is not None
    generation = Generation(projector.name, row[0])
    schema = projector.name if status == "live" else generation.schema
    connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
    use_schema(connection, schema)
    projector.create_tables(connection)
    connection.execute(
        statement(_PACKAGE, "add_generation"),
        {"projection": projector.name, "generation": generation.number, "status": status},
    )
    generation.processor.open(connection)
    return generation


def hold_live(connection: Connection, projection: str) -> Generation | None:
    """The live generation, kept live until the transaction ends; None while there is none.

    Waits while a swap is under way, then returns the generation that came out of it.
    """
    names = {"projection": projection}
    connection.execute(statement(_PACKAGE, "lock_live_shared"), names)
    row = connection.execute(statement(_PACKAGE, "live_generation_locked"), names).fetchone()
    return None if row is None else Generation(projection, row[0])


def list_generations(connection: Connection, projection: str | None = None) -> list[GenerationStatus]:
    """Every generation there is, or those of one projection, oldest first."""
    with connection.cursor(row_factory=class_row(GenerationStatus)) as cursor:
        return cursor.execute(statement(_PACKAGE, "generations"), {"projection": projection}).fetchall()


def remove(connection: Connection, generation: Generation) -> None:
    """Drop the tables, checkpoints and the row of a generation that is not live; one transaction."""
    names = {"projection": generation.projection, "generation": generation.number}
    with connection.transaction():
        connection.execute(
            sql.SQL("DROP SCHEMA IF EXISTS {} CASCADE").format(sql.Identifier(generation.schema))
        )
        connection.execute(statement(_PACKAGE, "delete_checkpoints"), names)
        connection.execute(statement(_PACKAGE, "delete_generation"), names)


def drop(connection: Connection, projection: str, number: int) -> None:
    """Drop a retired generation for good. Raises :class:`GenerationError` for one that is not retired."""
    with changing(connection, projection):
        found = {standing.number: standing for standing in list_generations(connection, projection)}
        if number not in found:
            known = ", ".join(map(str, found)) or "none"
            raise GenerationError(f"{projection} has no generation {number} (there are: {known})")
        if found[number].status != "retired":
            raise GenerationError(
                f"generation {number} of {projection} is {found[number].status}; only retired ones can be dropped"
            )
        remove(connection, found[number].generation)


@contextmanager
def changing(connection: Connection, projection: str) -> Iterator[None]:
    """Alone in making, swapping and dropping generations of ``projection``; released with the connection.

    Raises :class:`GenerationError` at once when somebody else is at it.
    """
    names = {"projection": projection}
    row = connection.execute(statement(_PACKAGE, "change_lock"), names).fetchone()
    if row is None or not row[0]:
        raise GenerationError(
            f"another rebuild, rollback or drop of {projection} is under way; wait for it, or stop it first"
        )
    try:
        yield
    finally:
        _release(connection, "change_unlock", projection)


@contextmanager
def with_fold_paused(
    connection: Connection, projection: str, *, attempts: int = 8, longest_s: float = 4.0
) -> Iterator[None]:
    """Nobody folds into the live generation meanwhile; readers do not notice.

    Runners finish the batch they are in and wait. Who is in a long batch is asked again and again, each
    time for a moment only, so that the others are never held up for long. Raises
    :class:`GenerationError` when it never comes to an end.
    """
    names = {"projection": projection}
    patience = 0.25
    for attempt in range(attempts):
        try:
            with connection.transaction():
                connection.execute(statement(_PACKAGE, "lock_timeout"), {"timeout": f"{patience:.3f}s"})
                connection.execute(statement(_PACKAGE, "lock_live_exclusive"), names)
            break
        except psycopg.errors.LockNotAvailable:
            if attempt == attempts - 1:
                raise GenerationError(
                    f"the live projector of {projection} does not come to the end of its batch; "
                    "look at it with `cardlog status`, then try again"
                ) from None
            patience = min(patience * 2, longest_s)
    try:
        yield
    finally:
        _release(connection, "unlock_live", projection)


def _release(connection: Connection, name: str, projection: str) -> None:
    # A connection that is gone has released everything by itself.
    if not connection.closed:
        connection.execute(statement(_PACKAGE, name), {"projection": projection})
