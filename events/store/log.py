"""The append-only log: append, read, follow. The only truth; everything else is folded from it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any

import orjson
import psycopg
from psycopg.rows import tuple_row

import events.types  # noqa: F401  (registers every event type)
from events.platform.failures import in_a_line
from events.platform.sql import statement
from events.store import authentication
from events.store.bounds import check
from events.store.rows import rows_of
from events.types.codec import PayloadError, UnknownEventTypeError, decode, describe, encode
from events.types.envelope import Appended, Event, NewEvent, partition_of

CHANNEL = "cardlog_log"

Connection = psycopg.Connection[Any]


# What both Postgres and Python can read, whatever the timezone it is shown in.
_YEARS = range(2, 9999)
_INSTANTS = ("occurred_at", "recorded_at")
_NO_INSTANT = datetime(1970, 1, 1, tzinfo=UTC)
# NUL as JSON writes it. The server keeps it, and then refuses every question about what is in such a payload.
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")


class EventRefusedError(ValueError):
    """An event that some reader of the log could not take, refused before it is there for ever."""


class AppendConflictError(RuntimeError):
    """A stream was not at the version the appender expected; nothing of the batch was appended."""


def append(connection: Connection, batch: Sequence[NewEvent]) -> list[Appended]:
    """Append ``batch`` in one round trip; all of it or nothing, durable when the transaction commits.

    Positions continue each partition's count without a hole. Events whose dedupe key is already there
    are not appended again and come back as duplicates, in the order given. Call :func:`announce` after
    the commit. Raises :class:`AppendConflictError` where an expected stream version does not hold,
    :class:`EventRefusedError` for an instant or a character that the log could not give back, and what the codec
    and the server raise for other data they cannot take.
    """
    if not batch:
        return []
    items = []
    keyring = authentication.in_use()
    for event in batch:
        check(event.payload)
        name, schema_version = describe(event.payload)
        data = _data(event)
        items.append(
            {
                "partition": partition_of(event.user_id),
                "event_id": event.event_id,
                "user_id": event.user_id,
                "stream": event.stream,
                "type": name,
                "schema_version": schema_version,
                "dedupe_key": event.dedupe_key,
                "expected_version": event.expected_version,
                "occurred_at": _instant(event.occurred_at),
                "actor": event.actor,
                "causation_id": event.causation_id,
                "correlation_id": event.correlation_id,
                "data": orjson.Fragment(data),
                "mac": None
                if keyring is None
                else "\\x" + _mac(keyring, event, name, schema_version, data).hex(),
            }
        )
    try:
        with connection.cursor(row_factory=tuple_row) as cursor:
            rows = cursor.execute(
                statement("events.store", "append"), {"batch": orjson.dumps(items).decode()}
            ).fetchall()
    except psycopg.errors.SerializationFailure as error:
        raise AppendConflictError(str(error.diag.message_primary)) from error
    places = [Appended(row[1], row[2] or 0, row[3] or 0, row[4], row[5]) for row in rows]
    firsts: dict[tuple[str, str], Appended] = {}
    for index, (event, place) in enumerate(zip(batch, places, strict=True)):
        if event.dedupe_key is not None:
            first = firsts.setdefault((event.user_id, event.dedupe_key), place)
            if place.duplicate and not place.position:
                # The server looks among what was there before; this one's first was appended a moment ago.
                places[index] = replace(first, duplicate=True)
    return places


def _instant(instant: datetime) -> datetime:
    """The same instant in UTC: the server takes few of the offsets that Python does, and renders seconds wrongly."""
    try:
        instant = instant.astimezone(UTC)
    except OverflowError:
        raise EventRefusedError(
            f"occurred_at: {instant.isoformat()} is not within years that can be kept"
        ) from None
    if instant.year not in _YEARS:
        raise EventRefusedError(
            f"occurred_at: the year {instant.year} is not one of {_YEARS[0]} to {_YEARS[-1]}"
        )
    return instant


def _data(event: NewEvent) -> bytes:
    data = encode(event.payload)
    if b"\\u0000" in data and _NUL.search(data) is not None:
        raise EventRefusedError(f"{type(event.payload).__name__} holds a NUL character")
    return data


def _mac(
    keyring: authentication.Keyring, event: NewEvent, name: str, schema_version: int, data: bytes
) -> bytes:
    return keyring.mac(
        authentication.content(
            event.event_id, event.user_id, event.stream, name, schema_version, event.dedupe_key, event.occurred_at,
            event.actor, event.causation_id, event.correlation_id, data,
        )
    )  # fmt: skip


def announce(connection: Connection, events: Iterable[NewEvent] = ()) -> None:
    """Wake whoever follows the log for events of these types, everybody where none are named. Only a hint:
    followers also look by themselves."""
    types = sorted({describe(event.payload)[0] for event in events})
    connection.execute(statement("events.store", "notify"), {"types": " ".join(types)})


def read(connection: Connection, partition: int, *, after: int = 0, limit: int | None = None) -> list[Event]:
    """Events of ``partition`` with positions above ``after``, in order."""
    rows = rows_of(
        connection,
        statement("events.store", "read_partition"),
        {"partition": partition, "after": after, "limit": limit},
    )
    for row in rows:
        del row["digest"]
    return [event_of(row) for row in rows]


def event_of(row: dict[str, Any]) -> Event:
    """An event from its row; consumes ``row``. Raises the codec's errors for data it cannot read."""
    for field in _INSTANTS:
        if not isinstance(row[field], datetime):
            raise PayloadError(f"{field}: {in_a_line(str(row[field]), 40)} is no instant that can be read")
    row["payload"] = decode(row["type"], row["schema_version"], row.pop("data"))
    return Event(**row)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Stands where the payload of an event would that this build cannot read; ``reason`` says why."""

    reason: str
    data: str


def event_if_readable(row: dict[str, Any]) -> Event:
    """Like :func:`event_of`, with :class:`Unreadable` for a payload the codec refuses. Never raises.

    Such an event has the first day of all for an instant that cannot be read.
    """
    data = row["data"]
    try:
        return event_of(row)
    except Exception as error:
        # Decoding is pure, so whatever was raised came from these very bytes: by the codec or by an upcaster.
        row.pop("data", None)
        row["payload"] = Unreadable(reason_of(error), data)
        row.update({field: _NO_INSTANT for field in _INSTANTS if not isinstance(row[field], datetime)})
        return Event(**row)


def reason_of(error: Exception) -> str:
    """What went wrong, in a line an operator can read."""
    text = str(error)
    if isinstance(error, psycopg.Error):
        # The lines after the first may hold the row that was refused, and with it what somebody said.
        text = text.partition("\n")[0]
    text = in_a_line(text)
    if isinstance(error, UnknownEventTypeError | PayloadError):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def heads(connection: Connection) -> dict[int, int]:
    """The last position of every partition."""
    with connection.cursor(row_factory=tuple_row) as cursor:
        return dict(cursor.execute(statement("events.store", "heads")).fetchall())


class Follower:
    """Waits for the log to grow, on a connection of its own.

    A lost notification costs at most ``patience`` seconds: the wait ends by itself and the caller looks. That is soon
    enough for events of other ``types`` than those that are followed; None is all.
    """

    def __init__(
        self, connection: Connection, types: Collection[str] | None = None, patience: float = 0.5
    ) -> None:
        self._connection = connection
        self._types = types
        self._patience = patience
        connection.autocommit = True
        connection.execute(statement("events.store", "listen"))

    def wait(self, patience: float | None = None) -> bool:
        """Return when the log was announced to have grown (True) or ``patience`` ran out (False)."""
        timeout = self._patience if patience is None else patience
        heard = self._connection.notifies(timeout=timeout)
        woken = any(self._follows(each.payload) for each in heard)
        heard.close()
        return woken

    def _follows(self, payload: str) -> bool:
        types = payload.split()
        return not types or self._types is None or any(each in self._types for each in types)
