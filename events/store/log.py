"""Appends to the log, reads it and follows it. Every other table is folded from the log."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from uuid import UUID

import orjson
import psycopg
from psycopg import Notify
from psycopg.rows import TupleRow, tuple_row

import events.types  # noqa: F401  (registers every event type)
from events.platform.database import Connection, Row, rows_of, statement, tuples_of
from events.platform.failures import in_a_line
from events.platform.settings import SettingsError
from events.sealing import keystore
from events.sealing import sealer as sealing
from events.store import authentication
from events.store.bounds import check
from events.types.codec import PayloadError, UnknownEventTypeError, decode, describe, encode, visible
from events.types.envelope import Appended, Event, NewEvent, Payload, partition_of
from events.types.tombstones import Erased

_PATIENCE_S = 0.5
_PAGE = 500


EVENT_COLUMNS = (
    "partition", "position", "event_id", "user_id", "stream", "version", "type", "schema_version", "dedupe_key",
    "occurred_at", "recorded_at", "actor", "causation_id", "correlation_id", "data",
)  # fmt: skip
"""The columns of a row of :func:`event_of`."""

# Postgres and Python can both read these years in every timezone.
_YEARS = range(2, 9999)
_INSTANTS = ("occurred_at", "recorded_at")
_SEALING_ATTEMPTS = 5
_NO_INSTANT = datetime(1970, 1, 1, tzinfo=UTC)
# NUL as JSON writes it. The server stores such a payload, and then refuses every query that looks into it.
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")


class EventRefusedError(ValueError):
    """The event is refused because some reader of the log could not read it. The log keeps events forever."""


class SealedPayloadError(PayloadError):
    """A sealed payload does not fit its event. The message names partition, position and what does not fit."""


class AppendConflictError(RuntimeError):
    """The stream is not at the expected version. Nothing of the batch was appended."""


def append(connection: Connection, batch: Sequence[NewEvent], *, only_adds: bool = False) -> list[Appended]:
    """Appends all of ``batch`` or nothing, in one round trip. The events are durable after the commit.

    Positions continue each partition without a hole. An event whose dedupe key is in the log already is not appended
    again and comes back as a duplicate. The result has the order of ``batch``. The caller calls :func:`announce` after
    the commit. With ``only_adds`` the server refuses every event that the curator may not append; its role has no right
    to append in another way.

    Raises :class:`AppendConflictError` when a stream does not have its expected version. Raises
    :class:`EventRefusedError` for an instant or a character that the log could not return. Raises the errors of the
    codec and of the server for other unfit data.
    """
    if not batch:
        return []
    sealer = sealing.in_use()
    try:
        rows = (
            _append_plain(connection, batch, only_adds=only_adds)
            if sealer is None
            else _append_sealed(connection, batch, sealer, only_adds=only_adds)
        )
    except psycopg.errors.SerializationFailure as error:
        raise AppendConflictError(str(error.diag.message_primary)) from error
    places = [Appended(row[1], row[2] or 0, row[3] or 0, row[4], row[5]) for row in rows]
    firsts: dict[tuple[str, str], Appended] = {}
    for index, (event, place) in enumerate(zip(batch, places, strict=True)):
        if event.dedupe_key is not None:
            first = firsts.setdefault((event.user_id, event.dedupe_key), place)
            if place.duplicate and not place.position:
                # The server only finds duplicates of older events. The first of these two is in this batch.
                places[index] = replace(first, duplicate=True)
    return places


def _append_plain(connection: Connection, batch: Sequence[NewEvent], *, only_adds: bool) -> list[TupleRow]:
    items = [_item(event, _data(event)) for event in batch]
    query = statement("events.store", "append_additive" if only_adds else "append")
    with connection.cursor(row_factory=tuple_row) as cursor:
        return cursor.execute(query, {"batch": orjson.dumps(items).decode()}).fetchall()


def _append_sealed(
    connection: Connection, batch: Sequence[NewEvent], sealer: sealing.Sealer, *, only_adds: bool
) -> list[TupleRow]:
    """Appends ``batch`` with sealed payloads, and their salts in the same transaction."""
    plain = [_data(event) for event in batch]
    for _ in range(_SEALING_ATTEMPTS):
        keys = keystore.keys_for(connection, sealer, {event.user_id for event in batch})
        salts = sealing.new_salts(len(batch))
        items = []
        for event, data, salt in zip(batch, plain, salts, strict=True):
            name, schema_version = describe(event.payload)
            sealed = sealer.seal(
                keys.wrapped[event.user_id], salt, event.user_id, event.event_id, name, schema_version, data,
                visible(event.payload),
            )  # fmt: skip
            items.append(_item(event, sealed))
        rows = keystore.append(
            connection,
            keys,
            batch=orjson.dumps(items).decode(),
            partitions=[item["partition"] for item in items],
            subjects=[event.user_id for event in batch],
            salts=salts,
            only_adds=only_adds,
        )
        if rows:
            return rows
        # The key of a subject was destroyed, wrapped again or made by another writer since this process read it.
    raise AppendConflictError("the keys of the subjects changed during every attempt")


def _item(event: NewEvent, data: bytes) -> Row:
    """Returns the item of ``log.append`` for an event with the stored payload ``data``."""
    name, schema_version = describe(event.payload)
    keyring = authentication.in_use()
    mac = None
    if keyring is not None:
        signed = authentication.content(
            event.event_id, event.user_id, event.stream, name, schema_version, event.dedupe_key, event.occurred_at,
            event.actor, event.causation_id, event.correlation_id, data,
        )  # fmt: skip
        mac = "\\x" + keyring.mac(signed).hex()
    return {
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
        "mac": mac,
    }


def _instant(instant: datetime) -> datetime:
    """Returns ``instant`` in UTC. The server takes fewer offsets than Python and renders their seconds wrongly."""
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
    check(event.payload)
    data = encode(event.payload)
    if b"\\u0000" in data and _NUL.search(data) is not None:
        raise EventRefusedError(f"{type(event.payload).__name__} holds a NUL character")
    return data


def stop_appends(connection: Connection, storage_id: str) -> None:
    """Lets nobody else append to the partition of a user until the transaction of the caller ends.

    Waits for the appends that run. The statements after it see what they appended.
    """
    connection.execute(statement("events.store", "stop_appends"), {"partition": partition_of(storage_id)})


def announce(connection: Connection, events: Iterable[NewEvent] = (), *, types: Collection[str] = ()) -> None:
    """Wakes the followers of ``types`` and of the types of ``events``. Without both, wakes every follower.

    The announcement may get lost, because followers also look at regular intervals.
    """
    named = sorted({*types, *(describe(event.payload)[0] for event in events)})
    connection.execute(statement("events.store", "notify"), {"types": " ".join(named)})


def read(connection: Connection, partition: int, *, after: int = 0, limit: int | None = None) -> list[Event]:
    """Returns the events of ``partition`` above position ``after``, in order, at most ``limit``."""
    rows = rows_of(
        connection,
        statement("events.store", "read_partition"),
        {"partition": partition, "after": after, "limit": limit},
    )
    for row in rows:
        del row["digest"]
    return [event_of(row) for row in rows]


def history(
    connection: Connection,
    user_id: str,
    *,
    after: int = 0,
    up_to: int | None = None,
    types: Collection[str] | None = None,
) -> Iterator[Event]:
    """Yields the events of a user between two positions in order, also those that nobody can read. None: all types.

    Only the positions are held all at once. No index has the order of a user's events, so a page that starts at a
    position would read the whole history.
    """
    named = {"partition": partition_of(user_id), "user_id": user_id}
    bounds = {"after": after, "up_to": up_to, "types": None if types is None else sorted(types)}
    found = tuples_of(connection, statement("events.store", "positions_of_user"), named | bounds)
    query = statement("events.store", "events_of_user_at")
    for start in range(0, len(found), _PAGE):
        positions = [position for (position,) in found[start : start + _PAGE]]
        yield from map(event_if_readable, rows_of(connection, query, named | {"positions": positions}))


def event_of(row: Row) -> Event:
    """Returns the event of ``row`` and changes ``row``. A sealed payload is opened.

    The payload of an erased event is :class:`Erased`. Raises the errors of the codec for data it cannot read,
    :class:`SealedPayloadError` for a sealed payload that was changed, and
    :class:`events.sealing.key_encryption.KeyUnavailableError` without the key-encryption key.
    """
    for field in _INSTANTS:
        if not isinstance(row[field], datetime):
            raise PayloadError(f"{field}: {in_a_line(str(row[field]), 40)} is no instant that can be read")
    row["payload"] = payload_of(
        row.pop("data"),
        row["partition"],
        row["position"],
        row["event_id"],
        row["user_id"],
        row["type"],
        row["schema_version"],
    )
    return Event(**row)


def recorded(event: NewEvent, place: Appended) -> Event:
    """Returns an event as the log has it at its place, which is not that of a duplicate."""
    name, schema_version = describe(event.payload)
    assert place.recorded_at is not None
    return Event(
        partition=place.partition,
        position=place.position,
        event_id=event.event_id,
        user_id=event.user_id,
        stream=event.stream,
        version=place.version,
        type=name,
        schema_version=schema_version,
        dedupe_key=event.dedupe_key,
        occurred_at=event.occurred_at,
        recorded_at=place.recorded_at,
        actor=event.actor,
        causation_id=event.causation_id,
        correlation_id=event.correlation_id,
        payload=event.payload,
    )


def payload_of(
    data: str, partition: int, position: int, event_id: UUID, user_id: str, type: str, schema_version: int
) -> Payload:
    """Returns the payload in ``data``, the text of ``sealing.readable``, as :func:`event_of` does."""
    if not _is_sealed(data):
        return decode(type, schema_version, data)
    try:
        opened = sealing.opened(data, user_id, event_id, type, schema_version)
    except sealing.SealBrokenError as error:
        raise SealedPayloadError(f"partition {partition}, position {position}: {error}") from None
    return opened if isinstance(opened, Erased) else decode(type, schema_version, opened)


def text_of(data: str, user_id: str, event_id: UUID, type: str, schema_version: int) -> str:
    """Returns the payload in ``data``, the text of ``sealing.readable``, as one JSON object for operators.

    An erased payload is ``{"erased": reason}``. A payload that cannot be opened here is returned as it is stored.
    """
    if not _is_sealed(data):
        return data
    try:
        opened = sealing.opened(data, user_id, event_id, type, schema_version)
    except (sealing.SealBrokenError, SettingsError):
        return stored_of(data)
    return orjson.dumps(
        {"erased": opened.reason} if isinstance(opened, Erased) else orjson.Fragment(opened)
    ).decode()


def stored_of(data: str) -> str:
    """Returns the payload as it is stored, from the text of ``sealing.readable``."""
    return data.partition("\n")[0] if _is_sealed(data) else data


def events_of(rows: Iterable[dict[str, object]]) -> list[Event]:
    """Returns the events of ``rows`` that are not erased. Changes ``rows``. Raises the errors of :func:`event_of`."""
    return unerased(map(event_of, rows))


def unerased(events: Iterable[Event]) -> list[Event]:
    """Returns ``events`` without the erased ones. An erased event says nothing any more."""
    return [event for event in events if not isinstance(event.payload, Erased)]


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Replaces a payload that this build cannot read. ``reason`` says why. ``data`` is the payload as stored."""

    reason: str
    data: str


