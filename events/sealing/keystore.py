"""The keys of subjects and the salts of events in the database. Whoever destroys them erases payloads."""

from collections.abc import Callable, Collection, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID

from psycopg.rows import tuple_row

from events.platform.database import Connection, statement, tuples_of
from events.sealing.key_encryption import WrappedKeyError
from events.sealing.sealer import Sealer, in_use

_PACKAGE = "events.sealing"
_AT_ONCE = 1_000


def destroy_subject(connection: Connection, storage_id: str) -> int:
    """Destroys the key of a user and the salts of the user's events. Returns the number of sealed events.

    After the commit nobody can open these payloads. A later event of the same user gets a new key. Payloads that were
    never sealed stay readable: see ``cardlog log seal``.
    """
    return _count(connection, "destroy_subject", {"user_id": storage_id})


def destroy_events(connection: Connection, storage_id: str, event_ids: Collection[UUID]) -> int:
    """Destroys the salts of single events of a user. Returns the number of sealed events among ``event_ids``.

    After the commit nobody can open these payloads. The other events of the user stay readable.
    """
    return _count(connection, "destroy_events", {"user_id": storage_id, "event_ids": list(event_ids)})


@dataclass(frozen=True, slots=True)
class SubjectKeys:
    """The wrapped keys of some subjects. ``fresh`` are the subjects whose key is not in the database yet."""

    sealer: Sealer
    wrapped: dict[str, bytes]
    fresh: frozenset[str]


def keys_for(connection: Connection, sealer: Sealer, users: AbstractSet[str]) -> SubjectKeys:
    """Returns the keys that seal new payloads of ``users``. Asks the database only for unknown subjects."""
    found = sealer.known.of(users)
    if unknown := users - found.keys():
        found |= wrapped_keys(connection, unknown)
    fresh = {user: sealer.new_key(user) for user in users - found.keys()}
    return SubjectKeys(sealer, found | fresh, frozenset(fresh))


def append(
    connection: Connection,
    keys: SubjectKeys,
    *,
    batch: str,
    partitions: Sequence[int],
    subjects: Sequence[str],
    salts: Sequence[bytes],
    only_adds: bool = False,
) -> list[tuple[object, ...]]:
    """Appends a batch that ``keys`` sealed, with its salts, and returns the rows of ``log.append``.

    Returns no row when another key is in force for a subject. Nothing is appended then, and the caller seals again.
    """
    places = {user: place for place, user in enumerate(keys.wrapped, 1)}
    values = {
        "batch": batch,
        "partitions": sorted(set(partitions)),
        "subjects": [places[user] for user in subjects],
        "salts": b"".join(salts),
        "users": list(keys.wrapped),
        "wrapped": list(keys.wrapped.values()),
        "fresh": [user in keys.fresh for user in keys.wrapped],
    }
    rows = tuples_of(
        connection, statement(_PACKAGE, "append_sealed_additive" if only_adds else "append_sealed"), values
    )
    if rows:
        keys.sealer.known.learn(keys.wrapped)
    else:
        keys.sealer.known.forget(keys.wrapped)
    return rows


def wrapped_keys(connection: Connection, users: Collection[str]) -> dict[str, bytes]:
    """Returns the wrapped key of each of ``users`` that has one."""
    rows = tuples_of(connection, statement(_PACKAGE, "wrapped_keys"), {"users": list(users)})
    return {user: bytes(wrapped) for user, wrapped in rows}


def any_key(connection: Connection) -> bool:
    """True when a payload of some subject may be sealed."""
    return bool(_page(connection, "", 1))


def require_keys(connection: Connection) -> None:
    """Raises :class:`KeyUnavailableError` when this process seals and lacks a key-encryption key that is in use."""
    sealer = in_use()
    if sealer is None:
        return
    for user, wrapped in tuples_of(connection, statement(_PACKAGE, "key_of_each_wrapper")):
        with suppress(WrappedKeyError):  # it concerns one user, and `cardlog log verify` names it
            sealer.rewrapped(user, bytes(wrapped))


def import_keys(
    connection: Connection,
    partition: int,
    positions: Sequence[int],
    *,
    users: Sequence[str],
    salts: Sequence[str],
    wrapped: Sequence[str | None],
) -> str | None:
    """Adds the salts and the wrapped keys of imported events, in hexadecimal.

    Returns a user who has another key here, or None. The caller then rolls back: nobody could open the events.
    """
    if not positions:
        return None
    with connection.cursor(row_factory=tuple_row) as cursor:
        values = {"partition": partition, "positions": list(positions), "users": list(users)}
        cursor.execute(statement(_PACKAGE, "import_salts"), {**values, "salts": list(salts)})
        cursor.execute(statement(_PACKAGE, "import_keys"), {**values, "wrapped": list(wrapped)})
        row = cursor.execute(
            statement(_PACKAGE, "other_key"), {**values, "wrapped": list(wrapped)}
        ).fetchone()
    return None if row is None else str(row[0])


def keys_by_wrapper(connection: Connection) -> dict[str, int]:
    """Returns the number of data keys under each key-encryption key, by the id of that key in hexadecimal."""
    return dict(tuples_of(connection, statement(_PACKAGE, "keys_by_wrapper")))


def rewrap(connection: Connection, sealer: Sealer, progress: Callable[[int], object]) -> int:
    """Wraps the keys of all subjects by the current key-encryption key. Returns the number of changed keys.

    No payload changes. The call may be repeated after an interruption. Writers and readers go on meanwhile.
    """
    after, changed, seen = "", 0, 0
    while page := _page(connection, after):
        after = page[-1][0]
        seen += len(page)
        old = [(user, wrapped) for user, wrapped in page if not sealer.encryption.is_current(wrapped)]
        if old:
            changed += _count(
                connection,
                "rewrap",
                {
                    "users": [user for user, _ in old],
                    "before": [wrapped for _, wrapped in old],
                    "after": [sealer.rewrapped(user, wrapped) for user, wrapped in old],
                },
            )
        progress(seen)
    return changed


def _page(connection: Connection, after: str, limit: int = _AT_ONCE) -> Sequence[tuple[str, bytes]]:
    rows = tuples_of(connection, statement(_PACKAGE, "keys_after"), {"after": after, "limit": limit})
    return [(user, bytes(wrapped)) for user, wrapped in rows]


def _count(connection: Connection, name: str, values: dict[str, object]) -> int:
    [row] = tuples_of(connection, statement(_PACKAGE, name), values)
    return int(row[0])
