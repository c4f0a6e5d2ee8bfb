"""Events that a projection refuses, and the projector that refuses them."""

import json
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from uuid import UUID

from psycopg import sql

from events.platform.database import Connection
from events.types.envelope import Event, NewEvent, partition_of, uuid7
from projectors.generations.projector import Projector, StepKind
from projectors.runner import Runner
from tests.support.databases import Place
from tests.support.projectors import folding
from tests.support.projectors.folding import settings_of

NOW = datetime(2026, 5, 8, 16, 44, 10, tzinfo=UTC)


def noted(user: str, content: str) -> NewEvent:
    return folding.noted(content, user)


def append_raw(
    connection: Connection, user: str, *, kind: str, version: int = 1, data: object = None
) -> None:
    """An event as another build would have written it."""
    item = {
        "partition": partition_of(user),
        "event_id": str(uuid7()),
        "user_id": user,
        "stream": "session/default/s",
        "type": kind,
        "schema_version": version,
        "occurred_at": NOW.isoformat(),
        "actor": "another build",
        "data": data or {},
    }
    connection.execute("SELECT log.append(%s::text::json)", (json.dumps([item]),))


class Ledger(Projector):
    """A projector that keeps the order of its events, and refuses the words that a test names."""

    name = "ledger"
    package = "tests"
    types = frozenset(["EventNoted"])

    def __init__(self, *refused: str) -> None:
        self.refused = set(refused)
        self.error: type[Exception] = ValueError

    def steps(self, kind: StepKind) -> list[sql.SQL]:
        table = "CREATE TABLE entries (number bigint GENERATED ALWAYS AS IDENTITY, user_id text, content text UNIQUE)"
        return [sql.SQL(table)] if kind == "tables" else []

    def forget(
        self,
        connection: Connection,
        storage_id: str,
        event_ids: Sequence[UUID] | None,
        remaining: Iterable[Event],
    ) -> None:
        connection.execute("DELETE FROM entries WHERE user_id = %s", (storage_id,))
        if event_ids is not None:
            self.load(connection, remaining)

    def held(self, connection: Connection, storage_id: str) -> dict[str, int]:
        rows = connection.execute("SELECT count(*) FROM entries WHERE user_id = %s", (storage_id,))
        return {"entries": rows.fetchall()[0][0]}

    def project(self, connection: Connection, events: Sequence[Event]) -> None:
        for event in events:
            # The row is written first, so a test sees that a refused batch leaves no row.
            connection.execute(
                "INSERT INTO entries (user_id, content) VALUES (%s, %s)",
                (event.user_id, event.payload.content),
            )
            if event.payload.content in self.refused:
                raise self.error(f"cannot stomach {event.payload.content}")


def entries(connection: Connection, user: str) -> list[str]:
    rows = connection.execute(
        "SELECT content FROM ledger.entries WHERE user_id = %s ORDER BY number", (user,)
    )
    return [row[0] for row in rows]


def parked(connection: Connection, processor: str) -> list[tuple[str, str, str | None, int]]:
    """(user, content or type, reason, attempts) of every parked event, in order."""
    return connection.execute(
        "SELECT p.user_id, coalesce(e.data->>'content', e.type), p.reason, p.attempts FROM log.parked p "
        "JOIN log.events e USING (partition, position) WHERE p.processor = %s ORDER BY p.user_id, p.position",
        (processor,),
    ).fetchall()


def runner_of(database: Place, projector: Projector) -> Runner:
    return Runner(settings_of(database), projector, lambda: False)


def drain(runner: Runner, connection: Connection) -> int:
    total = 0
    while passed := runner.step(connection):
        total += passed
    return total