def event_if_readable(row: Row) -> Event:
    """Returns the event of ``row``, with :class:`Unreadable` for an unreadable payload.

    An unreadable instant of such an event is 1970-01-01. Raises only
    :class:`events.sealing.key_encryption.KeyUnavailableError`, without the key-encryption key.
    """
    data = row["data"]
    try:
        return event_of(row)
    except SettingsError:
        # A missing key-encryption key says nothing about the event.
        raise
    except Exception as error:
        # Decoding is pure. Every error of the codec or of an upcaster therefore comes from these bytes.
        row.pop("data", None)
        row["payload"] = Unreadable(reason_of(error), stored_of(data))
        row.update({field: _NO_INSTANT for field in _INSTANTS if not isinstance(row[field], datetime)})
        return Event(**row)


def _is_sealed(data: str) -> bool:
    return data.startswith(sealing.PREFIX)


def reason_of(error: Exception) -> str:
    """Returns ``error`` as one line for operators. The line holds no words of users."""
    text = str(error)
    if isinstance(error, psycopg.Error):
        # The lines after the first may hold the refused row, and with it words of a user.
        text = text.partition("\n")[0]
    text = in_a_line(text)
    if isinstance(error, UnknownEventTypeError | PayloadError):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def heads(connection: Connection) -> dict[int, int]:
    """Returns the last position of every partition."""
    with connection.cursor(row_factory=tuple_row) as cursor:
        return dict(cursor.execute(statement("events.store", "heads")).fetchall())


