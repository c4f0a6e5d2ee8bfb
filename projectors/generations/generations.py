"""Generations of a projection. The tables of the live generation are in the schema named after the projection."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import get_args

import psycopg
from psycopg import sql
from psycopg.rows import class_row

from events.platform.database import Connection, one_row, statement
from events.store.checkpoints import Processor
from projectors.generations.projector import Projector, ProjectorBlockedError, StepKind

_PACKAGE = "projectors.generations"


class GenerationError(RuntimeError):
    """A change of a generation was refused. The message gives the reason. Nothing was changed."""


@dataclass(frozen=True, slots=True)
class Generation:
    """One set of tables of a projection."""

    projection: str
    number: int

    @property
    def processor(self) -> Processor:
        """The processor whose checkpoints belong to this generation's tables."""
        return Processor(self.projection, self.number)

    @property
    def schema(self) -> str:
        """The schema of the tables while this generation is not live."""
        return f"{self.projection}_g{self.number}"


@dataclass(frozen=True, slots=True, kw_only=True)
class GenerationStatus:
    """A generation as operators see it.

    ``events`` counts folded events. ``behind`` counts events of the log that are not folded yet.
    ``bytes`` is the size of the tables with their indexes.
    """

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
    """Puts ``schema`` first on the search path until the transaction ends."""
    connection.execute(sql.SQL("SET LOCAL search_path TO {}, public").format(sql.Identifier(schema)))


def settle_all(connection: Connection, projector: Projector, schema: str) -> int:
    """Does all deferred work in ``schema``, in several transactions. Returns the number of finished items.

    Raises :class:`ProjectorBlockedError` when some of it cannot be done now.
    """
    done = 0
    while True:
        with connection.transaction():
            use_schema(connection, schema)
            settled = projector.settle(connection)
        if not settled:
            if (hindrance := projector.hindrance) is not None:
                raise ProjectorBlockedError(hindrance.reason)
            return done
        done += settled


def blueprint(projector: Projector) -> sql.Composed:
    """Returns the statement that stores the scripts of ``projector`` in the database, for an owner."""
    steps = [
        sql.SQL("({}, {}, {}, {})").format(projector.name, kind, number, script.as_string())
        for kind in get_args(StepKind)
        for number, script in enumerate(projector.steps(kind))
    ]
    return statement(_PACKAGE, "store_blueprint").format(
        projection=projector.name, steps=sql.SQL(", ").join(steps)
    )


def run_step(connection: Connection, schema: str, kind: StepKind, number: int) -> None:
    """Runs one stored script of the projection in ``schema``, with the rights of the owner of the tables."""
    connection.execute(statement(_PACKAGE, "run_step"), {"schema": schema, "kind": kind, "number": number})


def ensure_live(connection: Connection, projector: Projector) -> Generation:
    """Returns the live generation of ``projector``, and creates an empty one when there is none.

    Any number of processes may call this at the same time. An owner also stores the blueprint of the tables.
    """
    with connection.transaction():
        connection.execute(statement(_PACKAGE, "generations_lock"))
        _publish(connection, projector)
        row = connection.execute(
            statement(_PACKAGE, "live_generation"), {"projection": projector.name}
        ).fetchone()
        if row is not None:
            protect(connection, projector.name)
            return Generation(projector.name, row[0])
        generation = _add(connection, projector, "live")
        for number in range(len(projector.steps("indexes"))):
            run_step(connection, projector.name, "indexes", number)
        protect(connection, projector.name)
    return generation


def protect(connection: Connection, schema: str) -> None:
    """Protects every table of users in ``schema`` by row-level security, and then lets readers read the tables.

    A generation is protected before it becomes live. While it is built, nobody reads it, and COPY writes it.
    """
    connection.execute(statement(_PACKAGE, "protect_tables"), {"schema": schema})


def begin(connection: Connection, projector: Projector) -> Generation:
    """Creates a generation with status ``building``: empty tables without indexes, and checkpoints at 0."""
    with connection.transaction():
        connection.execute(statement(_PACKAGE, "generations_lock"))
        _publish(connection, projector)
        return _add(connection, projector, "building")


def _add(connection: Connection, projector: Projector, status: str) -> Generation:
    row = one_row(connection, statement(_PACKAGE, "next_generation"), {"projection": projector.name})
    generation = Generation(projector.name, row[0])
    schema = projector.name if status == "live" else generation.schema
    make_tables(connection, projector, schema)
    connection.execute(
        statement(_PACKAGE, "add_generation"),
        {"projection": projector.name, "generation": generation.number, "status": status},
    )
    generation.processor.open(connection)
    return generation


def make_tables(connection: Connection, projector: Projector, schema: str) -> None:
    """Makes ``schema`` with the empty tables of ``projector``, and puts it first on the search path."""
    connection.execute(statement(_PACKAGE, "make_tables"), {"schema": schema})
    use_schema(connection, schema)
    projector.seed(connection)


