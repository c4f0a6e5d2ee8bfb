"""The write service: takes turns and commands over HTTP. Turns go onto the same Redis streams that XADD feeds."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Annotated, Any

import psycopg
from fastapi import FastAPI, Request
from fastapi.responses import PlainTextResponse
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client import Counter as Count
from psycopg_pool import AsyncConnectionPool, ConnectionPool
from pydantic import BaseModel, ConfigDict, Field

from events.health.cached_probe import CachedProbe
from events.health.health_status import LogHealth, LogMonitor, refuse_if_stuck
from events.health.metrics import HealthSnapshot, StageMetrics
from events.http.concurrency_limiter import ConcurrencyLimiter, SaturatedError
from events.http.instants import Instant
from events.http.problem import ProblemError, invalid
from events.http.service import JSONResponse, Stages, Status, body_of, install
from events.http.tokens import Keyring, Sealer
from events.platform.settings import Settings
from events.platform.sql import statement
from events.platform.streams import REDIS_AWAY
from events.types.envelope import partition_of
from events.types.turn_contract import (
    FIELDS,
    MAX_NAME_BYTES,
    MAX_TEXT_BYTES,
    TurnInvalidError,
    parse_turn,
    text_of,
    turn_key,
)
from events.types.turns import ContextLayer, Role
from ingest.api.command_routes import command_router
from ingest.api.turn_publisher import PublishFailedError, TurnPublisher
from ingest.recording.intake import open_intake
from ingest.recording.queue_health import QueueHealth, QueueMonitor

logger = logging.getLogger(__name__)

MAX_TURNS = 1000
MAX_BODY_BYTES = 16 * 1024 * 1024
PUSH_WAIT_S = 1.0


_Name = Annotated[str, Field(min_length=1, max_length=MAX_NAME_BYTES, pattern=r"\S")]


class TurnIn(BaseModel):
    """One message of a conversation."""

    model_config = ConfigDict(
        extra="forbid",
        json_schema_extra={
            "examples": [
                {
                    "user_id": "ada",
                    "text": "I moved to Lisbon last week.",
                    "said_at": "2026-05-08T16:44:10+08:00",
                    "timezone": "Asia/Taipei",
                }
            ]
        },
    )

    user_id: _Name = Field(description="whose memory this is")
    text: str = Field(
        min_length=1,
        max_length=MAX_TEXT_BYTES,
        description="the words of the message, at most 64 KiB of UTF-8",
    )
    role: Role | None = "user"
    speaker: _Name | None = Field(None, description="the person who speaks, when several people speak")
    session_id: _Name | None = "default"
    project_id: _Name | None = "default"
    agent_id: _Name | None = None
    document_id: _Name | None = None
    context_layer: ContextLayer | None = None
    mode: _Name | None = None
    said_at: Annotated[
        Instant | None, Field(description="ISO 8601 with offset; default: the time of arrival")
    ] = None
    timezone: Annotated[str | None, Field(description="IANA name of the speaker's time zone")] = "UTC"
    turn_id: Annotated[
        _Name | None, Field(description="idempotency key within the user; default: an id made by the service")
    ] = None


class TurnsAccepted(BaseModel):
    """The turns are on the queue. ``duplicates`` names the turns whose turn_id was accepted before."""

    turn_ids: list[str]
    duplicates: list[str]
    token: str | None = Field(
        description="give the token to a recall's wait_for to read these turns; null when Postgres has been away since "
        "this service started, because the key of tokens is in Postgres"
    )


def create_app(settings: Settings) -> FastAPI:
    """Returns the write service. An accepted turn is on its Redis stream. Pushes answer 503 while Redis is away.

    Pushes also answer 503 when ``max_pushes`` are running and none ends within :data:`PUSH_WAIT_S` seconds.
    """
    publisher = TurnPublisher(settings)
    pool = AsyncConnectionPool(
        settings.database_url,
        min_size=1,
        max_size=settings.pool_size,
        open=False,
        kwargs={"autocommit": True, "application_name": "cardlog write"},
    )
    # Commands use blocking connections in the service's threads, like every other append.
    appenders: ConnectionPool[Any] = ConnectionPool(
        settings.database_url,
        min_size=0,
        max_size=settings.pool_size,
        open=False,
        kwargs={"autocommit": True, "application_name": "cardlog write, commands"},
    )
    keyring = Keyring(settings)
    limiter = ConcurrencyLimiter(max(1, settings.max_pushes), PUSH_WAIT_S, "pushes")
    registry = CollectorRegistry()
    accepted = Count("cardlog_turns_accepted", "turns pushed onto the queue over HTTP", registry=registry)
    refused = Count(
        "cardlog_turns_refused", "requests refused over HTTP, by field", ["field"], registry=registry
    )

    watch = LogMonitor(settings.database_url, "write, watching")
    health_status, queue_health = (
        CachedProbe(watch),
        CachedProbe(QueueMonitor(open_intake(settings, timeout_s=2.0))),
    )
    registry.register(StageMetrics(lambda: seen_in(health_status(), queue_health())))

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await pool.open(wait=False)
        appenders.open(wait=False)
        yield
        appenders.close()
        await pool.close()
        watch.close()
        await publisher.close()

    app = FastAPI(title="Cardlog write API", version="1", lifespan=lifespan)
    install(app, settings, bodies={"/v1/turns": MAX_BODY_BYTES})
    app.include_router(command_router(appenders, keyring))

    @app.post(
        "/v1/turns",
        status_code=202,
        response_model=TurnsAccepted,
        summary="Push one turn or a list of turns",
        operation_id="push_turns",
        tags=["turns"],
        openapi_extra={
            "requestBody": {
                "required": True,
                "content": {
                    "application/json": {
                        "schema": {
                            "oneOf": [
                                turn_schema(),
                                {
                                    "type": "array",
                                    "items": turn_schema(),
                                    "minItems": 1,
                                    "maxItems": MAX_TURNS,
                                },
                            ]
                        }
                    }
                },
            }
        },
    )
    async def push(request: Request) -> JSONResponse:
        try:
            turns = turns_of(body_of(request))
        except ProblemError as problem:
            refused.labels(problem.document.get("field", "(body)")).inc()
            raise
        try:
            async with limiter.place():
                known = await duplicates(turns)
                entries = await publisher.push(turns)
        except SaturatedError as error:
            raise ProblemError(503, "Too many pushes", str(error)) from error
        except PublishFailedError as error:
            logger.warning("redis cannot take turns: %s", error)
            raise ProblemError(
                503,
                "Queue unavailable",
                "Redis cannot take turns now, or did not confirm these turns; "
                "push them again: a turn with a turn_id counts once",
                accepted=list(error.accepted),  # Other nodes of a cluster may have taken their turns.
            ) from error
        accepted.inc(len(turns))
        turn_ids = [
            turn["turn_id"] if turn.get("turn_id", "").strip() else entry
            for turn, entry in zip(turns, entries, strict=True)
        ]
        # The token names the last turn of each user. It implies the earlier turns of the user.
        awaited = {turn["user_id"]: name for turn, name in zip(turns, turn_ids, strict=True)}
        sealer = keyring.sealer or await load_sealer()
        return JSONResponse(
            {
                "turn_ids": turn_ids,
                "duplicates": known,
                "token": None if sealer is None else sealer.seal(awaited),
            },
            status_code=202,
        )

    async def load_sealer() -> Sealer | None:
        try:
            async with pool.connection(timeout=1.0) as connection:
                row = await (await connection.execute(statement("events.http", "token_key"))).fetchone()
        except (psycopg.OperationalError, psycopg.errors.UndefinedTable) as error:
            logger.warning("the answer has no token, because the key of tokens cannot be read: %s", error)
            return None
        assert row is not None
        return keyring.learn(row[0])

    async def duplicates(turns: list[dict[str, str]]) -> list[str]:
        """Returns the turn ids that are in the log or twice in the request. The recorder drops such duplicates."""
        named = [(turn["user_id"], turn["turn_id"]) for turn in turns if turn.get("turn_id")]
        if not named:
            return []
        counts = Counter(named)
        twice = [turn_id for (_, turn_id), count in counts.items() if count > 1]
        try:
            async with pool.connection(timeout=1.0) as connection:
                cursor = await connection.execute(
                    statement("ingest.api", "known_turns"),
                    {
                        "partitions": [partition_of(user) for user, _ in named],
                        "users": [user for user, _ in named],
                        "keys": [turn_key(turn_id) for _, turn_id in named],
                    },
                )
                known = [row[0].removeprefix("turn/") for row in await cursor.fetchall()]
        except psycopg.OperationalError as error:
            logger.warning("postgres is away; the recorder drops duplicates later: %s", error)
            known = []
        return list(dict.fromkeys([*known, *twice]))

    @app.get("/readyz", summary="Can turns be taken?", response_model=Status, operation_id="readiness")
    async def ready(stages: Stages = "count") -> JSONResponse:
        try:
            await publisher.ping()
        except REDIS_AWAY as error:
            raise ProblemError(503, "Not ready", f"redis is away: {error}") from error
        # The service takes turns while Postgres is away. The queue keeps them until Postgres is back.
        if stages == "ignore":
            return JSONResponse({"status": "ready"})
        found, queue = await asyncio.gather(asyncio.to_thread(health_status), asyncio.to_thread(queue_health))
        if found is not None and queue is not None:
            refuse_if_stuck(queue.recorder(found), settings.stuck_after_s)
        return JSONResponse({"status": "ready"})

    @app.get(
        "/metrics", response_class=PlainTextResponse, summary="Prometheus metrics", operation_id="metrics"
    )
    async def metrics() -> PlainTextResponse:
        text = await asyncio.to_thread(generate_latest, registry)
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")

    return app


def seen_in(found: LogHealth | None, queue: QueueHealth | None) -> HealthSnapshot:
    """Returns the health of all stages, from what Postgres knows (``found``) and from the turn queues (``queue``)."""
    found = found or LogHealth.absent("postgres does not answer")
    queue = queue or QueueHealth.absent("redis does not answer")
    return HealthSnapshot(
        (queue.recorder(found), *found.readers),
        {"postgres": found.events is not None, "redis": queue.behind is not None},
        dead=queue.dead,
        counts=queue.counts,
        events=found.events,
        reports=found.reports,
    )


def turns_of(body: Any) -> list[dict[str, str]]:
    """Returns the turns of a request as fields for the Redis stream.

    Raises a 422 :class:`ProblemError` that names field and index when any turn breaks the contract.
    """
    several = isinstance(body, list)
    items = body if several else [body]
    if not items:
        raise invalid("(body)", "is an empty list; give at least one turn")
    if len(items) > MAX_TURNS:
        raise invalid("(body)", f"holds {len(items)} turns; at most {MAX_TURNS} are allowed in one request")
    now = datetime.now(UTC)
    turns = []
    for index, item in enumerate(items):
        where = {"index": index} if several else {}
        if not isinstance(item, dict):
            raise invalid("(body)", "must be an object, or a list of objects", **where)
        turn: dict[str, str] = {}
        try:
            for name, value in item.items():
                if name not in FIELDS:
                    raise TurnInvalidError(name, f"is not a field of a turn; allowed are {', '.join(FIELDS)}")
                if value is None:
                    continue
                if not isinstance(value, str):
                    raise TurnInvalidError(name, "must be a string")
                turn[name] = text_of(name, value)
            parse_turn(turn, entry_time=now, entry_id="0-0")
        except TurnInvalidError as error:
            raise invalid(error.field, error.reason, **where) from None
        turns.append(turn)
    return turns


def turn_schema() -> dict[str, Any]:
    return TurnIn.model_json_schema()
