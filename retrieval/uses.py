"""Counts how often things are read. The counts are written in batches, and a lost batch loses only counts."""

import asyncio
import logging
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, date, datetime

import psycopg
from psycopg import AsyncConnection
from psycopg.sql import SQL

from events.platform.database import statement
from events.platform.settings import revealed
from events.types.tenancy import tenant_of, vouch

logger = logging.getLogger(__name__)

EVERY_S = 5.0
_WITHIN_S = 2
MOST = 10_000
"""The most things whose counts wait. Reads of further ones are not counted."""


class Uses:
    """Counts reads in memory, and adds them to a table every :data:`EVERY_S` seconds and at the end.

    ``add`` is the statement that adds them. It gets the lists ``users``, ``names``, ``days`` and ``uses``.
    A count is no truth: a kill loses at most the counts of :data:`EVERY_S` seconds.
    """

    def __init__(self, url: str, add: SQL) -> None:
        self._url = revealed(url)
        self._add = add
        self._counts: Counter[tuple[str, str, date]] = Counter()
        self._task: asyncio.Task[None] | None = None

    def count(self, owner: str, names: Iterable[str]) -> None:
        """Counts one read of each name. Never fails and never waits."""
        today, counts = datetime.now(UTC).date(), self._counts
        for name in names:
            place = (owner, name, today)
            if place in counts or len(counts) < MOST:
                counts[place] += 1

    def open(self) -> None:
        """Starts to write the counts."""
        self._task = asyncio.create_task(self._run())

    async def close(self) -> None:
        """Writes the last counts and stops."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        await self.flush()

    async def flush(self) -> None:
        """Writes the counts. They wait for the next time while Postgres is away."""
        counts, self._counts = self._counts, Counter()
        if not counts:
            return
        for tenant in sorted({tenant_of(owner) for owner, _, _ in counts}):
            # Sorted, so that two services cannot deadlock.
            places = sorted(place for place in counts if tenant_of(place[0]) == tenant)
            try:
                # The connections of the pool only read.
                async with (
                    await AsyncConnection.connect(
                        self._url,
                        autocommit=True,
                        application_name="cardlog read, uses",
                        connect_timeout=_WITHIN_S,
                    ) as connection,
                    connection.transaction(),
                ):
                    await connection.execute(
                        statement("events.platform", "see_tenant"), {"tenant": vouch(tenant)}
                    )
                    await connection.execute(
                        self._add,
                        {
                            "users": [owner for owner, _, _ in places],
                            "names": [name for _, name, _ in places],
                            "days": [day.isoformat() for _, _, day in places],
                            "uses": [counts[place] for place in places],
                        },
                    )
            except psycopg.Error as error:
                logger.warning("counts of reads are not written: %s", type(error).__name__)
                if len(self._counts) + len(places) <= MOST:
                    self._counts.update({place: counts[place] for place in places})

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(EVERY_S)
            await self.flush()