def difference(connection: Connection, projector: Projector, number: int, schema: str) -> str | None:
    """Says that generation ``number`` in ``schema`` has other columns than the tables of ``projector``; None if not.

    The tables are made once more for the comparison, and leave nothing behind.
    """
    empty = Generation(projector.name, 0).schema
    with connection.transaction(force_rollback=True):
        connection.execute(statement(_PACKAGE, "generations_lock"))
        _publish(connection, projector)
        connection.execute(statement(_PACKAGE, "make_tables"), {"schema": empty})
        names = {"wanted": empty, "found": schema}
        other = [name for (name,) in connection.execute(statement(_PACKAGE, "other_tables"), names)]
    if not other:
        return None
    return (
        f"generation {number} of {projector.name} is of another version of Cardlog (other columns in "
        f"{', '.join(other)}); run: cardlog rebuild {projector.name}"
    )


def _publish(connection: Connection, projector: Projector) -> None:
    """Stores the blueprint of ``projector`` when the role may. Else that of the last `cardlog grant` counts."""
    row = connection.execute(statement(_PACKAGE, "may_publish")).fetchone()
    if row is not None and row[0]:
        connection.execute(blueprint(projector))


def hold_live(connection: Connection, projection: str) -> Generation | None:
    """Returns the live generation and keeps it live until the transaction ends. Returns None when there is none.

    During a swap the call waits, and then returns the new live generation.
    """
    names = {"projection": projection}
    connection.execute(statement(_PACKAGE, "lock_live_shared"), names)
    row = connection.execute(statement(_PACKAGE, "live_generation_locked"), names).fetchone()
    return None if row is None else Generation(projection, row[0])


def list_generations(connection: Connection, projection: str | None = None) -> list[GenerationStatus]:
    """Returns the generations of ``projection``, or of all projections when it is None. The oldest comes first."""
    with connection.cursor(row_factory=class_row(GenerationStatus)) as cursor:
        return cursor.execute(statement(_PACKAGE, "generations"), {"projection": projection}).fetchall()


def remove(connection: Connection, generation: Generation) -> None:
    """Drops the tables, the checkpoints and the row of a generation that is not live, in one transaction."""
    names = {"projection": generation.projection, "generation": generation.number}
    with connection.transaction():
        connection.execute(statement(_PACKAGE, "drop_tables"), {"schema": generation.schema})
        connection.execute(statement(_PACKAGE, "delete_checkpoints"), names)
        connection.execute(statement(_PACKAGE, "delete_generation"), names)


def drop(connection: Connection, projection: str, number: int) -> None:
    """Drops a retired generation permanently.

    Raises :class:`GenerationError` when the generation does not exist or is not retired.
    """
    with changing(connection, projection):
        found = {each.number: each for each in list_generations(connection, projection)}
        if number not in found:
            known = ", ".join(map(str, found)) or "none"
            raise GenerationError(f"{projection} has no generation {number}; its generations are: {known}")
        if found[number].status != "retired":
            raise GenerationError(
                f"generation {number} of {projection} is {found[number].status}; "
                "only a retired generation can be dropped"
            )
        remove(connection, found[number].generation)


@contextmanager
def changing(connection: Connection, projection: str) -> Iterator[None]:
    """Holds the lock for creating, swapping and dropping generations of ``projection``.

    The end of the connection also releases the lock. Raises :class:`GenerationError` at once when another
    process holds the lock.
    """
    names = {"projection": projection}
    row = connection.execute(statement(_PACKAGE, "change_lock"), names).fetchone()
    if row is None or not row[0]:
        raise GenerationError(
            f"another rebuild, rollback or drop of {projection} is running; wait for it, or stop it first"
        )
    try:
        yield
    finally:
        _release(connection, "change_unlock", projection)


@contextmanager
def with_fold_paused(
    connection: Connection, projection: str, *, attempts: int = 8, longest_s: float = 4.0
) -> Iterator[None]:
    """Stops folding into the live generation while the block runs. Readers are not affected.

    Runners finish their batch and then wait. The lock is tried ``attempts`` times, each time for a short time
    only (0.25 s at first, ``longest_s`` at most). Other runners therefore never wait long behind one long batch.
    Raises :class:`GenerationError` when the last attempt fails.
    """
    names = {"projection": projection}
    timeout_s = 0.25
    for attempt in range(attempts):
        try:
            with connection.transaction():
                connection.execute(statement(_PACKAGE, "lock_timeout"), {"timeout": f"{timeout_s:.3f}s"})
                connection.execute(statement(_PACKAGE, "lock_live_exclusive"), names)
            break
        except psycopg.errors.LockNotAvailable:
            if attempt == attempts - 1:
                raise GenerationError(
                    f"the live projector of {projection} does not finish its batch; "
                    "check it with `cardlog status`, then try again"
                ) from None
            timeout_s = min(timeout_s * 2, longest_s)
    try:
        yield
    finally:
        _release(connection, "unlock_live", projection)


def _release(connection: Connection, name: str, projection: str) -> None:
    # A closed connection has already released its locks.
    if not connection.closed:
        connection.execute(statement(_PACKAGE, name), {"projection": projection})
