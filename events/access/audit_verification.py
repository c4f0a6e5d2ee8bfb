"""Verifies the audit log: no hole, no changed entry, and the same history as the anchors saw."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from psycopg.rows import TupleRow

from events.platform.database import Connection, one_row, statement

_PACKAGE = "events.access"
_SLICE = 10_000
_SEED = sha256(b"").digest()

Head = tuple[int, bytes]
"""A position of the chain and the digest there. The digest covers every entry up to the position."""


@dataclass(frozen=True, slots=True)
class AuditVerification:
    """The number of verified entries, and the faults: at most one of the chain and one for the anchors."""

    entries: int
    faults: tuple[str, ...]


def head_of(connection: Connection) -> Head | None:
    """Returns the end of the chain; None in a database without an audit log."""
    row = connection.execute(statement(_PACKAGE, "audit_exists")).fetchone()
    if row is None or not row[0]:
        return None
    row = connection.execute(statement(_PACKAGE, "audit_head")).fetchone()
    return None if row is None else (row[0], bytes(row[1]))


def verify(
    connection: Connection, witnesses: Sequence[tuple[str, Head]] = (), *, slice_entries: int = _SLICE
) -> AuditVerification:
    """Checks the chain of digests and its head in slices, and compares it with ``witnesses`` (a name and a head).

    A superuser can rewrite entries together with their digests. Only a witness outside the database finds that.
    """
    entries, fault = _chain(connection, slice_entries)
    found = (fault, _difference(connection, witnesses))
    return AuditVerification(
        entries, tuple(f"audit log, position {each}" for each in found if each is not None)
    )


def _chain(connection: Connection, limit: int) -> tuple[int, str | None]:
    head = head_of(connection)
    if head is None:
        return 0, "0: there is no audit log in this database"
    position, digest = 0, _SEED
    while position < head[0]:
        row = _one(
            connection,
            "verify_audit",
            {"after": position, "head": head[0], "limit": limit, "digest": digest},
        )
        count, hole, broken, last_digest = row
        first_bad = min((each for each in (hole, broken) if each is not None), default=None)
        if first_bad is not None:
            what = "is missing" if first_bad == hole else "was changed, or stands in another's place"
            return first_bad - 1, f"{first_bad}: {what}"
        if count < min(limit, head[0] - position):
            return position + count, f"{position + count + 1}: is missing, the head says {head[0]}"
        position, digest = position + count, bytes(last_digest)
    if digest != head[1]:
        return position, f"{position}: its digest is not the head's"
    now, last = _one(connection, "audit_last", {})
    if last is not None and last > now:
        return position, f"{now + 1}: stands behind the head"
    return position, None


def _difference(connection: Connection, witnesses: Sequence[tuple[str, Head]]) -> str | None:
    """Returns the first place that differs from a witness. The change is behind the last witness that fits."""
    sound = 0
    for (position, digest), name in sorted((head, name) for name, head in witnesses):
        if not position:
            continue
        row = connection.execute(statement(_PACKAGE, "audit_digest_at"), {"position": position}).fetchone()
        if row is None:
            return f"{sound + 1} to {position}: is missing, {name} saw it"
        if bytes(row[0]) != digest:
            place = f"{position}" if sound + 1 == position else f"{sound + 1} to {position}"
            return f"{place}: was rewritten with its digests, {name} saw another history"
        sound = position
    return None


def _one(connection: Connection, name: str, parameters: dict[str, object]) -> TupleRow:
    return one_row(connection, statement(_PACKAGE, name), parameters)
