"""The audit log: who read or changed whose memory, and what was denied. It never holds content.

The entries form one chain of digests in ``audit.entries``. A user is a keyed hash there, so an exported audit log
names nobody, and the erasure of a user leaves no name in it.
"""

import hmac
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal, get_args
from uuid import UUID

import orjson
from psycopg.rows import dict_row

from events.access.principal import Principal
from events.platform.database import Connection, Row, one_row, statement
from events.types.envelope import uuid7

Outcome = Literal["begun", "allowed", "denied", "refused", "failed", "lost"]
"""``begun``: the request had not acted yet (strict only). ``allowed``: it acted. ``denied``: it had no right.
``refused``: it was invalid, or found nothing. ``failed``: a server failed. ``lost``: entries that were not written."""
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)

_PACKAGE = "events.access"
_METHODS = frozenset(("DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT"))
_SUBJECT_BYTES = 16
_LONGEST_NAME = 200
_EXPORT_ROWS = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One request. ``users`` are the storage ids whose memory it names; only their keyed hashes are written.

    ``operation`` is the operation id of a route, or the name of a command. ``requests``: more than 1 only for
    entries that represent several lost ones.
    """

    service: str
    operation: str
    outcome: Outcome
    users: tuple[str, ...] = ()
    principal: Principal | None = None
    method: str | None = None
    status: int | None = None
    requests: int = 1
    at: datetime = field(default_factory=lambda: datetime.now(UTC))
    request_id: UUID = field(default_factory=uuid7)
    entry_id: UUID = field(default_factory=uuid7)


def subject_key(connection: Connection) -> bytes:
    """Returns the key of the hashes in the audit log."""
    row = one_row(connection, statement(_PACKAGE, "subject_key"))
    return bytes(row[0])


def subject_of(key: bytes, storage_id: str) -> str:
    """Returns the keyed hash that represents a user in the audit log: 32 hexadecimal digits."""
    digest = hmac.digest(key, storage_id.encode("utf-8", "surrogatepass"), "sha256")
    return digest[:_SUBJECT_BYTES].hex()


def record(connection: Connection, entries: Sequence[Entry], key: bytes | None = None) -> int:
    """Appends ``entries`` and returns how many were new. An entry is written once, however often it is given.

    ``key`` is the result of :func:`subject_key`; None reads it.
    """
    if not entries:
        return 0
    if key is None:
        key = subject_key(connection)
    batch = orjson.dumps([_row(entry, key) for entry in entries]).decode()
    row = one_row(connection, statement(_PACKAGE, "append_audit"), {"batch": batch})
    return int(row[0])


def _row(entry: Entry, key: bytes) -> dict[str, object]:
    principal = entry.principal
    return {
        "entry_id": entry.entry_id,
        "request_id": entry.request_id,
        "at": entry.at,
        "service": entry.service,
        "tenant": None if principal is None else principal.tenant,
        "key_id": None if principal is None or principal.key_id is None else _name(principal.key_id),
        "scopes": [] if principal is None else sorted(principal.scopes),
        "operation": entry.operation,
        "method": entry.method if entry.method is None or entry.method in _METHODS else "OTHER",
        "subjects": sorted({subject_of(key, user) for user in entry.users}),
        "outcome": entry.outcome,
        "status": entry.status,
        "requests": entry.requests,
    }


def _name(text: str) -> str:
    """Returns ``text`` as the database can keep it. The subject of a signed token is foreign text."""
    return "".join(char if char.isprintable() else "\ufffd" for char in text[:_LONGEST_NAME])


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """The wanted entries. None leaves a condition out. ``subject`` is a result of :func:`subject_of`.

    ``within``: only entries that name a user, and nobody else than these subjects.
    """

    tenant: str | None = None
    subject: str | None = None
    within: list[str] | None = None
    key_id: str | None = None
    operation: str | None = None
    outcome: str | None = None
    since: datetime | None = None
    until: datetime | None = None

    def parameters(self, *, before: int | None, limit: int) -> dict[str, object]:
        """Returns the parameters of the statement ``audit_page``: entries below the position ``before``."""
        named = {name: getattr(self, name) for name in self.__slots__}
        return {**named, "before": before, "limit": limit}


def page(connection: Connection, wanted: Filter, *, limit: int, before: int | None = None) -> list[Row]:
    """Returns at most ``limit`` entries below the position ``before``, the newest first."""
    with connection.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(
            statement(_PACKAGE, "audit_page"), wanted.parameters(before=before, limit=limit)
        ).fetchall()
    return [document(row) for row in rows]


def every_entry(connection: Connection) -> Iterator[dict[str, object]]:
    """Yields every entry in the order of the chain, from one snapshot. The connection must not be in autocommit."""
    with connection.cursor("audit_export", row_factory=dict_row) as cursor:
        cursor.itersize = _EXPORT_ROWS
        cursor.execute(statement(_PACKAGE, "audit_export"))
        for row in cursor:
            yield document(row)


def document(row: Mapping[str, object]) -> Row:
    """Returns a row as JSON values."""
    return {
        name: value.astimezone(UTC).isoformat()
        if isinstance(value, datetime)
        else str(value)
        if isinstance(value, UUID)
        else bytes(value).hex()
        if isinstance(value, bytes | memoryview)
        else value
        for name, value in row.items()
    }
