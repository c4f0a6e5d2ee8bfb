"""The saved state of a session over HTTP. It is read from the log, so a read right after a write sees it."""

from __future__ import annotations

from typing import Annotated

import psycopg
from fastapi import APIRouter, Path, Query
from psycopg.rows import dict_row

from events.http.access import Reader, owner_of
from events.http.answering import routes_of
from events.http.database import problem_of
from events.http.errors import missing
from events.platform.failures import retry_on_lost_connection
from events.references.reference_log import BELOW, below_parameters
from events.resources.sessions import SessionCheckpoint
from events.store import log
from events.types.envelope import Event
from events.types.sessions import SessionCheckpointed, checkpoint_stream
from retrieval.pool.connections import Pool, listing

_PATIENCE_S = 2.0
_Name = Annotated[str, Query(min_length=1)]


def sessions_router(pool: Pool) -> APIRouter:
    """Returns the route. ``pool`` must be of the primary. A session without a readable checkpoint gives 404."""
    router = routes_of("sessions")

    @router.get(
        "/v1/sessions/{session_id}/checkpoint", summary="The state of a session, as it was saved last"
    )
    async def checkpoint(
        session_id: Annotated[str, Path(min_length=1)],
        user_id: _Name,
        caller: Reader,
        project_id: _Name = "default",
    ) -> SessionCheckpoint:
        owner = owner_of(caller, user_id, thing="session", field="session_id")
        found: Event | None = None
        if caller.reach.modes is None and caller.reach.admits(project_id, None):
            try:
                found = await retry_on_lost_connection(last, owner, checkpoint_stream(project_id, session_id))
            except (psycopg.Error, TimeoutError) as error:
                raise problem_of(error, "Sessions unavailable") from error
        if found is None or not isinstance(found.payload, SessionCheckpointed):
            raise missing("session", "session_id")
        return SessionCheckpoint.made_from(
            found.payload, version=found.version, saved_at=found.occurred_at, actor=found.actor
        )

    async def last(owner: str, stream: str) -> Event | None:
        async with (
            listing(pool, owner, _PATIENCE_S) as connection,
            connection.cursor(row_factory=dict_row) as cursor,
        ):
            values = below_parameters(owner, stream, None, 1)
            row = await (await cursor.execute(BELOW, values)).fetchone()
        return None if row is None else log.event_if_readable(row)

    return router
