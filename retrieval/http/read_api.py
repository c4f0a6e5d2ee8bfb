"""The read service: recall, prompt blocks and cards over HTTP."""

import asyncio
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cache, partial

import psycopg
from fastapi import Depends, FastAPI
from fastapi.responses import PlainTextResponse
from prometheus_client import CollectorRegistry, generate_latest
from psycopg_pool import PoolTimeout

from events.access.limiters import ConcurrencyLimiter, SaturatedError
from events.access.principal import Principal
from events.health.cached_probe import CachedProbe
from events.health.health_status import LogHealth, LogMonitor, refuse_if_stuck
from events.health.metrics import HealthSnapshot, StageMetrics
from events.http.access import Reader
from events.http.answering import add_routes
from events.http.audit import audit_of
from events.http.authentication import authentication_of
from events.http.database import is_gone, problem_of
from events.http.errors import ProblemError, invalid
from events.http.guard import PUSH_BYTES
from events.http.limits import cost_of
from events.http.places import Places
from events.http.service import Probe, Stages, install, running
from events.http.tokens import Keyring, Sealer, unread
from events.platform.database import connect, statement
from events.platform.failures import bounded, retry_on_lost_connection
from events.platform.modes import modes_of
from events.platform.settings import Settings
from events.resources import recall as resources
from events.types.tenancy import TOKENS, vouch
from ingest.recording.intake import Overviews
from projectors.core.documents import feed_of
from projectors.embedding.embedders import dimension_of
from retrieval.cards.reader import CardReader
from retrieval.context.context import cards_within
from retrieval.core import DocumentReader
from retrieval.episodes import EpisodeReader
from retrieval.http.card_routes import cards_router
from retrieval.http.core_routes import memory_router
from retrieval.http.derived_routes import (
    curator_router,
    insights_router,
    problems_router,
    threads_router,
)
from retrieval.http.episode_routes import episodes_router
from retrieval.http.explorer_routes import explorer_router
from retrieval.http.hook_routes import MAX_BODY_BYTES as MAX_HOOK_BYTES
from retrieval.http.hook_routes import PATHS as HOOKS
from retrieval.http.hook_routes import FailOpen, hooks_router, longest_wait_s
from retrieval.http.mcp_endpoint import PATHS as MCP
from retrieval.http.mcp_endpoint import McpEndpoint
from retrieval.http.mode_routes import modes_router
from retrieval.http.operating_routes import operating_router
from retrieval.http.people_routes import people_router
from retrieval.http.prompt_parts import PromptReader, for_prompt, prompt_of
from retrieval.http.questions import ContextIn, RecallIn, ask_of, asked_by, batch_router, within
from retrieval.http.reference_routes import references_router
from retrieval.http.resources import prompted, recalled
from retrieval.http.session_routes import sessions_router
from retrieval.http.user_routes import users_router
from retrieval.http.wiring import open_servers
from retrieval.http.write_service import WriteService
from retrieval.modes import ModeReader
from retrieval.people import PeopleReader
from retrieval.problems import ProblemReader
from retrieval.read_servers import ServerSelection
from retrieval.recall.answer import RecallAnswer
from retrieval.recall.ask import Ask, ModeUnknownError
from retrieval.recall.metrics import RecallMetrics
from retrieval.recall.recall import TOO_SLOW, RecallUnavailableError
from retrieval.references import ReferenceReader
from retrieval.uses import Uses

CONNECTIONS_A_RECALL = 2  # a recall runs four channels at once, each for a short time
WAITS_FOR_A_PLACE_S = 5.0
WAITS_IN_A_LINE_S = 1.0
"""The longest wait while more is asked than can be answered."""
ANSWERS_WITHIN_S = 5.0
"""The longest time of a recall."""
_PROBES_AFTER_S = 2.5


