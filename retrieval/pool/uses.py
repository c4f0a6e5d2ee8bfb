"""Counts how often references are read. The counts are written in batches, and a lost batch loses only counts."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from contextlib import suppress
from datetime import UTC, date, datetime

import psycopg
from psycopg import AsyncConnection

from events.platform.settings import revealed
from events.platform.sql import statement
from events.types.tenancy import tenant_of, vouch

logger = logging.getLogger(__name__)

EVERY_S = 5.0
_WITHIN_S = 2
MOST = 10_000
"""The most references whose counts wait. Reads of further ones are not counted."""


class ReferenceUse:
    """Counts reads in memory, and adds them to the table every :data:`EVERY_S` seconds and at the end."""

    def __init__(self, url: str) -> None:
        self._url = revealed(url)
        self._counts: Counter[tuple[str, str, date]] = Counter()
        self._task: asyncio.Task[None] | None = None

    def count(self, owner: str, stream: str) -> None:
        """Counts one read. Never fails and never waits."""
        place = (owner, stream, datetime.now(UTC).date())
        if place in self._counts or len(self._counts) < MOST:
            self._counts[place] += 1

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
                        application_name="cardlog read, uses of references",
                        connect_timeout=_WITHIN_S,
                    ) as connection,
                    connection.transaction(),
                ):
                    await connection.execute(
                        statement("events.platform", "see_tenant"), {"tenant": vouch(tenant)}
                    )
                    await connection.execute(
                        statement("retrieval.references", "add_use"),
                        {
                            "users": [owner for owner, _, _ in places],
                            "streams": [stream for _, stream, _ in places],
                            "days": [day.isoformat() for _, _, day in places],
                            "uses": [counts[place] for place in places],
                        },
                    )
            except psycopg.Error as error:
                logger.warning("the uses of references are not written: %s", type(error).__name__)
                if len(self._counts) + len(places) <= MOST:
                    self._counts.update({place: counts[place] for place in places})

    async def _run(self) -> None:
        while True:
            await asyncio.sleep(EVERY_S)
            await self.flush()
