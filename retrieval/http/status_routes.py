"""The health of every stage over HTTP, for an operator."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from fastapi import APIRouter

from events.http.access import Reader, require_no_limit
from events.http.answering import routes_of
from events.platform.database import address_of
from events.platform.settings import Settings, revealed
from events.platform.streams import server_of
from events.resources.recall import Channels
from events.resources.status import StageHealth, Status
from ingest.recording.overviews import Overviews
from retrieval.channels.embedder_report import embedder_report


def status_router(settings: Settings, overviews: Overviews, channels: Callable[[], Channels]) -> APIRouter:
    """Returns the route of the status. ``channels`` returns the health of this process's channels.

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

    return router
