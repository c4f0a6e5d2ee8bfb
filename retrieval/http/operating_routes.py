"""The service itself over HTTP: the audit log, the health of every stage, and for administrators costs and operations.

An administrator sees the tenant and the users of the key only.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal

from fastapi import APIRouter, Query
from psycopg import AsyncCursor
from psycopg.rows import class_row, dict_row
from pydantic import BaseModel, Field

from events.access.audit import Filter, document, subject_of
from events.access.principal import NotYoursError, Principal
from events.http.access import Administrator, Reader, owner_of, require_no_limit, require_whole
from events.http.answering import routes_of
from events.http.database import Reading
from events.http.errors import invalid
from events.http.fields import QueryInstant
from events.platform.database import Row, address_of, statement
from events.platform.settings import Settings, revealed
from events.platform.streams import server_of
from events.resources.operating import (
    AuditEntry,
    AuditOutcome,
    AuditPage,
    Generation,
    Generations,
    Operation,
    Operations,
    ParkedUser,
    ParkedUsers,
    Usage,
    UsageGroups,
    UsageOperation,
)
from events.resources.recall import Channels
from events.resources.status import StageHealth, Status
from events.types.tenancy import user_of
from events.types.turn_contract import MAX_NAME_BYTES
from ingest.recording.intake import Overviews
from projectors.parking import queues_wanted
from retrieval.channels.embedder_report import embedder_report
from retrieval.pool import Pool

_WITHIN_S = 5.0
_USUAL, _MOST = timedelta(days=30), timedelta(days=92)
_OPERATIONS: dict[str, UsageOperation] = {
    "TurnsExtracted": "extraction",
    "ExtractionFailed": "failed_extraction",
    "CuratorRan": "curation",
}
_Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME_BYTES)]
_Limit = Annotated[int, Query(ge=1, le=200)]


class AuditIn(BaseModel, extra="forbid", use_attribute_docstrings=True):
    """The wanted entries."""

    user_id: Annotated[_Name | None, Field(description="only requests that named this user")] = None
    key_id: Annotated[_Name | None, Field(description="only requests of this API key")] = None
    operation: Annotated[_Name | None, Field(description="only this operation id, such as recall")] = None
    outcome: AuditOutcome | None = None
    since: QueryInstant | None = None
    """only what was recorded since this instant"""
    until: QueryInstant | None = None
    """only what was recorded before this instant"""
    limit: Annotated[int, Field(ge=1, le=1000, description="the most entries of a page")] = 100
    cursor: Annotated[int | None, Field(ge=1, le=2**63 - 1)] = None
    """the next_cursor of the page before"""


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


def operating_router(
    settings: Settings, overviews: Overviews, channels: Callable[[], Channels], pool: Pool
) -> APIRouter:
    """Returns the routes. ``channels`` returns the health of this process's channels.

    Errors of stages may come from any user of any tenant. A key of another tenant, and a key with limits, is refused.
    Operations on generations concern everybody, and belong to the default tenant.
    """
    router = routes_of(prefix="/v1")
    servers = {
        "redis": server_of(revealed(settings.redis_url)) if settings.redis_url else None,
        "postgres": address_of(settings.database_url) if settings.database_url else None,
    }
    addresses = {name: address for name, address in servers.items() if address}

    @router.get("/audit", summary="Who read or changed whose memory", tags=["audit"])
    async def list_audit(caller: Administrator, query: Annotated[AuditIn, Query()]) -> AuditPage:
        try:
            rows = await Reading("Audit log unavailable")(_audited, pool, caller, query)
        except NotYoursError:
            rows = []  # the same answer as for a user that does not exist
        more = rows[-1]["position"] if len(rows) == query.limit else None
        return AuditPage(entries=[AuditEntry(**document(row)) for row in rows], next_cursor=more)

    @router.get("/status", summary="The health and the lag of every stage", tags=["operation"])
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

    @router.get(
        "/generations", summary="The generations of every projection, with their progress", tags=["operation"]
    )
    async def list_generations(caller: Reader) -> Generations:
        require_no_limit(caller)
        return Generations(generations=await Reading("Generations unavailable")(_generations, pool))

    @router.get(
        "/usage", summary="Calls, tokens and cost of models, by day, operation and user", tags=["operation"]
    )
    async def usage(caller: Administrator, query: Annotated[UsageIn, Query()]) -> UsageGroups:
        require_whole(caller)
        user = None if query.user_id is None else owner_of(caller, query.user_id)
        until = query.until or datetime.now(UTC)
        since = query.since or until - _USUAL
        if not timedelta() <= until - since <= _MOST:
            raise invalid("since", f"must be at most {_MOST.days} days before until, and not after it")
        found = await Reading("Usage unavailable")(_sums, pool, caller, query, user, since, until)
        return UsageGroups(usage=found[: query.limit], more=len(found) > query.limit)

    read = Reading("Operations unavailable")

    @router.get(
        "/operations", summary="What operators asked the workers to do, with the progress", tags=["operation"]
    )
    async def list_operations(caller: Administrator, limit: _Limit = 50) -> Operations:
        found = await read(_asked, pool, caller, "retrieval.http", "operations", limit)
        return Operations(operations=[Operation(**each) for each in found])

    @router.get("/parked", summary="The users who wait for a projection", tags=["operation"])
    async def list_parked(caller: Administrator, limit: _Limit = 50) -> ParkedUsers:
        found = await read(_asked, pool, caller, "projectors", "parked_queues", limit + 1)
        return ParkedUsers(
            parked=[ParkedUser(projection=each["processor"], **each) for each in found[:limit]],
            more=len(found) > limit,
        )

    return router


@asynccontextmanager
async def _listing(pool: Pool, caller: Principal) -> AsyncIterator[AsyncCursor[Row]]:
    async with (
        pool.for_list(caller.tenant, caller.key_id or "", _WITHIN_S) as connection,
        connection.cursor(row_factory=dict_row) as cursor,
    ):
        yield cursor


def _users_of(caller: Principal) -> list[str] | None:
    """Returns the storage ids of the users whom the key reaches. None: all users of the tenant."""
    return None if caller.users is None else [caller.storage_id(each) for each in caller.users]


async def _audited(pool: Pool, caller: Principal, query: AuditIn) -> list[Row]:
    user, users = None if query.user_id is None else caller.storage_id(query.user_id), _users_of(caller)
    async with _listing(pool, caller) as cursor:
        subject, within = None, None
        if user is not None or users is not None:
            await cursor.execute(statement("events.access", "subject_key"))
            found = await cursor.fetchone()
            assert found is not None
            key = bytes(found["key"])
            subject = None if user is None else subject_of(key, user)
            within = None if users is None else [subject_of(key, each) for each in users]
        wanted = Filter(
            tenant=caller.tenant,
            subject=subject,
            within=within,
            key_id=query.key_id,
            operation=query.operation,
            outcome=query.outcome,
            since=query.since,
            until=query.until,
        )
        await cursor.execute(
            statement("events.access", "audit_page"),
            wanted.parameters(before=query.cursor, limit=query.limit),
        )
        return await cursor.fetchall()


async def _generations(pool: Pool) -> list[Generation]:
    async with (
        pool.without_tenant(_WITHIN_S) as connection,
        connection.cursor(row_factory=class_row(Generation)) as cursor,
    ):
        await cursor.execute(statement("projectors.generations", "generations"), {"projection": None})
        return await cursor.fetchall()


async def _sums(
    pool: Pool, caller: Principal, query: UsageIn, user: str | None, since: datetime, until: datetime
) -> list[Usage]:
    async with _listing(pool, caller) as cursor:
        await cursor.execute(
            statement("retrieval.http", "usage"),
            {
                "tenant": caller.tenant,
                "users": _users_of(caller) if user is None else [user],
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


async def _asked(pool: Pool, caller: Principal, package: str, name: str, limit: int) -> list[Row]:
    require_whole(caller)
    async with _listing(pool, caller) as cursor:
        wanted = queues_wanted(users=_users_of(caller), tenant=caller.tenant, limit=limit)
        await cursor.execute(statement(package, name), wanted)
        rows = await cursor.fetchall()
    return [row | {"user_id": user_of(row["user_id"]) or None} for row in rows]
