"""A projector: a pure fold and the tables that it fills."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Literal
from uuid import UUID

from psycopg import sql
from psycopg.rows import dict_row

from events.platform.database import Connection, Row, statement, statements
from events.types.envelope import Event

StepKind = Literal["tables", "indexes", "statistics"]
_NAMES: Mapping[StepKind, str] = {"tables": "tables", "indexes": "index", "statistics": "analyze"}
Rows = list[Row]
AT_ONCE = 500
"""Events that are folded in one transaction when tables are loaded."""


class ProjectorBlockedError(RuntimeError):
    """The projector cannot continue until something outside it changes. The message names it. Nothing is lost."""


@dataclass(frozen=True, slots=True)
class Hindrance:
    """Why deferred work cannot be done now. ``reason`` names the remedy. The next attempt is ``again_s`` seconds away.

    ``whole``: nothing can be done. Else a part of the work goes on.
    """

    reason: str
    whole: bool
    again_s: float


class Projector(ABC):
    """A pure fold and the tables that it fills. Every row names its user.

    ``package`` holds the scripts, and the statements ``digest``, ``held`` and ``forget_user``. There, the names of all
    statements of the projector begin with ``prefix``, and then those of scripts with ``tables``, ``index`` and
    ``analyze``. A script is a step: the tables in order, the indexes, and the statistics. Index steps, and then
    statistics, may run at the same time. The longest step comes first. The owner of the tables runs them: see
    :func:`run_step`.
    ``project`` and ``load`` leave the same rows, whatever the batches are.
    A live round begins at least ``rest_s`` seconds after the round before, unless more events are known to wait.
    A projector may defer the slow part of its work, so that its checkpoint keeps up with the log. When the lag is above
    ``defer_above`` events, ``deferred`` folds in its place. When all deferred work is settled, the rows are the same as
    after ``project``. A batch of a rebuild has at most ``batch_partitions`` partitions.
    A projector must be picklable, because the processes of a rebuild receive it that way.
    """

    name: str
    package: str
    prefix = ""
    types: frozenset[str]
    batch_partitions = 64
    at_once = AT_ONCE
    rest_s = 0.0
    defer_above = 0

    def steps(self, kind: StepKind) -> list[sql.SQL]:
        """Returns the scripts of a kind, in the order of the file."""
        begin = self.prefix + _NAMES[kind]
        return [statement(self.package, name) for name in statements(self.package) if name.startswith(begin)]

    def seed(self, connection: Connection) -> None:  # noqa: B027 - most generations begin without rows
        """Writes the first rows of a new generation, whose schema is first on the search path."""

    @abstractmethod
    def project(self, connection: Connection, events: Sequence[Event]) -> None:
        """Folds ``events`` in order, in the transaction of the caller. Events of other types change nothing.

        The generation's schema is first on the search path. The result depends only on the given events and on the
        tables that the projector wrote.
        """

    def load(self, connection: Connection, events: Iterable[Event]) -> None:
        """Folds the whole history of whole users, one user after the other, ``at_once`` events a transaction.

        The tables hold no row of those users. ``events`` are of ``types`` only.
        """
        events = iter(events)
        while batch := list(islice(events, self.at_once)):
            with connection.transaction():
                self.project(connection, batch)

    def forget(
        self,
        connection: Connection,
        storage_id: str,
        event_ids: Sequence[UUID] | None,
        remaining: Iterable[Event],
    ) -> None:
        """Removes every row that was made of the events ``event_ids`` of a user, or every row of the user for None.

        ``remaining`` are the other events of the user that the tables hold, in order. The rows are then the same as
        after a fold of these events alone. A row may rest on many events, so these events are folded again.
        """
        connection.execute(statement(self.package, self.prefix + "forget_user"), {"user_id": storage_id})
        if event_ids is not None:
            self.load(connection, remaining)

    def forget_words(self, connection: Connection, events: Sequence[Event]) -> int:
        """Deletes what the projector keeps under the words of ``events`` without a user. Returns the number of rows."""
        return 0

    @property
    def deferred(self) -> "Projector | None":
        """The fold that defers the slow part. None: this projector defers nothing."""
        return None

    @property
    def hindrance(self) -> Hindrance | None:
        """Why some deferred items cannot be settled now. None: all can."""
        return None

    def settle(self, connection: Connection) -> int:
        """Does a part of the deferred work, in the caller's transaction, with the schema first on the search path.

        Returns the number of finished items, and 0 when no deferred work is left that can be done now.
        """
        return 0

    def left(self, connection: Connection) -> tuple[int, float | None]:
        """Returns the number of deferred items, and the age of the oldest in seconds."""
        return 0, None

    def held(self, connection: Connection, storage_id: str) -> dict[str, int]:
        """Returns the number of rows of a user by table."""
        return dict(
            connection.execute(
                statement(self.package, self.prefix + "held"), {"user_id": storage_id}
            ).fetchall()
        )

    def _statement(self, name: str) -> sql.SQL:
        return statement(self.package, self.prefix + name)

    def _rows(self, connection: Connection, name: str, values: Mapping[str, object]) -> Rows:
        """Returns the rows of a statement, and an empty list for a statement without rows."""
        with connection.cursor(row_factory=dict_row) as cursor:
            cursor.execute(self._statement(name), values)
            return cursor.fetchall() if cursor.description is not None else []


def columns(names: Sequence[str], rows: Iterable[Sequence[object]]) -> dict[str, list[object]]:
    """Returns ``rows``, at least one, as a list for each column: the parameters of a statement with ``unnest``."""
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
