"""The health of every stage over HTTP, for an operator."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from fastapi import APIRouter
from pydantic import AwareDatetime, BaseModel, Field

from events.access.principal import Principal
from events.health.stage_health import HealthStatus
from events.http.access import Reader
from events.http.problem import ProblemError
from events.http.service import JSONResponse
from events.platform.database import address_of
from events.platform.settings import Settings, revealed
from events.platform.streams import server_of
from events.types.tenancy import DEFAULT_TENANT
from ingest.recording.overviews import Overviews
from retrieval.channels.embedder_report import embedder_report
from retrieval.http.answers import Channels

_PATIENCE_S = 3.0


class BlockedEmbedderReport(BaseModel):
    """An embedder that gives no vectors, and the number of cards that wait for it."""

    mode: str
    reason: str
    cards: int


class StageReport(BaseModel):
    """The health of one stage. null is unknown."""

    behind: int | None = Field(description="turns in the queue or events in the log that wait for the stage")
    seconds: float | None = Field(description="age of the oldest of them")
    state: HealthStatus
    detail: str | None
    rate: float | None = Field(description="turns or events per second")
    parked: int | None
    dead: int | None
    error: str | None
    error_at: AwareDatetime | None
    workers: int | None = Field(description="workers alive")
    position: int | None = Field(description="turns or events that the stage ever processed")
    stalled_s: float | None = Field(description="how long the stage has had work and done none")
    pending: int | None = Field(description="cards without a vector whose events were processed")
    pending_s: float | None
    blocked: list[BlockedEmbedderReport]


class EmbedderAnswer(BaseModel):
    """The embedder of the live vectors, the model of the settings, and its substitute on this machine."""

    model: str | None
    fingerprint: str | None
    wanted: str
    substitute: str | None


class StatusReport(BaseModel):
    """The health of every stage at one moment. null is unknown, never zero."""

    well: bool = Field(description="true when nothing needs an operator")
    whole: bool = Field(
        description="false when the service's database role sees one tenant at a time: no ages, no parked events"
    )
    stages: dict[str, StageReport]
    events: int | None = Field(description="events in the log")
    parked: int | None
    dead: int | None
    recorded: int | None
    duplicates: int | None
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
        if not _sees_everybody(caller):
            raise ProblemError(
                403,
                "Limited key",
                "the status is about all users of all tenants; use a key of the default tenant without limits",
            )
        seen, embedder = await asyncio.gather(
            asyncio.to_thread(overviews), asyncio.to_thread(embedder_report, settings)
        )
        more = {"whole": seen.whole, "channels": channels(), "embedder": embedder, "servers": addresses}
        return JSONResponse(seen.document() | more)

    return router


def open_overviews(settings: Settings) -> Overviews:
    """Returns what looks at the stages. A server that does not answer for three seconds is unknown."""
    return Overviews(settings, patience_s=_PATIENCE_S)


def _sees_everybody(caller: Principal) -> bool:
    return caller.tenant == DEFAULT_TENANT and caller.users is None and not caller.reach.limited
