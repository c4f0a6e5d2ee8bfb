"""The health of every stage over HTTP, for an operator."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel, Field

from events.health.status_report import StagesReport
from events.http.access import Reader, require_no_limit
from events.http.service import JSONResponse
from events.platform.database import address_of
from events.platform.settings import Settings, revealed
from events.platform.streams import server_of
from ingest.recording.overviews import Overviews
from retrieval.channels.embedder_report import embedder_report
from retrieval.http.answers import Channels


class EmbedderAnswer(BaseModel):
    """The embedder of the live vectors, the model of the settings, and its substitute on this machine."""

    model: str | None
    fingerprint: str | None
    wanted: str
    substitute: str | None


class StatusReport(StagesReport):
    """The health of every stage, of the recall channels of this service, and of the embedder."""

    channels: Channels
    embedder: EmbedderAnswer | None
    servers: dict[str, str] = Field(description="addresses of the servers, without passwords")


def status_router(settings: Settings, overviews: Overviews, channels: Callable[[], Any]) -> APIRouter:
    """Returns the route of the status. ``channels`` returns the health of this process's channels.

    Errors of stages may come from any user of any tenant. A key of another tenant, and a key with limits, is refused.
    """
    router = APIRouter(prefix="/v1", tags=["operation"])
    servers = {
        "redis": server_of(revealed(settings.redis_url)) if settings.redis_url else None,
        "postgres": address_of(settings.database_url) if settings.database_url else None,
    }
    addresses = {name: address for name, address in servers.items() if address}

    @router.get(
        "/status",
        summary="The health and the lag of every stage",
        response_model=StatusReport,
        operation_id="status",
    )
    async def status(caller: Reader) -> JSONResponse:
        require_no_limit(caller)
        seen, embedder = await asyncio.gather(
            asyncio.to_thread(overviews), asyncio.to_thread(embedder_report, settings)
        )
        more = {"whole": seen.whole, "channels": channels(), "embedder": embedder, "servers": addresses}
        return JSONResponse(seen.document() | more)

    return router
