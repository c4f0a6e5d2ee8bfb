"""Digests of a projection's tables: equal digests, equal rows, in whatever order they were written."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from psycopg import IsolationLevel

from events.platform.database import connect
from events.platform.sql import statement
from events.store.log import Connection
from projectors.generations.generations import Projector, hold_live, use_schema

_MASK = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class TableDigest:
    """How many rows a table has, and 128 bits over all of them as 32 hexadecimal digits."""

    rows: int
    digest: str


def digest_of(connection: Connection, projector: Projector, schema: str) -> dict[str, TableDigest]:
    """The digest of every table of ``projector`` in ``schema`` that has rows, by its name.

    Every column counts, for all are folded from the log. The sums do not depend on the order of rows, and a row
    more, less, twice or changed changes them. They guard against mistakes, not against somebody who
    would forge rows. One snapshot; reads every row once.
    """
    with connection.transaction():
        connection.execute(statement("projectors.generations", "digest_settings"))
        use_schema(connection, schema)
        rows = connection.execute(statement(projector.package, "digest")).fetchall()
    return {
        name: TableDigest(count, f"{int(first) & _MASK:016x}{int(second) & _MASK:016x}")
        for name, count, first, second in rows
    }


@dataclass(frozen=True, slots=True)
class LiveDigest:
    """The live tables of a projection and the positions of the log they stand at, seen at one moment."""

    generation: int
    positions: dict[int, int]
    tables: dict[str, TableDigest]

    @property
    def events(self) -> int:
        return sum(self.positions.values())


def live_digest(url: str, projector: Projector) -> LiveDigest | None:
    """The digests of the live tables; None while there are none. Holds up a swap, and nobody else."""
    application = f"digest {projector.name}"
    with (
        connect(url, application=application) as holding,
        connect(url, application=application, autocommit=False) as looking,
    ):
        looking.isolation_level = IsolationLevel.REPEATABLE_READ
        with holding.transaction():
            generation = hold_live(holding, projector.name)
            if generation is None:
                return None
            # The first statement takes the snapshot that everything after it sees.
            positions = generation.processor.positions(looking)
            return LiveDigest(generation.number, positions, digest_of(looking, projector, projector.name))


def differences(live: Mapping[str, TableDigest], rebuilt: Mapping[str, TableDigest]) -> list[str]:
    """The tables that differ, each with a word on how; empty when all is equal."""
    nothing = TableDigest(0, "")
    found = []
    for name in sorted({*live, *rebuilt}):
        here, there = live.get(name, nothing), rebuilt.get(name, nothing)
        if here.rows != there.rows:
            found.append(f"{name}: {here.rows} rows live, {there.rows} rebuilt")
        elif here != there:
            found.append(f"{name}: {here.rows} rows in both, but not the same")
    return found
