"""The health of every stage over HTTP, for an operator."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from fastapi import APIRouter
from psycopg.rows import class_row

from events.http.access import Reader, require_no_limit
from events.http.answering import routes_of
from events.http.database import Reading
from events.platform.database import address_of
from events.platform.settings import Settings, revealed
from events.platform.sql import statement
from events.platform.streams import server_of
from events.resources.operating import Generation, Generations
from events.resources.recall import Channels
from events.resources.status import StageHealth, Status
from ingest.recording.overviews import Overviews
from retrieval.channels.embedder_report import embedder_report
from retrieval.pool.connections import Pool

_read = Reading("Generations unavailable")
_WITHIN_S = 5.0


def status_router(
    settings: Settings, overviews: Overviews, channels: Callable[[], Channels], pool: Pool
) -> APIRouter:
    """Returns the routes of the status and of the generations. ``channels`` returns the health of this process's
    channels.

    Errors of stages may come from any user of any tenant. A key of another tenant, and a key with limits, is refused.
    """
    router = routes_of("operation", prefix="/v1")
    servers = {
        "redis": server_of(revealed(settings.redis_url)) if settings.redis_url else None,
        "postgres": address_of(settings.database_url) if settings.database_url else None,
    }
    addresses = {name: address for name, address in servers.items() if address}

    @router.get("/status", summary="The health and the lag of every stage")
    async def status(caller: Reader) -> Status:
        require_no_limit(caller)
        seen, embedder = await asyncio.gather(
            asyncio.to_thread(overviews), asyncio.to_thread(embedder_report, settings)
        )
        return Status.made_from(
            seen,
            stages={each.name: StageHealth.made_from(each) for each in seen.stages},
            channels=channels(),
            embedder=embedder,
            servers=addresses,
        )

    @router.get("/generations", summary="The generations of every projection, with their progress")
    async def list_generations(caller: Reader) -> Generations:
        require_no_limit(caller)
        return Generations(generations=await _read(_generations, pool))

    return router


async def _generations(pool: Pool) -> list[Generation]:
    async with (
        pool.without_tenant(_WITHIN_S) as connection,
        connection.cursor(row_factory=class_row(Generation)) as cursor,
    ):
        await cursor.execute(statement("projectors.generations", "generations"), {"projection": None})
        return await cursor.fetchall()
