"""Verifies the audit log: no hole, no changed entry, and the same history as the anchors saw."""

from collections.abc import Sequence
from dataclasses import dataclass

from psycopg.rows import TupleRow

from events.platform.chains import Head, difference, first_break
from events.platform.database import Connection, one_row, statement

_PACKAGE = "events.access"
_SLICE = 10_000


@dataclass(frozen=True, slots=True)
class AuditVerification:
    """The number of verified entries, and the faults: at most one of the chain and one for the anchors."""

    entries: int
    faults: tuple[str, ...]


def head_of(connection: Connection) -> Head | None:
    """Returns the end of the chain; None in a database without an audit log."""
    if not one_row(connection, statement(_PACKAGE, "audit_exists"))[0]:
        return None
    position, digest = one_row(connection, statement(_PACKAGE, "audit_head"))
    return position, bytes(digest)


def verify(connection: Connection, witnesses: Sequence[tuple[str, Head]] = ()) -> AuditVerification:
    """Checks the chain of digests and its head in slices, and compares it with ``witnesses`` (a name and a head).

    A superuser can rewrite entries together with their digests. Only a witness outside the database finds that.
    """

    def ask(name: str, **values: object) -> TupleRow | None:
        return connection.execute(statement(_PACKAGE, f"audit_{name}"), values).fetchone()

    if head_of(connection) is None:
        return AuditVerification(0, ("audit log, position 0: there is no audit log in this database",))
    entries, fault = first_break(ask, _SLICE)
    found = (fault, difference(ask, witnesses))
    return AuditVerification(
        entries, tuple(f"audit log, position {each}" for each in found if each is not None)
    )
