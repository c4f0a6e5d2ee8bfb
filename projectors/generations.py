"""Generations of a projection: the live one's tables stand in the schema named after the projection."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from psycopg import sql

from events.checkpoints import Processor
from events.envelope import Event
from events.log import Connection
from events.sql import statement

_PACKAGE = "projectors"


class ProjectorBlockedError(RuntimeError):
    """The projector cannot go on until something outside it changes; the message says what. Nothing is lost."""


class Projector(Protocol):
    """A pure fold plus the tables it fills.

    ``project`` runs inside the runner's transaction with the generation's schema first on the search
    path, and must depend on nothing but the events given and the tables it wrote itself.
    """

    name: str
    batch_partitions: int

    def create_tables(self, connection: Connection) -> None: ...

    def create_indexes(self, connection: Connection) -> None: ...

    def project(self, connection: Connection, events: list[Event]) -> None: ...


@dataclass(frozen=True, slots=True)
class Generation:
    """One set of tables of a projection."""

    projection: str
    number: int

    @property
    def processor(self) -> Processor:
        """The reader whose checkpoints this generation's tables stand at."""
        return Processor(self.projection, self.number)


def use_schema(connection: Connection, schema: str) -> None:
    """Put ``schema`` first on the search path until the transaction ends."""
    connection.execute(sql.SQL("SET LOCAL search_path TO {}, public").format(sql.Identifier(schema)))


def ensure_live(connection: Connection, projector: Projector) -> Generation:
    """The live generation of ``projector``, made empty if there is none. Safe from any number of processes."""
    with connection.transaction():
        connection.execute(statement(_PACKAGE, "generations_lock"))
        row = connection.execute(
            statement(_PACKAGE, "live_generation"), {"projection": projector.name}
        ).fetchone()
        if row is not None:
            return Generation(projector.name, row[0])
        generation = Generation(projector.name, 1)
        connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(projector.name)))
        use_schema(connection, projector.name)
        projector.create_tables(connection)
        projector.create_indexes(connection)
        connection.execute(
            statement(_PACKAGE, "add_generation"),
            {"projection": projector.name, "generation": generation.number, "status": "live"},
        )
        generation.processor.open(connection)
    return generation


def hold_live(connection: Connection, projection: str) -> Generation | None:
    """The live generation, kept live until the transaction ends; None while there is none."""
    row = connection.execute(statement(_PACKAGE, "hold_live"), {"projection": projection}).fetchone()
    return None if row is None else Generation(projection, row[0])
