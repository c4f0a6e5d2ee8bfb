"""The audit log over HTTP, for administrators of a tenant."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from psycopg.rows import dict_row
from pydantic import BaseModel, Field

from events.access.audit import Filter, document, subject_of
from events.access.principal import NotYoursError, Principal
from events.http.access import Administrator
from events.http.answering import routes_of
from events.http.database import Reading
from events.http.fields import QueryInstant
from events.platform.database import Row
from events.platform.sql import statement
from events.resources.operating import AuditEntry, AuditOutcome, AuditPage
from events.types.turn_contract import MAX_NAME_BYTES
from retrieval.pool.connections import Pool

_PACKAGE = "events.access"
_WITHIN_S = 5.0

_Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME_BYTES)]


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


_read = Reading("Audit log unavailable")


def audit_router(pool: Pool) -> APIRouter:
    """Returns the route of the audit log. It shows the entries of the principal's tenant and users only."""
    router = routes_of("audit")

    @router.get("/v1/audit", summary="Who read or changed whose memory")
    async def list_audit(caller: Administrator, query: Annotated[AuditIn, Query()]) -> AuditPage:
        try:
            rows = await _read(_rows, pool, caller, query)
        except NotYoursError:
            rows = []  # the same answer as for a user that does not exist
        more = rows[-1]["position"] if len(rows) == query.limit else None
        return AuditPage(entries=[AuditEntry(**document(row)) for row in rows], next_cursor=more)

    return router


async def _rows(pool: Pool, caller: Principal, query: AuditIn) -> list[Row]:
    user = None if query.user_id is None else caller.storage_id(query.user_id)
    async with (
        pool.for_list(caller.tenant, caller.key_id or "", _WITHIN_S) as connection,
        connection.cursor(row_factory=dict_row) as cursor,
    ):
        subject, within = None, None
        if user is not None or caller.users is not None:
            await cursor.execute(statement(_PACKAGE, "subject_key"))
            found = await cursor.fetchone()
            assert found is not None
            key = bytes(found["key"])
            subject = None if user is None else subject_of(key, user)
            if caller.users is not None:
                within = [subject_of(key, caller.storage_id(each)) for each in caller.users]
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
            statement(_PACKAGE, "audit_page"), wanted.parameters(before=query.cursor, limit=query.limit)
        )
        return await cursor.fetchall()
