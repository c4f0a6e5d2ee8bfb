"""Turns, sessions and their saved states over HTTP. They come from the log, so a read right after a write sees them."""

from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, ConfigDict, Field

from events.http.access import Reader, owner_of
from events.http.answering import routes_of
from events.http.database import Reading
from events.http.errors import missing
from events.http.fields import text_given
from events.http.places import Places
from events.platform.settings import Settings
from events.resources.resource import json_of
from events.resources.turns import RecordedTurn, SessionCheckpoint, SessionsPage, TurnEvent, TurnsPage
from events.store import log
from events.store.asking import latest
from events.types.envelope import Event
from events.types.sessions import SessionCheckpointed, checkpoint_stream
from retrieval.pool import Pool, rows_of
from retrieval.sessions import SessionReader, TurnProgress

_read = Reading("Sessions unavailable")
_HEARTBEAT_S = 5.0
_Name = Annotated[str, Query(min_length=1)]


class TurnEvents(StreamingResponse):
    """Server-sent events. Each has the name of its stage, and its data are a :class:`TurnEvent`."""

    media_type = "text/event-stream"


class _PageParams(BaseModel):
    model_config = ConfigDict(extra="forbid")

    user_id: str = Field(min_length=1, description="whose memory is read")
    limit: Annotated[int, Field(ge=1, le=500)] = 100
    cursor: Annotated[
        int | None, Field(ge=1, le=2**63 - 1, description="the next_cursor of the page before")
    ] = None


class SessionParams(_PageParams):
    """Which sessions."""

    project_id: Annotated[str | None, Field(min_length=1, description="only of this project")] = None


class TurnParams(_PageParams):
    """Which turns of a session."""

    project_id: Annotated[str, Field(min_length=1, description="the project of the session")] = "default"


def sessions_router(pool: Pool, settings: Settings) -> APIRouter:
    """Returns the routes. ``pool`` must be of the primary. What is erased or out of reach gives the 404 of none."""
    router = routes_of("sessions")
    reader, progress = SessionReader(pool), TurnProgress(pool)

    @router.get(
        "/v1/turns/{turn_id}/events",
        summary="What becomes of a turn, as server-sent events",
        tags=["turns"],
        response_class=TurnEvents,
        responses={
            200: {
                "model": TurnEvent,
                "description": "an event for each stage; comments while nothing happens",
            }
        },
        dependencies=[Depends(Places(settings.max_waits, "streams of events"))],
    )
    async def turn_events(
        turn_id: Annotated[str, Path(min_length=1)],
        user_id: _Name,
        caller: Reader,
        within_s: Annotated[
            int | None, Query(ge=1, le=600, description="the longest time of the stream")
        ] = None,
    ) -> TurnEvents:
        owner = owner_of(caller, user_id, thing="turn", field="turn_id")
        named = owner, text_given("turn_id", turn_id), caller.reach
        turn = await progress.recorded(*named, within_s=settings.wait_for_ms / 1000)
        if turn is None:
            raise missing("turn", "turn_id")
        longest = within_s or settings.turn_events_s
        return TurnEvents(_sent(progress.follow(turn, within_s=longest, heartbeat_s=_HEARTBEAT_S)))

    @router.get(
        "/v1/turns/{turn_id}",
        summary="One turn, as it was recorded",
        tags=["turns"],
    )
    async def turn(
        turn_id: Annotated[str, Path(min_length=1)], user_id: _Name, caller: Reader
    ) -> RecordedTurn:
        owner = owner_of(caller, user_id, thing="turn", field="turn_id")
        found = await _read(reader.turn, owner, text_given("turn_id", turn_id), caller.reach)
        if found is None:
            raise missing("turn", "turn_id")
        return found

    @router.get(
        "/v1/sessions",
        summary="The sessions of a user, the latest spoken in first",
    )
    async def list_sessions(query: Annotated[SessionParams, Query()], caller: Reader) -> SessionsPage:
        owner = owner_of(caller, query.user_id)
        project = None if query.project_id is None else text_given("project_id", query.project_id)
        found, following = await _read(
            reader.sessions, owner, project, caller.reach, below=query.cursor, limit=query.limit
        )
        return SessionsPage(sessions=found, next_cursor=following)

    @router.get(
        "/v1/sessions/{session_id}/turns",
        summary="The turns of a session, the latest first",
    )
    async def session_turns(
        session_id: Annotated[str, Path(min_length=1)], query: Annotated[TurnParams, Query()], caller: Reader
    ) -> TurnsPage:
        owner = owner_of(caller, query.user_id, thing="session", field="session_id")
        named = text_given("project_id", query.project_id), text_given("session_id", session_id)
        found, following = await _read(
            reader.turns, owner, *named, caller.reach, below=query.cursor, limit=query.limit
        )
        if not found and query.cursor is None:
            raise missing("session", "session_id")
        return TurnsPage(turns=found, next_cursor=following)

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
            found = await _read(last, owner, checkpoint_stream(project_id, session_id))
        if found is None or not isinstance(found.payload, SessionCheckpointed):
            raise missing("session", "session_id")
        return SessionCheckpoint.made_from(
            found.payload, version=found.version, saved_at=found.occurred_at, actor=found.actor
        )

    async def last(owner: str, stream: str) -> Event | None:
        query = latest(owner, stream, limit=1)
        rows = await rows_of(pool, owner, query.text, query.values)
        return log.event_if_readable(rows[0]) if rows else None

    return router


async def _sent(events: AsyncIterator[TurnEvent | None]) -> AsyncIterator[bytes]:
    async for event in events:
        yield (
            b": waiting\n\n"
            if event is None
            else b"event: %s\ndata: %s\n\n" % (event.stage.encode(), json_of(event))
        )
