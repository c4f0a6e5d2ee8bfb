"""The problems projector. It folds the events of problems into their present state, one user at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any
from uuid import UUID

from psycopg.rows import dict_row
from psycopg.sql import SQL

from events.platform.sql import statement
from events.problems.problem import TYPES, fold
from events.problems.rows import row_of
from events.store import log
from events.store.log import Connection
from events.types.envelope import Event, partition_of
from events.types.extraction import CardsWithdrawn
from events.types.problems import PROBLEM_EVENTS
from projectors.generations.generations import StepKind

_PACKAGE = "projectors.problems"
_AT_ONCE = 500
_STEPS: dict[StepKind, tuple[str, ...]] = {
    "tables": ("tables",),
    "indexes": ("index_problems_active",),
    "statistics": ("analyze",),
}


class ProblemsProjector:
    """Folds the log into ``entries`` and ``problems``.

    An event that names its problem in words may mean another problem once an earlier event is withdrawn. Every change
    therefore folds all problem events of its user again. A user has few of them.
    """

    name = "problems"
    package = _PACKAGE
    types = TYPES
    batch_partitions = 64
    rest_s = 0.0

    def steps(self, kind: StepKind) -> list[SQL]:
        return [statement(_PACKAGE, name) for name in _STEPS[kind]]

    def load(self, connection: Connection, events: Iterable[Event]) -> None:
        """Folds into empty tables, 500 events a transaction."""
        events = iter(events)
        while batch := list(islice(events, _AT_ONCE)):
            with connection.transaction():
                self.project(connection, batch)

    def project(self, connection: Connection, events: Sequence[Event]) -> None:
        """Folds ``events`` in order. Events of other types change nothing."""
        told = [event for event in events if isinstance(event.payload, PROBLEM_EVENTS)]
        withdrawn = [event for event in events if isinstance(event.payload, CardsWithdrawn)]
        changed = dict.fromkeys(event.user_id for event in told)
        with connection.cursor() as cursor:
            if told:
                cursor.executemany(statement(_PACKAGE, "add_entry"), [_entry(event) for event in told])
            for event in withdrawn:
                assert isinstance(event.payload, CardsWithdrawn)
                gone = {"user_id": event.user_id, "events": list(event.payload.event_ids)}
                if cursor.execute(statement(_PACKAGE, "remove_entries"), gone).rowcount:
                    changed[event.user_id] = None
            for user_id in changed:
                rows = [row_of(each) for each in fold(self._events(connection, user_id)).by_id.values()]
                cursor.execute(statement(_PACKAGE, "remove_problems"), {"user_id": user_id})
                if rows:
                    cursor.executemany(statement(_PACKAGE, "add_problem"), rows)

    def forget(
        self,
        connection: Connection,
        storage_id: str,
        event_ids: Sequence[UUID] | None,
        remaining: Iterable[Event],
    ) -> None:
        """Deletes every row of the user and folds the remaining events again. A row may rest on many events."""
        connection.execute(statement(_PACKAGE, "forget_user"), {"user_id": storage_id})
        if event_ids is not None:
            self.load(connection, remaining)

    def forget_words(self, connection: Connection, events: Sequence[Event]) -> int:
        """Returns 0: every row names its user."""
        return 0

    def held(self, connection: Connection, storage_id: str) -> dict[str, int]:
        return dict(connection.execute(statement(_PACKAGE, "held"), {"user_id": storage_id}).fetchall())

    def _events(self, connection: Connection, user_id: str) -> list[Event]:
        """Returns the problem events of a user that the tables hold, in order."""
        with connection.cursor(row_factory=dict_row) as cursor:
            rows = cursor.execute(
                statement(_PACKAGE, "folded_events"), {"user_id": user_id, "partition": partition_of(user_id)}
            ).fetchall()
        return [log.event_of(row) for row in rows]


def _entry(event: Event) -> dict[str, Any]:
    return {"user_id": event.user_id, "event_id": event.event_id, "position": event.position}