def create_app(  # noqa: C901, PLR0915 - its routes count as branches
    settings: Settings, mcp_endpoint: type[McpEndpoint] = McpEndpoint
) -> FastAPI:
    """Returns the read service. It holds no state, so any number of processes may run."""
    limiter = ConcurrencyLimiter(
        max(1, settings.pool_size // CONNECTIONS_A_RECALL), WAITS_FOR_A_PLACE_S, standing_s=WAITS_IN_A_LINE_S
    )
    keyring = Keyring(settings)
    servers = open_servers(settings, lambda: limiter.saturated)
    recall = servers.primary.recall
    references = ReferenceReader(servers.primary.pool)
    problems = ProblemReader(servers.primary.pool)
    people = PeopleReader(servers.primary.pool)
    reference_use = Uses(settings.database_url, statement("retrieval", "add_reference_use"))
    card_use = Uses(settings.database_url, statement("retrieval.cards", "add_use"))
    documents = DocumentReader(servers.primary.pool, feed_of(settings))
    registry = CollectorRegistry()
    audit = audit_of(settings, "read")
    if audit is not None:
        registry.register(audit)
    metrics_of = RecallMetrics(registry, recall.channel_health, lambda: limiter.waiting)
    watch = LogMonitor(settings.database_url, "read, watching")
    overviews = Overviews(settings)
    health_status = CachedProbe(watch)
    registry.register(StageMetrics(lambda: seen_in(health_status())))
    write = WriteService(settings)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await servers.open()
        for server in (servers.primary, *servers.replicas):
            await asyncio.to_thread(server.recall.warm)
        for use in (reference_use, card_use):
            use.open()
        async with running(app), mcp:
            yield
        for use in (reference_use, card_use):
            await use.close()
        await servers.close()
        watch.close()
        overviews.close()
        await write.close()

    app = FastAPI(title="Cardlog read API", version="1", lifespan=lifespan, docs_url=None, redoc_url=None)
    install(
        app,
        settings,
        bodies={"/v1/turns": PUSH_BYTES, **dict.fromkeys(HOOKS, MAX_HOOK_BYTES)},
        raw=MCP,
        audit=audit,
        authentication=authentication_of(settings, "read"),
        other=settings.write_url,
        limiters=dict.fromkeys(("/v1/recall", "/v1/recall/batch", "/v1/context"), limiter),
    )
    mcp = mcp_endpoint(settings, app, write)
    app.router.routes.extend(mcp.routes)
    app.add_middleware(FailOpen, within_s=longest_wait_s(settings))

    @app.post(
        "/v1/recall",
        summary="Ask; get the few cards that matter",
        operation_id="recall",
        tags=["recall"],
    )
    async def ask(body: RecallIn, caller: Reader) -> resources.Answer:
        question = asked_by(caller, ask_of(body))
        return recalled(await answered(caller, body.wait_for, question), body.k)

    @app.post("/v1/context", summary="Ask; get the cards as blocks of a prompt", tags=["recall"])
    async def context(body: ContextIn, caller: Reader) -> resources.Prompt:
        if body.token_budget is not None and "k" not in body.model_fields_set:
            body = body.model_copy(update={"k": cards_within(body.token_budget)})
        asked = asked_by(caller, ask_of(body))
        question = for_prompt(asked, knowledge=settings.knowledge_inject)
        answer = await answered(caller, body.wait_for, question)
        if body.kinds and question.kinds != asked.kinds:
            notice = "knowledge cards are left out: CARDLOG_KNOWLEDGE_INJECT is off"
            answer = replace(answer, warnings=(*answer.warnings, notice))
        parts = await prompts.parts(caller, question, answer, body.paths or [])
        for each in parts.references:
            reference_use.count(each.owner, [each.stream])
        return prompted(prompt_of(answer, body.token_budget, parts))

    async def answered(caller: Principal, token: str | None, question: Ask) -> RecallAnswer:
        cost = 1 + cost_of({name: getattr(question, name) for name in ("k", "explain", "known_at", "query")})
        with metrics_of.seconds.time():
            try:
                choice = await _choose(token, question.user_id, vectors=recall.by_meaning)
                warnings = list(choice.warnings)
                async with limiter.place(caller.asker, cost):
                    if health_status.hangs and not servers.replicas:
                        raise _silent()
                    try:
                        answer = await timely(choice.server.recall.answer(question))
                    except (RecallUnavailableError, psycopg.Error, TimeoutError) as error:
                        away = isinstance(error, RecallUnavailableError) or is_gone(error)
                        if choice.server is servers.primary or not away:
                            raise
                        # The replica went away during the question, so the primary answers.
                        warnings.append(f"answered by the primary: {servers.rest(choice.server, error)}")
                        answer = await timely(servers.primary.recall.answer(question))
            except ModeUnknownError as error:
                raise invalid("mode", str(error), allowed=error.allowed) from None
            except SaturatedError as error:
                if not await postgres_answers():
                    raise _silent() from error
                raise ProblemError(503, "Too many questions", str(error)) from error
            except RecallUnavailableError as error:
                raise _unavailable(str(error)) from error
            except (psycopg.Error, TimeoutError) as error:
                if isinstance(error, TimeoutError):
                    slow = await postgres_answers()
                    raise (_unavailable(TOO_SLOW) if slow else _silent()) from error
                raise problem_of(error, "Cards unavailable") from error
        if choice.waited and not choice.fresh:
            warnings.append(f"wait_for: not yet projected after {settings.wait_for_ms} ms")
        answer = replace(answer, warnings=(*answer.warnings, *warnings))
        metrics_of.count(answer)
        shown = within(caller, answer)
        if not question.explain:  # a question that asks for reasons is a look at the memory, and no use of it
            card_use.count(question.user_id, [str(each.card_id) for each in shown.cards])
        return shown

    async def timely(answer: Coroutine[object, object, RecallAnswer]) -> RecallAnswer:
        """Returns the answer. Raises TimeoutError; by then a probe has seen whether PostgreSQL answers at all."""
        loop = asyncio.get_running_loop()
        probe = loop.call_later(_PROBES_AFTER_S, loop.run_in_executor, None, health_status)
        try:
            return await bounded(ANSWERS_WITHIN_S, answer)
        finally:
            probe.cancel()

    async def postgres_answers() -> bool:
        found = await asyncio.to_thread(health_status)
        return found is not None and found.events is not None

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
            async with choice.server.pool.without_tenant(2.0) as connection:
                row = await (
                    await connection.execute(statement("events.http", "token_key"), {"proof": vouch(TOKENS)})
                ).fetchone()
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

    prompts = PromptReader(servers.primary.pool, settings, fresh_reader)
    add_routes(app, batch_router(lambda caller, each: ask(RecallIn.model_validate(each), caller)))
    add_routes(app, cards_router(fresh_reader))
    add_routes(app, sessions_router(servers.primary.pool, settings))
    add_routes(app, hooks_router(settings, lambda caller, asked: context(ContextIn(**asked), caller), write))
    # Each of these requests has a connection of its own, and an export keeps it while its client reads.
    exports = Depends(Places(settings.pool_size, "exports"))
    users = users_router(lambda: connect(settings.database_url, application="read, users"))
    add_routes(app, users, exports)
    add_routes(app, operating_router(settings, overviews, recall.channel_health, servers.primary.pool))
    add_routes(app, references_router(references, reference_use))
    add_routes(app, problems_router(problems))
    add_routes(app, threads_router(servers.primary.pool, fresh_reader))
    add_routes(app, insights_router(servers.primary.pool, fresh_reader))
    add_routes(app, curator_router(servers.primary.pool))
    add_routes(app, people_router(people, fresh_reader))
    add_routes(app, episodes_router(EpisodeReader(servers.primary.pool)))
    add_routes(
        app,
        modes_router(
            ModeReader(servers.primary.pool, modes_of(settings)),
            settings.embed_model,
            cache(partial(dimension_of, settings)),
        ),
    )
    add_routes(app, memory_router(documents))
    add_routes(app, explorer_router(app.state.authentication))

    @app.get("/v1/channels", summary="The health of the recall channels in this process", tags=["recall"])
    async def channels(_: Reader) -> resources.Channels:
        return recall.channel_health()

    @app.get("/readyz", summary="Can questions be answered?")
    async def readiness(stages: Stages = "count") -> Probe:
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
            async with choice.server.pool.without_tenant(1.0) as connection:
                await connection.execute(statement("retrieval.http", "ready"))

        try:
            await retry_on_lost_connection(look)
        except (psycopg.Error, PoolTimeout) as error:
            raise ProblemError(503, "Not ready", f"the card tables cannot be read: {error}") from error
        return Probe(status="ready")

    @app.get("/metrics", response_class=PlainTextResponse, summary="Prometheus metrics")
    async def metrics() -> PlainTextResponse:
        text = await asyncio.to_thread(generate_latest, registry)
        return PlainTextResponse(text, media_type="text/plain; version=0.0.4")

    return app


def _unavailable(why: str) -> ProblemError:
    return ProblemError(503, "Cards unavailable", why)


def _silent() -> ProblemError:
    return _unavailable("PostgreSQL does not answer; see that its server runs, then ask again")


def seen_in(found: LogHealth | None) -> HealthSnapshot:
    """Returns the health of the stages as Postgres shows it. The read service does not see Redis."""
    if found is None or found.events is None:
        return HealthSnapshot((), {"postgres": False})
    return HealthSnapshot((found.recorder, *found.readers), {"postgres": True}, events=found.events)
