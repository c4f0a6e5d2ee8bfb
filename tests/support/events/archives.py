"""Events with every kind of text, for archives."""

from datetime import UTC, datetime
from typing import Any

from events.platform.database import Connection
from events.store import log
from events.types.envelope import NewEvent
from tests.support.events import turns
from tests.support.events.turns import recorded

NOW = datetime(2026, 5, 8, 16, 44, 10, 123456, tzinfo=UTC)


def turn(user: str, text: str, **more: Any) -> NewEvent:
    return turns.turn(user, recorded(text, said_at=NOW), **{"dedupe_key": f"turn/{text}"} | more)


def fill(connection: Connection, begin: int, end: int, users: int = 20) -> None:
    log.append(connection, [turn(f"user{n % users}", f"turn {n}") for n in range(begin, end)])


def rows_of(connection: Connection) -> list[tuple[Any, ...]]:
    """Returns everything the log holds, with each payload as its exact text."""
    return connection.execute(
        "SELECT partition, position, event_id, user_id, stream, version, type, schema_version, dedupe_key, "
        "occurred_at, recorded_at, actor, causation_id, correlation_id, data::text, digest "
        "FROM log.events ORDER BY partition, position"
    ).fetchall()


def heads_of(connection: Connection) -> list[tuple[Any, ...]]:
    return connection.execute(
        "SELECT partition, position, digest, recorded_at::text FROM log.heads ORDER BY 1"
    ).fetchall()
