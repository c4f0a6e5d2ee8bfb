"""The health of every stage over HTTP, as the database role of the write service sees it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from fastapi import APIRouter

from events.health.stage_health import Overview
from events.health.status_report import StagesReport
from events.http.access import Reader, require_no_limit
from events.http.service import JSONResponse


def status_router(look: Callable[[], Overview]) -> APIRouter:
    """Returns the route of the status. ``look`` returns the health of all stages now, in bounded time.

    Errors of stages may come from any user of any tenant. A key of another tenant, and a key with limits, is refused.
    """
    router = APIRouter(prefix="/v1", tags=["operation"])

    @router.get(
        "/status",
        summary="The health and the lag of every stage",
        response_model=StagesReport,
        operation_id="stages",
    )
    async def status(caller: Reader) -> JSONResponse:
        require_no_limit(caller)
        seen = await asyncio.to_thread(look)
        return JSONResponse(seen.document() | {"whole": seen.whole})

    return router
