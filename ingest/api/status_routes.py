"""The health of every stage over HTTP, as the database role of the write service sees it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from fastapi import APIRouter

from events.health.stage_health import Overview
from events.http.access import Reader, require_no_limit
from events.http.answering import routes_of
from events.resources.status import StageHealth, Stages


def status_router(look: Callable[[], Overview]) -> APIRouter:
    """Returns the route of the status. ``look`` returns the health of all stages now, in bounded time.

    Errors of stages may come from any user of any tenant. A key of another tenant, and a key with limits, is refused.
    """
    router = routes_of("operation", prefix="/v1")

    @router.get("/status", summary="The health and the lag of every stage")
    async def stages(caller: Reader) -> Stages:
        require_no_limit(caller)
        seen = await asyncio.to_thread(look)
        return Stages.made_from(seen, stages={each.name: StageHealth.made_from(each) for each in seen.stages})

    return router
