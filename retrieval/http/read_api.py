"""The read service: recall, prompt blocks and cards over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Literal

import psycopg
from fastapi import FastAPI
from fastapi.responses import PlainTextResponse
from prometheus_client import CollectorRegistry, generate_latest
from psycopg_pool import PoolTimeout
from pydantic import BaseModel, ConfigDict, Field

from events.health.cached_probe import CachedProbe
from events.health.health_status import LogHealth, LogMonitor, refuse_if_stuck
from events.health.metrics import HealthSnapshot, StageMetrics
from events.http.concurrency_limiter import ConcurrencyLimiter, SaturatedError
from events.http.database import is_gone, problem_of
from events.http.instants import Instant, refuse_future
from events.http.problem import ProblemError, invalid
from events.http.service import JSONResponse, Stages, Status, install
from events.http.tokens import Keyring, Sealer, unread
from events.platform.modes import GENERAL_MODE, modes_of
from events.platform.settings import Settings
from events.platform.sql import statement
from events.types.turn_contract import TurnInvalidError, text_of
from events.types.turns import ContextLayer
from retrieval.cards.query import zone_of
from retrieval.cards.reader import CardReader
from retrieval.context.context import BudgetTooSmallError, Prompt, context_of
from retrieval.http import answers
from retrieval.http.cards_api import cards_router
from retrieval.http.documents import prompt_document, recall_document
from retrieval.http.wiring import open_servers
from retrieval.pool.reconnect import retry_on_lost_connection
from retrieval.query.scope import KINDS
from retrieval.recall.answer import RecallAnswer
from retrieval.recall.metrics import RecallMetrics
from retrieval.recall.recall import Ask, RecallUnavailableError
from retrieval.replicas.read_servers import ServerSelection

MAX_QUERY_BYTES = 16 * 1024
ALL_PROJECTS = "*"
CONNECTIONS_A_RECALL = 2  # a recall runs four channels at once, each for a short time
WAITS_FOR_A_PLACE_S = 5.0


class RecallIn(BaseModel):
    """One question."""

    model_config = ConfigDict(extra="forbid")

    user_id: str = Field(min_length=1, description="whose memory is asked")
    query: str = Field(min_length=1, description="the question, in English or Chinese")
    project_id: Annotated[
        str | list[str],
        Field(description="one project, several, or * for all; only cards of these projects answer"),
    ] = "default"
    session_id: str | None = None
    k: Annotated[int, Field(ge=1, le=200, description="the most cards to return")] = 5
    as_of: Annotated[Instant | None, Field(description="answer as of this instant: what was true then")] = (
        None
    )
    known_at: Annotated[Instant | None, Field(description="only what had been recorded by this instant")] = (
        None
    )
    timezone: Annotated[
        str | None,
        Field(
            description="IANA zone of the asker, such as Asia/Taipei; by default that of the user's latest event"
        ),
    ] = None
    kinds: Annotated[list[Literal["state", "event", "knowledge"]] | None, Field(min_length=1)] = None
    context_layer: Annotated[
        ContextLayer | None, Field(description="cards of this layer count a little more")
    ] = None
    only_layers: Annotated[
        list[ContextLayer] | None, Field(min_length=1, description="only cards of these layers")
    ] = None
    mode: Annotated[
        str | None, Field(min_length=1, description="only cards of this mode, such as code or journal")
    ] = None
    explain: Annotated[bool, Field(description="explain the answer")] = False
    wait_for: Annotated[
        str | None, Field(description="token of a push: wait until its turns are in the cards")
    ] = None


class ContextIn(RecallIn):
    """One question, answered as prompt blocks."""

    token_budget: Annotated[
        int | None,
        Field(ge=1, le=1_000_000, description="the most tokens of the prompt, by Cardlog's estimate"),
    ] = None


def create_app(settings: Settings) -> FastAPI:
    """Returns the read service. It holds no state, so any number of processes may run."""
    limiter = ConcurrencyLimiter(max(1, settings.pool_size // CONNECTIONS_A_RECALL), WAITS_FOR_A_PLACE_S)
    keyring = Keyring(settings)
    servers = open_servers(settings, lambda: limiter.saturated)
    recall = servers.primary.recall
    registry = CollectorRegistry()
    metrics_of = RecallMetrics(registry, recall.channel_health, lambda: limiter.waiting)
    watch = LogMonitor(settings.database_url, "read, watching")
    health_status = CachedProbe(watch)
    registry.register(StageMetrics(lambda: seen_in(health_status())))

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await servers.open()
        for server in (servers.primary, *servers.replicas):
            await asyncio.to_thread(server.recall.warm)
        yield
        await servers.close()
        watch.close()

    app = FastAPI(title="Cardlog read API", version="1", lifespan=lifespan)
    install(app, settings)

    @app.post(
        "/v1/recall",
        summary="Ask; get the few cards that matter",
        response_model=answers.RecallAnswer,
        operation_id="recall",
        tags=["recall"],
    )
    async def ask(body: RecallIn) -> JSONResponse:
        return JSONResponse(recall_document(await answered(body, ask_of(body, modes_of(settings)))))

    @app.post(
        "/v1/context",
        summary="Ask; get the cards as blocks of a prompt",
        response_model=answers.Prompt,
        operation_id="context",
        tags=["recall"],
    )
    async def context(body: ContextIn) -> JSONResponse:
        question = for_prompt(ask_of(body, modes_of(settings)), knowledge=settings.knowledge_inject)
        answer = await answered(body, question)
        if body.kinds and question.kinds != tuple(body.kinds):
            notice = "knowledge cards are left out: CARDLOG_KNOWLEDGE_INJECT is off"
            answer = replace(answer, warnings=(*answer.warnings, notice))
        return JSONResponse(prompt_document(prompt_of(answer, body.token_budget)))

    async def answered(body: RecallIn, question: Ask) -> RecallAnswer:
        with metrics_of.seconds.time():
            try:
                choice = await _choose(body.wait_for, body.user_id, vectors=recall.by_meaning)
                warnings = list(choice.warnings)
                async with limiter.place():
                    try:
                        answer = await choice.server.recall.answer(question)
                    except (RecallUnavailableError, psycopg.Error, TimeoutError) as error:
                        away = isinstance(error, RecallUnavailableError) or is_gone(error)
                        if choice.server is servers.primary or not away:
                            raise
                        # The replica went away during the question, so the primary answers.
                        warnings.append(f"answered by the primary: {servers.rest(choice.server, error)}")
                        answer = await servers.primary.recall.answer(question)
            except SaturatedError as error:
                raise ProblemError(503, "Too many questions", str(error)) from error
            except RecallUnavailableError as error:
                raise ProblemError(503, "Cards unavailable", str(error)) from error
            except (psycopg.Error, TimeoutError) as error:
                raise problem_of(error, "Cards unavailable") from error
        if choice.waited and not choice.fresh:
            warnings.append(f"wait_for: not yet projected after {settings.wait_for_ms} ms")
        answer = replace(answer, warnings=(*answer.warnings, *warnings))
        metrics_of.count(answer)
        return answer

    async def _choose(token: str | None, user_id: str, *, vectors: bool = False) -> ServerSelection:
        choice = await servers.choose()
        if token is None:
            return choice
        sealer = keyring.sealer or await _sealer(choice)
        awaited = sealer.awaited(token, user_id)
        if awaited is None:
            return choice
        return await servers.choose_fresh(user_id, awaited, settings.wait_for_ms / 1000, vectors=vectors)

    async def _sealer(choice: ServerSelection) -> Sealer:
        async def look() -> tuple[bytes]:
            async with choice.server.pool.connection(timeout=2.0) as connection:
                row = await (await connection.execute(statement("events.http", "token_key"))).fetchone()
                assert row is not None
                return (row[0],)

        try:
            return keyring.learn(*await retry_on_lost_connection(look))
        except (psycopg.Error, TimeoutError) as error:
            if not (is_gone(error) or isinstance(error, psycopg.errors.UndefinedTable)):
                raise
            raise unread(error) from error

    async def fresh_reader(token: str | None, user_id: str) -> CardReader:
        try:
            choice = await _choose(token, user_id)
        except (psycopg.Error, TimeoutError) as error:
            raise problem_of(error, "Cards unavailable") from error
        if not choice.waited:
            raise ProblemError(503, "Too many waits", choice.warnings[-1], field="wait_for")
        if not choice.fresh:
            raise ProblemError(
                503,
                "Not projected yet",
                f"the turns of the token are not in the cards after {settings.wait_for_ms} ms; try again",
                field="wait_for",
            )
        return choice.server.reader

    app.include_router(cards_router(fresh_reader))

    @app.get(
        "/v1/channels",
        summary="The health of the recall channels in this process",
        response_model=answers.Channels,
        operation_id="channels",
        tags=["recall"],
    )
    async def channels() -> JSONResponse:
        return JSONResponse(recall.channel_health())

    @app.get("/readyz", summary="Can questions be answered?", response_model=Status, operation_id="readiness")
    async def ready(stages: Stages = "count") -> JSONResponse:
        # This probe comes first, because it does not hang when Postgres hangs.
        found = await asyncio.to_thread(health_status)
        choice = await servers.choose()
        if found is None or found.events is None:
            # Replicas still answer without the primary.
            if choice.server is servers.primary:
                raise ProblemError(503, "Not ready", "postgres is away, or does not answer")
        elif stages == "count":
            refuse_if_stuck(found.reader("cards"), settings.stuck_after_s)

        async def look() -> None:
            async with choice.server.pool.connection(timeout=1.0) as connection:
                await connection.execute(statement("retrieval.http", "ready"))

        try:
            await retry_on_lost_connection(look)
        except (psycopg.Error, PoolTimeout) as error:
            raise ProblemError(503, "Not ready", f"the card tables cannot be read: {error}") from error
        return JSONResponse({"status": "ready"})

    @app.get(
        "/metrics", response_class=PlainTextResponse, summary="Prometheus metrics", operation_id="metrics"
    )
    async def metrics() -> PlainTextResponse:
        text = await asyncio.to_thread(generate_latest, registry)
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")

    return app


def seen_in(found: LogHealth | None) -> HealthSnapshot:
    """Returns the health of the stages as Postgres shows it. The read service does not see Redis."""
    if found is None or found.events is None:
        return HealthSnapshot((), {"postgres": False})
    return HealthSnapshot((found.recorder, *found.readers), {"postgres": True}, events=found.events)


def for_prompt(question: Ask, *, knowledge: bool) -> Ask:
    """Returns the recall of a prompt. Without ``knowledge`` it leaves out knowledge cards."""
    if knowledge:
        return question
    return replace(question, kinds=tuple(kind for kind in question.kinds if kind != "knowledge"))


def prompt_of(answer: RecallAnswer, token_budget: int | None) -> Prompt:
    """Returns the prompt for an answer. Raises a 422 :class:`ProblemError`, which names the least budget that works."""
    try:
        return context_of(answer, token_budget)
    except BudgetTooSmallError as error:
        raise invalid(
            "token_budget", f"is {token_budget}; {error}: allow at least {error.least}", least=error.least
        ) from None


def ask_of(body: RecallIn, modes: Collection[str] = ()) -> Ask:
    """Returns the recall of a request. Raises a 422 :class:`ProblemError`, which names the field.

    When ``modes`` are declared, any other mode is refused. The general mode is always accepted.
    """
    try:
        user_id = text_of("user_id", body.user_id)
        query = text_of("query", body.query)
        for name in [body.project_id] if isinstance(body.project_id, str) else body.project_id:
            text_of("project_id", name)
        if body.mode is not None:
            text_of("mode", body.mode)
    except TurnInvalidError as error:
        raise invalid(error.field, error.reason) from None
    if len(query.encode()) > MAX_QUERY_BYTES:
        raise invalid("query", f"is longer than {MAX_QUERY_BYTES} bytes")
    if not query.strip():
        raise invalid("query", "must not be empty")
    if modes and body.mode not in {None, GENERAL_MODE, *modes}:
        known = ", ".join(dict.fromkeys((GENERAL_MODE, *modes)))
        raise invalid("mode", f"{body.mode!r} is unknown; use one of {known}")
    now = datetime.now(UTC)
    refuse_future("as_of", body.as_of, now)
    refuse_future("known_at", body.known_at, now)
    named = [body.project_id] if isinstance(body.project_id, str) else body.project_id
    return Ask(
        user_id=user_id,
        query=query,
        now=now,
        projects=None if ALL_PROJECTS in named else tuple(named),
        k=body.k,
        as_of=body.as_of,
        known_at=body.known_at,
        kinds=tuple(body.kinds) if body.kinds else KINDS,
        context_layer=body.context_layer,
        layers=None if body.only_layers is None else tuple(body.only_layers),
        mode=body.mode,
        explain=body.explain,
        timezone=None if body.timezone is None else zone_of(body.timezone),
    )
