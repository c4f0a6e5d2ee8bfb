"""The write service: takes turns and commands over HTTP. Turns go onto the same Redis streams that XADD feeds."""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from functools import cache, partial
from typing import Any, NoReturn, TypeVar

import psycopg
from fastapi import Depends, FastAPI, Request
from fastapi.responses import PlainTextResponse
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client import Counter as Count
from psycopg_pool import AsyncConnectionPool, ConnectionPool

from events.access.limiters import ConcurrencyLimiter, SaturatedError
from events.health.cached_probe import CachedProbe
from events.health.health_status import LogHealth, LogMonitor, refuse_if_stuck
from events.health.metrics import HealthSnapshot, StageMetrics
from events.http.access import Pusher
from events.http.answering import add_routes
from events.http.audit import audit_of
from events.http.authentication import authentication_of
from events.http.errors import ProblemError
from events.http.guard import PUSH_BYTES
from events.http.places import Places
from events.http.service import Probe, Stages, body_of, install, running
from events.http.tokens import Keyring, Sealer
from events.modes.reembedding import Planner
from events.modes.shown import DimensionOf
from events.platform.database import PEER, RECONNECT_S, AnsweredConnection, Connection, connect, statement
from events.platform.failures import bounded, retry_on_lost_connection
from events.platform.settings import Settings
from events.platform.streams import REDIS_AWAY, fault_of
from events.resources.turns import Pushed
from events.types.envelope import partition_of, uuid7
from events.types.queue_entry import QueueKey
from events.types.tenancy import DEFAULT_TENANT, TOKENS, storage_id, vouch
from events.types.turn_contract import FIELDS, turn_key
from ingest.api import chores
from ingest.api.command_routes import command_router, session_router
from ingest.api.concept_routes import concept_router
from ingest.api.core_routes import DocumentWriter, memory_router
from ingest.api.curator_routes import curator_router, insight_router
from ingest.api.erasure_routes import erasure_router
from ingest.api.migration_routes import migration_router
from ingest.api.mode_routes import mode_router
from ingest.api.operation_routes import operation_router, status_router
from ingest.api.people_routes import people_router
from ingest.api.problem_routes import problem_router
from ingest.api.reference_routes import declaration_router, proposal_router, reference_router
from ingest.api.schema_routes import schema_router
from ingest.api.thread_routes import thread_router
from ingest.api.transactions import Transactions
from ingest.api.turn_input import body_schema, refuse_unreached, turns_of
from ingest.api.turn_publisher import PublishFailedError, TurnPublisher
from ingest.api.webhook_routes import webhook_router
from ingest.core.aggregate import Documents, NoDocuments
from ingest.erasure.erasure import Derived, Eraser
from ingest.extraction.choosing import create_extractor
from ingest.recording.intake import Intake, Overviews, QueueHealth

logger = logging.getLogger(__name__)
_T = TypeVar("_T")

PUSH_WAIT_S = 1.0
_LOOKS_WITHIN_S = 2.0
"""A push waits this long for Postgres. It needs no answer of it."""


def unavailable(*_: object, **__: object) -> NoReturn:
    """Raises ValueError: this service was started without a way to look at models and vectors."""
    raise ValueError("this service cannot look at models or vectors; start it with cardlog serve write")


