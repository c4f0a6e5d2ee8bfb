"""The operations that were asked for, with their progress, and the parked users, for administrators of a tenant."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from psycopg.rows import dict_row

from events.access.principal import Principal
from events.http.access import Administrator, require_whole
from events.http.answering import routes_of
from events.http.database import Reading
from events.platform.database import Row
from events.platform.sql import statement
from events.resources.operating import Operation, Operations, ParkedUser, ParkedUsers
from events.types.tenancy import user_of
from projectors.parking.parking import queues_wanted
from retrieval.pool.connections import Pool

_WITHIN_S = 5.0
_read = Reading("Operations unavailable")
Limit = Annotated[int, Query(ge=1, le=200)]


def operation_router(pool: Pool) -> APIRouter:
    """Returns the routes. They show the principal's tenant and users only.

    Operations on generations concern everybody, and belong to the default tenant.
    """
    router = routes_of("operation", prefix="/v1")

    @router.get("/operations", summary="What operators asked the workers to do, with the progress")
    async def list_operations(caller: Administrator, limit: Limit = 50) -> Operations:
        found = await _read(_rows, pool, caller, "retrieval.http", "operations", limit)
        return Operations(operations=[Operation(**each) for each in found])

    @router.get("/parked", summary="The users who wait for a projection")
    async def list_parked(caller: Administrator, limit: Limit = 50) -> ParkedUsers:
        found = await _read(_rows, pool, caller, "projectors.parking", "parked_queues", limit + 1)
        return ParkedUsers(
            parked=[ParkedUser(projection=each["processor"], **each) for each in found[:limit]],
            more=len(found) > limit,
        )

    return router


async def _rows(pool: Pool, caller: Principal, package: str, name: str, limit: int) -> list[Row]:
    require_whole(caller)
    users = None if caller.users is None else [caller.storage_id(each) for each in caller.users]
    async with (
        pool.for_list(caller.tenant, caller.key_id or "", _WITHIN_S) as connection,
        connection.cursor(row_factory=dict_row) as cursor,
    ):
        wanted = queues_wanted(users=users, tenant=caller.tenant, limit=limit)
        await cursor.execute(statement(package, name), wanted)
        rows = await cursor.fetchall()
    return [row | {"user_id": user_of(row["user_id"]) or None} for row in rows]
