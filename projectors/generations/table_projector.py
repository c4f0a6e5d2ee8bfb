"""What all projectors of tables do alike: their steps, loading, forgetting, and counting what they hold of a user."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import ClassVar
from uuid import UUID

from psycopg.rows import dict_row
from psycopg.sql import SQL

from events.platform.database import Connection, Row
from events.platform.sql import statement
from events.types.envelope import Event
from projectors.generations.generations import StepKind

Rows = list[Row]

AT_ONCE = 500
"""Events that are folded in one transaction when tables are loaded."""


class TableProjector(ABC):
    """A projector whose rows all name their user. See :class:`projectors.generations.generations.Projector`.

    ``package`` holds the statements of ``scripts``, and ``digest``, ``held`` and ``forget_user``.
    """

    name: str
    package: str
    types: frozenset[str]
    scripts: ClassVar[Mapping[StepKind, tuple[str, ...]]]
    batch_partitions = 64
    rest_s = 0.0

    def steps(self, kind: StepKind) -> list[SQL]:
        return [self._statement(name) for name in self.scripts[kind]]

    @abstractmethod
    def project(self, connection: Connection, events: Sequence[Event]) -> None:
        """Folds ``events`` in order. Events of other types change nothing."""

    def load(self, connection: Connection, events: Iterable[Event]) -> None:
        """Folds into empty tables, :data:`AT_ONCE` events a transaction."""
        events = iter(events)
        while batch := list(islice(events, AT_ONCE)):
            with connection.transaction():
                self.project(connection, batch)

    def forget(
        self,
        connection: Connection,
        storage_id: str,
        event_ids: Sequence[UUID] | None,
        remaining: Iterable[Event],
    ) -> None:
        """Deletes every row of the user and folds the remaining events again. A row may rest on many events."""
        connection.execute(statement(self.package, "forget_user"), {"user_id": storage_id})
        if event_ids is not None:
            self.load(connection, remaining)

    def forget_words(self, connection: Connection, events: Sequence[Event]) -> int:
        """Returns 0: every row names its user."""
        return 0

    def held(self, connection: Connection, storage_id: str) -> dict[str, int]:
        return dict(connection.execute(statement(self.package, "held"), {"user_id": storage_id}).fetchall())

    def _statement(self, name: str) -> SQL:
        return statement(self.package, name)

    def _rows(self, connection: Connection, name: str, values: Mapping[str, object]) -> Rows:
        """Returns the rows of a statement, and an empty list for a statement without rows."""
        with connection.cursor(row_factory=dict_row) as cursor:
            cursor.execute(self._statement(name), values)
            return cursor.fetchall() if cursor.description is not None else []


def columns(names: Sequence[str], rows: Iterable[Sequence[object]]) -> dict[str, list[object]]:
    """Returns ``rows``, at least one, as a list for each column: the parameters of a statement with ``unnest``."""
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