def create_app(  # noqa: C901, PLR0915 - its routes count as branches
    settings: Settings,
    derived: Callable[[], Sequence[Derived]] = tuple,
    dimension_of: DimensionOf = unavailable,
    documents: Callable[[], Documents] = NoDocuments,
    planner: Planner = unavailable,
    *,
    with_chores: bool = True,
) -> FastAPI:
    """Returns the write service. An accepted turn is on its Redis stream. Pushes answer 503 while Redis is away.

    ``derived`` returns the tables that an erasure must clean, besides the log and the queue. ``dimension_of`` tells the
    length of a model's vectors, and refuses a model that is not there. ``documents`` returns the core
    documents of users, which commands on them need. ``planner`` tells the cost of a re-embedding of a user's mode. With
    ``with_chores`` the service also erases what is due, and reviews the tiers of references and the schemas of
    documents once an hour.
    Pushes also answer 503 when ``max_pushes`` are running and none ends within :data:`PUSH_WAIT_S` seconds.
    """
    publisher = TurnPublisher(settings)
    pool = AsyncConnectionPool(
        settings.database_url,
        min_size=1,
        max_size=settings.pool_size,
        open=False,
        reconnect_timeout=RECONNECT_S,
        kwargs={"autocommit": True, "application_name": "cardlog write", **PEER},
    )
    # Commands use blocking connections in the service's threads, like every other append.
    appenders: ConnectionPool[Any] = ConnectionPool(
        settings.database_url,
        connection_class=AnsweredConnection,
        min_size=0,
        max_size=settings.pool_size,
        open=False,
        reconnect_timeout=RECONNECT_S,
        # A command is not repeated when its connection dies, so it gets no connection that died before.
        check=ConnectionPool.check_connection,
        kwargs={"autocommit": True, "application_name": "cardlog write, commands", **PEER},
    )
    keyring = Keyring(settings)
    limiter = ConcurrencyLimiter(max(1, settings.max_pushes), PUSH_WAIT_S, "pushes")
    registry = CollectorRegistry()
    audit = audit_of(settings, "write")
    if audit is not None:
        registry.register(audit)
    accepted = Count("cardlog_turns_accepted", "turns pushed onto the queue over HTTP", registry=registry)
    refused = Count(
        "cardlog_turns_refused", "requests refused over HTTP, by field", ["field"], registry=registry
    )

    watch = LogMonitor(settings.database_url, "write, watching")
    health_status = CachedProbe(watch)
    intake = Intake(settings, timeout_s=2.0)
    queue_health = CachedProbe(intake.health)
    registry.register(StageMetrics(lambda: seen_in(health_status(), queue_health())))
    overviews = Overviews(settings)

    @cache
    def eraser() -> Eraser:
        return Eraser(settings, derived())

    cached_documents = cache(documents)

    def seeing_all() -> Connection:
        """Returns a new connection that sees every tenant, for work that no request of one tenant does."""
        return connect(settings.database_url, application="write, chores")

    async def warn_if_refused() -> None:
        try:
            await publisher.ping()
        except REDIS_AWAY as error:
            logger.warning("no turn can be pushed yet: %s", fault_of(error))

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await pool.open(wait=False)
        appenders.open(wait=False)
        tasks = [asyncio.create_task(warn_if_refused())]
        if with_chores:
            every_hour = {
                "review of tiers": partial(chores.review_tiers, seeing_all, settings),
                "review of schemas": partial(chores.review_schemas, seeing_all, settings, cached_documents),
            }
            erasures = partial(chores.erase_what_is_due, seeing_all, eraser)
            tasks += [
                asyncio.create_task(chores.keep(chores.MINUTE_S, "erasures that are due", erasures)),
                *(asyncio.create_task(chores.keep(chores.HOUR_S, *each)) for each in every_hour.items()),
            ]
        async with running(app):
            yield
        for task in tasks:
            task.cancel()
        appenders.close()
        await pool.close()
        watch.close()
        intake.close()
        overviews.close()
        await publisher.close()

    app = FastAPI(title="Cardlog write API", version="1", lifespan=lifespan, docs_url=None, redoc_url=None)
    install(
        app,
        settings,
        bodies={"/v1/turns": PUSH_BYTES},
        audit=audit,
        authentication=authentication_of(settings, "write"),
        other=settings.read_url,
    )
    add_routes(app, status_router(overviews))
    erasures, commands = Places(settings.pool_size, "erasures"), Places(settings.pool_size, "commands")
    add_routes(app, erasure_router(seeing_all, eraser), Depends(erasures))
    transactions = Transactions(appenders, keyring)
    writer = DocumentWriter(transactions, cached_documents)
    for router in (
        command_router(transactions),
        concept_router(transactions),
        session_router(transactions),
        reference_router(transactions),
        declaration_router(transactions),
        mode_router(transactions, settings, dimension_of, planner),
        proposal_router(transactions),
        problem_router(transactions),
        thread_router(transactions),
        curator_router(transactions, settings),
        insight_router(transactions),
        webhook_router(transactions, private=settings.webhook_private),
        people_router(transactions),
        memory_router(writer),
        schema_router(writer),
        operation_router(transactions, settings),
    ):
        add_routes(app, router, Depends(commands))
    extractor = cache(lambda: create_extractor(settings))
    add_routes(app, migration_router(transactions, cached_documents, publisher, extractor, commands))

    @app.post(
        "/v1/turns",
        status_code=202,
        summary="Push one turn, a list of turns, or a conversation",
        tags=["turns"],
        openapi_extra={
            "requestBody": {
                "required": True,
                "content": {"application/json": {"schema": body_schema()}},
            }
        },
    )
    async def push_turns(request: Request, caller: Pusher) -> Pushed:
        tenant = caller.tenant
        try:
            turns = turns_of(body_of(request))
            refuse_unreached(turns, caller)
        except ProblemError as problem:
            field = problem.document.get("field", "(body)")
            # The name of an unknown field is foreign text.
            refused.labels(field if field in {*FIELDS, "(body)"} else "(unknown field)").inc()
            raise
        try:
            async with limiter.place(caller.asker):
                known = await duplicates(turns, tenant)
                entries = await publisher.push(turns, tenant=tenant, key=await queue_key(turns, tenant))
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
        awaited = {
            storage_id(tenant, turn["user_id"]): name for turn, name in zip(turns, turn_ids, strict=True)
        }
        sealer = keyring.sealer or await load_sealer()
        return Pushed(
            turn_ids=turn_ids, duplicates=known, token=None if sealer is None else sealer.seal(awaited)
        )

    async def queue_key(turns: list[dict[str, str]], tenant: str) -> QueueKey | None:
        """Returns the key that proves the tenant of ``turns``, and names the turns without a turn_id."""
        if tenant == DEFAULT_TENANT:
            return None
        if keyring.queue_key is None and await load_sealer() is None:
            raise ProblemError(
                503,
                "Queue unavailable",
                "postgres is away, which keeps the key of tenants; push the turns again",
            )
        for turn in turns:
            if not turn.get("turn_id", "").strip():
                turn["turn_id"] = str(uuid7())
        return keyring.queue_key

    async def of_postgres(look: Callable[[], Awaitable[_T]]) -> _T:
        """Returns what ``look`` reads. Raises TimeoutError, at once while a probe of Postgres has no answer."""
        if health_status.hangs:
            raise TimeoutError("PostgreSQL does not answer")
        try:
            return await bounded(_LOOKS_WITHIN_S, retry_on_lost_connection(look))
        except TimeoutError:
            asyncio.get_running_loop().run_in_executor(None, health_status)
            raise

    async def load_sealer() -> Sealer | None:
        async def look() -> Any:
            async with pool.connection(timeout=1.0) as connection:
                return await (
                    await connection.execute(statement("events.http", "token_key"), {"proof": vouch(TOKENS)})
                ).fetchone()

        try:
            row = await of_postgres(look)
        except (psycopg.OperationalError, psycopg.errors.UndefinedTable, TimeoutError) as error:
            logger.warning("the answer has no token, because the key of tokens cannot be read: %s", error)
            return None
        assert row is not None
        return keyring.learn(row[0])

    async def duplicates(turns: list[dict[str, str]], tenant: str) -> list[str]:
        """Returns the turn ids that are in the log or twice in the request. The recorder drops such duplicates."""
        named = [
            (storage_id(tenant, turn["user_id"]), turn["turn_id"]) for turn in turns if turn.get("turn_id")
        ]
        if not named:
            return []
        counts = Counter(named)
        twice = [turn_id for (_, turn_id), count in counts.items() if count > 1]

        async def look() -> list[str]:
            async with (
                pool.connection(timeout=1.0) as connection,
                connection.pipeline(),
                connection.transaction(),
            ):
                await connection.execute(
                    statement("events.platform", "see_tenant"), {"tenant": vouch(tenant)}
                )
                cursor = await connection.execute(
                    statement("ingest.api", "known_turns"),
                    {
                        "partitions": [partition_of(user) for user, _ in named],
                        "users": [user for user, _ in named],
                        "keys": [turn_key(turn_id) for _, turn_id in named],
                    },
                )
                return [row[0].removeprefix("turn/") for row in await cursor.fetchall()]

        try:
            known = await of_postgres(look)
        except (psycopg.OperationalError, TimeoutError) as error:
            logger.warning("postgres is away; the recorder drops duplicates later: %s", error)
            known = []
        return list(dict.fromkeys([*known, *twice]))

    @app.get("/readyz", summary="Can turns be taken?")
    async def readiness(stages: Stages = "count") -> Probe:
        try:
            await publisher.ping()
        except REDIS_AWAY as error:
            raise ProblemError(503, "Not ready", fault_of(error)) from error
        # The service takes turns while Postgres is away. The queue keeps them until Postgres is back.
        if stages == "ignore":
            return Probe(status="ready")
        found, queue = await asyncio.gather(asyncio.to_thread(health_status), asyncio.to_thread(queue_health))
        if found is not None and queue is not None:
            refuse_if_stuck(queue.recorder(found), settings.stuck_after_s)
        return Probe(status="ready")

    @app.get("/metrics", response_class=PlainTextResponse, summary="Prometheus metrics")
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
