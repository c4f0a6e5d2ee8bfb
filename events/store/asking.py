"""Reads of the streams of a user. Some ask for queries, and the caller blocks or awaits: one reader serves both."""

from collections.abc import Awaitable, Callable, Generator, Mapping
from dataclasses import dataclass
from typing import TypeVar

import psycopg
from psycopg.sql import SQL

from events.platform.database import Connection, Row, rows_of, statement
from events.store import log
from events.types.envelope import Event, partition_of

T = TypeVar("T")
Q = TypeVar("Q")


@dataclass(frozen=True, slots=True)
class Query:
    """A query with its parameters. ``folded``: the tables exist only after the first fold.

    Before that fold, the reader gets psycopg's ``UndefinedTable`` as the answer, and may ask for another query.
    """

    text: SQL
    values: Mapping[str, object]
    folded: bool = False


Asking = Generator[Query, list[Row], T]
"""A read that yields queries, gets their rows, and returns a result."""


def of_user(owner: str) -> dict[str, object]:
    """Returns the parameters that name a user and the user's partition."""
    return {"partition": partition_of(owner), "user_id": owner}


def latest(owner: str, stream: str, below: int | None = None, limit: int | None = None) -> Query:
    """Returns a query for the latest events of a stream below a version, newest first. None: no bound."""
    values = {**of_user(owner), "stream": stream, "below": below, "limit": limit}
    return Query(statement("events.store", "stream_below"), values)


def stream_of(owner: str, stream: str) -> Asking[list[Event]]:
    """Asks for the events of a stream, in order. An event that cannot be read has no payload of its type."""
    rows = yield latest(owner, stream)
    return [log.event_if_readable(row) for row in reversed(rows)]


def latest_events(connection: Connection, owner: str, stream: str, limit: int) -> list[Event]:
    """Returns the latest events of a stream, newest first."""
    query = latest(owner, stream, limit=limit)
    return [log.event_of(row) for row in rows_of(connection, query.text, query.values)]


def first_event(connection: Connection, owner: str, dedupe_key: str) -> Event | None:
    """Returns the event with an idempotency key, or None."""
    values = {**of_user(owner), "key": dedupe_key}
    rows = rows_of(connection, statement("events.store", "event_of_key"), values)
    return log.event_of(rows[0]) if rows else None


def lock(connection: Connection, owner: str, stream: str) -> None:
    """Lets commands about one stream of a user work one after the other, until the caller's transaction ends."""
    connection.execute(statement("events.store", "lock_stream"), {"user_id": owner, "stream": stream})


def answered(connection: Connection, asking: Asking[T]) -> T:
    """Returns the result of ``asking``, whose queries run on ``connection``."""

    def rows(query: Query) -> list[Row]:
        if not query.folded:
            return rows_of(connection, query.text, query.values)
        with connection.transaction():
            return rows_of(connection, query.text, query.values)

    return answered_by(rows, asking)


def answered_by(answer: Callable[[Q], list[Row]], asking: Generator[Q, list[Row], T]) -> T:
    """Returns the result of ``asking``, whose queries ``answer`` answers."""

    async def at_once(query: Q) -> list[Row]:
        return answer(query)

    try:
        awaited_by(at_once, asking).send(None)
    except StopIteration as done:
        result: T = done.value
        return result
    raise AssertionError("an answer that is there at once waits for nothing")


async def awaited_by(answer: Callable[[Q], Awaitable[list[Row]]], asking: Generator[Q, list[Row], T]) -> T:
    """Returns the result of ``asking``, whose queries ``answer`` answers without blocking."""
    try:
        query = next(asking)
        while True:
            try:
                rows = await answer(query)
            except psycopg.errors.UndefinedTable as missing:
                query = asking.throw(missing)
            else:
                query = asking.send(rows)
    except StopIteration as done:
        result: T = done.value
        return result
