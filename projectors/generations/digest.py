"""Digests of a projection's tables. Equal digests mean equal rows; the order of writing does not matter."""

from collections.abc import Mapping
from dataclasses import dataclass

from psycopg import IsolationLevel

from events.platform.database import Connection, connect, statement
from projectors.generations.generations import hold_live, use_schema
from projectors.generations.projector import Projector

_MASK = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class TableDigest:
    """The number of rows of a table, and 128 bits over all rows as 32 hexadecimal digits."""

    rows: int
    digest: str


def digest_of(connection: Connection, projector: Projector, schema: str) -> dict[str, TableDigest]:
    """Returns the digest of every table of ``projector`` in ``schema`` that has rows, by table name.

    Every column counts, because every column is folded from the log. The sums do not depend on the order of the
    rows. A missing, added, doubled or changed row changes the sums. The digest finds mistakes; it does not stop
    an attacker who forges rows. It reads every row once, in one snapshot.
    """
    with connection.transaction():
        connection.execute(statement("projectors.generations", "digest_settings"))
        use_schema(connection, schema)
        rows = connection.execute(statement(projector.package, projector.prefix + "digest")).fetchall()
    return {
        name: TableDigest(count, f"{int(first) & _MASK:016x}{int(second) & _MASK:016x}")
        for name, count, first, second in rows
    }


@dataclass(frozen=True, slots=True)
class LiveDigest:
    """The digests of a projection's live tables and their checkpoints, from one snapshot."""

    generation: int
    positions: dict[int, int]
    tables: dict[str, TableDigest]

    @property
    def events(self) -> int:
        """The number of events that the live tables were folded from."""
        return sum(self.positions.values())


def live_digest(url: str, projector: Projector) -> LiveDigest | None:
    """Returns the digests of the live tables, or None when no generation is live.

    A swap waits until the digest is done. Nothing else waits.
    """
    application = f"digest {projector.name}"
    with (
        connect(url, application=application) as lock_connection,
        connect(url, application=application, autocommit=False) as snapshot,
    ):
        snapshot.isolation_level = IsolationLevel.REPEATABLE_READ
        with lock_connection.transaction():
            generation = hold_live(lock_connection, projector.name)
            if generation is None:
                return None
            # This first statement takes the snapshot that all later statements see.
            positions = generation.processor.positions(snapshot)
            return LiveDigest(generation.number, positions, digest_of(snapshot, projector, projector.name))


def differences(live: Mapping[str, TableDigest], rebuilt: Mapping[str, TableDigest]) -> list[str]:
    """Returns one line for each table that differs, and an empty list when all tables are equal."""
    empty = TableDigest(0, "")
    found = []
    for name in sorted({*live, *rebuilt}):
        old, new = live.get(name, empty), rebuilt.get(name, empty)
        if old.rows != new.rows:
            found.append(f"{name}: {old.rows} rows live, {new.rows} rebuilt")
        elif old != new:
            found.append(f"{name}: {old.rows} rows in both, but not the same")
    return found