class Follower:
    """Waits for the log to grow, on a connection that its owner uses between the waits.

    An append that is announced between two waits ends the next one. A lost notification costs at most the patience of
    the wait, because the caller looks after it. Events of other types than ``types`` end no wait. None means all types.
    """

    def __init__(self, connection: Connection, types: Collection[str] | None) -> None:
        self._connection = connection
        self._types = types
        self._heard = False
        connection.autocommit = True
        connection.execute(statement("events.store", "listen"))
        connection.add_notify_handler(self._hear)

    def wait(self, patience: float | None = None) -> bool:
        """Waits at most ``patience`` seconds, or half a second. Returns True when an append was announced."""
        # psycopg keeps what it hears outside a wait only without a handler, and then without a bound.
        self._connection.remove_notify_handler(self._hear)
        try:
            if not self._heard:
                told = self._connection.notifies(timeout=_PATIENCE_S if patience is None else patience)
                self._heard = any(self._follows(each.payload) for each in told)
                told.close()
        finally:
            self._connection.add_notify_handler(self._hear)
        heard, self._heard = self._heard, False
        return heard

    def _hear(self, told: Notify) -> None:
        self._heard = self._heard or self._follows(told.payload)

    def _follows(self, payload: str) -> bool:
        types = payload.split()
        return not types or self._types is None or any(each in self._types for each in types)
