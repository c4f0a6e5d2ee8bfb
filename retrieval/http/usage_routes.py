"""What the calls of models cost, over HTTP, for administrators of a tenant."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from psycopg.rows import dict_row
from pydantic import BaseModel, Field

from events.access.principal import Principal
from events.http.access import Administrator, owner_of, require_whole
from events.http.answering import routes_of
from events.http.database import Reading
from events.http.errors import invalid
from events.http.fields import QueryInstant
from events.platform.sql import statement
from events.resources.operating import Usage, UsageGroups, UsageOperation
from events.types.tenancy import user_of
from events.types.turn_contract import MAX_NAME_BYTES
from retrieval.pool.connections import Pool

_WITHIN_S = 5.0
_USUAL, _MOST = timedelta(days=30), timedelta(days=92)
_OPERATIONS: dict[str, UsageOperation] = {
    "TurnsExtracted": "extraction",
    "ExtractionFailed": "failed_extraction",
    "CuratorRan": "curation",
}


class UsageIn(BaseModel, extra="forbid", use_attribute_docstrings=True):
    """The wanted sums."""

    user_id: Annotated[str | None, Field(min_length=1, max_length=MAX_NAME_BYTES)] = None
    """only what this user cost"""
    since: QueryInstant | None = None
    """only what was recorded since this instant; left out: 30 days before ``until``"""
    until: QueryInstant | None = None
    """only what was recorded before this instant, at most 92 days after ``since``; left out: now"""
    group_by: Annotated[list[Literal["day", "operation", "user"]], Field(max_length=3)] = ["day", "operation"]
    """the axes of the groups"""
    limit: Annotated[int, Field(ge=1, le=1000, description="the most groups")] = 200


_read = Reading("Usage unavailable")


def usage_router(pool: Pool) -> APIRouter:
    """Returns the route. It sums over the principal's tenant and users only, at most 92 days."""
    router = routes_of("operation")

    @router.get("/v1/usage", summary="Calls, tokens and cost of models, by day, operation and user")
    async def usage(caller: Administrator, query: Annotated[UsageIn, Query()]) -> UsageGroups:
        require_whole(caller)
        user = None if query.user_id is None else owner_of(caller, query.user_id)
        until = query.until or datetime.now(UTC)
        since = query.since or until - _USUAL
        if not timedelta() <= until - since <= _MOST:
            raise invalid("since", f"must be at most {_MOST.days} days before until, and not after it")
        found = await _read(_sums, pool, caller, query, user, since, until)
        return UsageGroups(usage=found[: query.limit], more=len(found) > query.limit)

    return router


async def _sums(
    pool: Pool, caller: Principal, query: UsageIn, user: str | None, since: datetime, until: datetime
) -> list[Usage]:
    users = None if caller.users is None else [caller.storage_id(each) for each in caller.users]
    async with (
        pool.for_list(caller.tenant, caller.key_id or "", _WITHIN_S) as connection,
        connection.cursor(row_factory=dict_row) as cursor,
    ):
        await cursor.execute(
            statement("retrieval.http", "usage"),
            {
                "tenant": caller.tenant,
                "users": users if user is None else [user],
                "since": since,
                "until": until,
                "limit": query.limit + 1,
                **{f"by_{axis}": axis in query.group_by for axis in ("day", "operation", "user")},
            },
        )
        rows = await cursor.fetchall()
    return [
        Usage(
            **{
                **row,
                "operation": _OPERATIONS.get(row.pop("event_type")),
                "user_id": None if row["user_id"] is None else user_of(row["user_id"]),
            }
        )
        for row in rows
    ]
