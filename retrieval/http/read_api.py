"""The read service: recall, prompt blocks and cards over HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, partial
from typing import Annotated, Any, Literal

import psycopg
from fastapi import Depends, FastAPI
from fastapi.responses import PlainTextResponse
from prometheus_client import CollectorRegistry, generate_latest
from psycopg_pool import PoolTimeout
from pydantic import BaseModel, Field
from starlette.types import ASGIApp

from events.access.limiters import ConcurrencyLimiter, SaturatedError
from events.access.principal import Principal
from events.health.cached_probe import CachedProbe
from events.health.health_status import LogHealth, LogMonitor, refuse_if_stuck
from events.health.metrics import HealthSnapshot, StageMetrics
from events.http.access import Reader
from events.http.audit import audit_of
from events.http.authentication import authentication_of
from events.http.database import is_gone, problem_of
from events.http.errors import ProblemError, invalid
from events.http.fields import METADATA, Instant, metadata_wanted, refuse_future
from events.http.guard import PUSH_BYTES
from events.http.limits import cost_of
from events.http.places import Places
from events.http.service import Probe, Stages, install, running
from events.http.tokens import Keyring, Sealer, unread
from events.insights.insight import Insight
from events.modes.registry import Modes
from events.platform.database import connect
from events.platform.failures import retry_on_lost_connection
from events.platform.modes import modes_of
from events.platform.settings import Settings
from events.platform.sql import statement
from events.problems.problem import Problem
from events.references.reference import Reference
from events.resources import recall as resources
from events.threads.thread import Thread
from events.types.tenancy import TOKENS, vouch
from events.types.turn_contract import TurnInvalidError, text_of
from events.types.turns import ContextLayer
from ingest.recording.overviews import Overviews
from projectors.core.documents import feed_of
from projectors.core.loading import TooFarBehindError
from projectors.embedding.declared import dimension_of
from retrieval.cards.card import ListedCard
from retrieval.cards.query import zone_of
from retrieval.cards.reader import CardReader
from retrieval.cards.slice import Slice
from retrieval.context.context import BudgetTooSmallError, Prompt, cards_within, context_of
from retrieval.core.reader import DocumentReader
from retrieval.core.sources import facts_at, goals_of
from retrieval.episodes.reader import EpisodeReader
from retrieval.http.audit_routes import audit_router
from retrieval.http.batch_routes import batch_router
from retrieval.http.card_routes import cards_router
from retrieval.http.core_routes import MAX_PATHS, in_reach, memory_router, pointer_of
from retrieval.http.curator_routes import curator_router
from retrieval.http.episode_routes import episodes_router
from retrieval.http.explorer_routes import explorer_router
from retrieval.http.hook_routes import MAX_BODY_BYTES as MAX_HOOK_BYTES
from retrieval.http.hook_routes import PATHS as HOOKS
from retrieval.http.hook_routes import FailOpen, hooks_router, longest_wait_s
from retrieval.http.insight_routes import insights_router
from retrieval.http.mcp_endpoint import PATHS as MCP
from retrieval.http.mcp_endpoint import McpEndpoint
from retrieval.http.mode_routes import modes_router
from retrieval.http.people_routes import people_router
from retrieval.http.problem_routes import problems_router
from retrieval.http.reach import asked_by, within
from retrieval.http.reference_routes import references_router
from retrieval.http.resources import prompted, recalled
from retrieval.http.schema_routes import candidates_router
from retrieval.http.session_routes import sessions_router
from retrieval.http.status_routes import status_router
from retrieval.http.thread_routes import threads_router
from retrieval.http.user_routes import users_router
from retrieval.http.wiring import open_servers
from retrieval.http.write_service import WriteService
from retrieval.insights.reader import read_insights
from retrieval.modes.reader import ModeReader
from retrieval.people.reader import PeopleReader
from retrieval.problems.reader import ProblemReader
from retrieval.query.scope import KINDS
from retrieval.recall.answer import RecallAnswer
from retrieval.recall.metrics import RecallMetrics
from retrieval.recall.recall import Ask, ModeUnknownError, RecallUnavailableError
from retrieval.references.reader import ReferenceReader
from retrieval.references.use import ReferenceUse
from retrieval.replicas.read_servers import ServerSelection
from retrieval.threads.reader import ThreadReader

MAX_QUERY_BYTES = 16 * 1024
ALL_PROJECTS = "*"
CONNECTIONS_A_RECALL = 2  # a recall runs four channels at once, each for a short time
WAITS_FOR_A_PLACE_S = 5.0


MOST_MODES = 32
ALL_MODES = "all"


_MOST_PINNED = 100
_MOST_INSIGHTS = 5  # of a prompt, the last ones
_MOST_THREADS = 20  # of a prompt, the last changed ones
"""The pinned concepts that a prompt may have, the latest recorded."""


class RecallIn(BaseModel, extra="forbid", use_attribute_docstrings=True):
    """One question."""

    user_id: str = Field(min_length=1, description="whose memory is asked")
    query: str = Field(min_length=1, description="the question, in English or Chinese")
    project_id: str | list[str] = "default"
    """one project, several, or * for all; only cards of these projects answer"""
    session_id: str | None = None
    """the session that asks: without a mode, cards of its recent mode come first"""
    k: Annotated[int, Field(ge=1, le=200, description="the most cards to return")] = 5
    as_of: Instant | None = None
    """answer as of this instant: what was true then"""
    known_at: Instant | None = None
    """only what had been recorded by this instant"""
    timezone: str | None = None
    """IANA zone of the asker, such as Asia/Taipei; by default that of the user's latest event"""
    kinds: Annotated[
        list[Literal["state", "event", "knowledge", "reference"]] | None, Field(min_length=1)
    ] = None
    context_layer: ContextLayer | None = None
    """cards of this layer count a little more"""
    only_layers: Annotated[list[ContextLayer] | None, Field(min_length=1)] = None
    """only cards of these layers"""
    metadata: Annotated[
        dict[str, Any] | None,
        Field(
            description=f"only cards whose metadata contains this: {METADATA}",
            examples=[{"ticket": "A-17"}],
        ),
    ] = None
    mode: Annotated[str | None, Field(min_length=1)] = None
    """only cards of this mode, such as code or journal"""
    modes: Annotated[
        Annotated[list[Annotated[str, Field(min_length=1)]], Field(min_length=1, max_length=MOST_MODES)]
        | Literal["all"]
        | None,
        Field(
            description="several modes, or all: each mode has a list of its own, and the lists are joined by rank"
        ),
    ] = None
    explain: Annotated[bool, Field(description="explain the answer")] = False
    wait_for: str | None = None
    """token of a push: wait until its turns are in the cards"""


class ContextIn(RecallIn):
    """One question, answered as prompt blocks."""

    k: Annotated[int, Field(ge=1, le=200)] = 5
    """the most cards; by default 5, or as many as a token budget may hold"""
    token_budget: Annotated[int | None, Field(ge=1, le=1_000_000)] = None
    """the most tokens of the prompt, by Cardlog's estimate"""
    paths: Annotated[list[Annotated[str, Field(max_length=2048)]] | None, Field(max_length=MAX_PATHS)] = None
    """JSON Pointers into the core document, shown in a block"""


def create_app(  # noqa: C901, PLR0915 - its routes count as branches
    settings: Settings, mcp_endpoint: Callable[[Settings, ASGIApp, WriteService], McpEndpoint] = McpEndpoint
) -> FastAPI:
    """Returns the read service. It holds no state, so any number of processes may run."""
    limiter = ConcurrencyLimiter(max(1, settings.pool_size // CONNECTIONS_A_RECALL), WAITS_FOR_A_PLACE_S)
    keyring = Keyring(settings)
    servers = open_servers(settings, lambda: limiter.saturated)
    recall = servers.primary.recall
    references = ReferenceReader(servers.primary.pool)
    problems = ProblemReader(servers.primary.pool)
    threads = ThreadReader(servers.primary.pool)
    people = PeopleReader(servers.primary.pool)
    reference_use = ReferenceUse(settings.database_url)
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
        reference_use.open()
        async with running(app), mcp:
            yield
        await reference_use.close()
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
        return recalled(await answered(caller, body.wait_for, question))

    @app.post("/v1/context", summary="Ask; get the cards as blocks of a prompt", tags=["recall"])
    async def context(body: ContextIn, caller: Reader) -> resources.Prompt:
        if body.token_budget is not None and "k" not in body.model_fields_set:
            body = body.model_copy(update={"k": cards_within(body.token_budget)})
        asked = asked_by(caller, ask_of(body))
        question = for_prompt(asked, knowledge=settings.knowledge_inject)
        answer = await answered(caller, body.wait_for, question)
        if body.kinds and question.kinds != tuple(body.kinds):
            notice = "knowledge cards are left out: CARDLOG_KNOWLEDGE_INJECT is off"
            answer = replace(answer, warnings=(*answer.warnings, notice))
        pinned, notices = await pinned_references(caller, question)
        answer = replace(answer, warnings=(*answer.warnings, *notices))
        for each in pinned:
            reference_use.count(each.owner, each.stream)
        troubles, notices = await open_problems(caller, question, answer.known_modes)
        answer = replace(answer, warnings=(*answer.warnings, *notices))
        facts, goals, notices = await core_parts(caller, question, body.paths or [])
        answer = replace(answer, warnings=(*answer.warnings, *notices))
        concepts, notices = await pinned_concepts(caller, question, answer.modes)
        answer = replace(answer, warnings=(*answer.warnings, *notices))
        topics, notices = await open_threads(caller, question, answer.known_modes)
        answer = replace(answer, warnings=(*answer.warnings, *notices))
        concluded, notices = await current_insights(caller, question, answer.known_modes)
        answer = replace(answer, warnings=(*answer.warnings, *notices))
        return prompted(
            prompt_of(answer, body.token_budget, pinned, troubles, facts, goals, concepts, topics, concluded)
        )

    async def pinned_concepts(
        caller: Principal, question: Ask, modes: tuple[str, ...] | None
    ) -> tuple[list[ListedCard], tuple[str, ...]]:
        """Returns the pinned concepts of the projects and ``modes``, and a warning when they cannot be read.

        A question about the past gets none, because the pins are those of today.
        """
        if question.as_of is not None or question.known_at is not None or "knowledge" not in question.kinds:
            return [], ()
        asked = Slice(
            user_id=question.user_id,
            now=question.now,
            kinds=("knowledge",),
            projects=None if question.projects is None else tuple(question.projects),
            statuses=("current",),
            conditions={"pinned": True} | ({} if modes is None else {"mode": list(modes)}),
            reach=caller.reach,
        )
        try:
            reader = await fresh_reader(None, question.user_id)
            found = await reader.page(await reader.prepared(asked), limit=_MOST_PINNED)
        except (psycopg.Error, TimeoutError, ProblemError) as error:
            return [], (f"pinned concepts are missing: {type(error).__name__}",)
        return sorted(found.cards, key=lambda card: card.card_id), ()

    async def core_parts(
        caller: Principal, question: Ask, paths: list[str]
    ) -> tuple[list[tuple[str, str]], list[str], tuple[str, ...]]:
        """Returns values at pointers of the core document, the goals, and a warning when they cannot be read.

        A question about the past gets the values of then. A question about the past, or about another project than that
        of the document, gets no goals. The document is outside modes.
        """
        places = [pointer_of(each) for each in paths]
        aims = (
            question.as_of is None
            and question.known_at is None
            and (question.projects is None or "default" in question.projects)
        )
        if not (places or aims) or not in_reach(caller):
            return [], [], ()
        try:
            if question.as_of is None and question.known_at is None:
                state = (await documents.present(question.user_id)).state
            else:
                as_of = question.as_of or question.now
                state = (await documents.past(question.user_id, as_of, question.known_at)).state
        except (psycopg.Error, TimeoutError, TooFarBehindError) as error:
            return [], [], (f"the core document is missing: {type(error).__name__}",)
        return facts_at(state.document, places), goals_of(state.document) if aims else [], ()

    async def pinned_references(caller: Principal, question: Ask) -> tuple[list[Reference], tuple[str, ...]]:
        """Returns the pinned references of a user and the user's teams in the caller's reach.

        A question about the past gets those of then. Adds a warning when they cannot be read.
        """
        try:
            owners = await references.owners_of(question.user_id)
            if question.as_of is None and question.known_at is None:
                found = await references.present(owners)
            else:
                found = await references.past(owners, question.as_of, question.known_at)
        except (psycopg.Error, TimeoutError) as error:
            return [], (f"pinned references are missing: {type(error).__name__}",)
        return [
            each
            for each in found
            if each.tier == "pinned"
            and not each.archived
            and caller.reach.admits(each.name.project_id or "default", None)
        ], ()

    async def open_problems(
        caller: Principal, question: Ask, modes: Modes
    ) -> tuple[list[Problem], tuple[str, ...]]:
        """Returns the open problems of the projects and modes asked for, and a warning when they cannot be read.

        A question about the past gets none, because they are those of today.
        """
        if question.as_of is not None or question.known_at is not None:
            return [], ()
        try:
            found = await problems.present(question.user_id)
        except (psycopg.Error, TimeoutError) as error:
            return [], (f"open problems are missing: {type(error).__name__}",)
        return [
            each for each in found if each.status == "active" and is_asked_for(caller, question, modes, each)
        ], ()

    async def open_threads(
        caller: Principal, question: Ask, modes: Modes
    ) -> tuple[list[Thread], tuple[str, ...]]:
        """Returns the open threads of the projects and modes asked for, as :func:`open_problems` does."""
        if question.as_of is not None or question.known_at is not None:
            return [], ()
        try:
            found = await threads.present(question.user_id)
        except (psycopg.Error, TimeoutError) as error:
            return [], (f"open threads are missing: {type(error).__name__}",)
        return [
            each for each in found if each.status == "open" and is_asked_for(caller, question, modes, each)
        ][:_MOST_THREADS], ()

    async def current_insights(
        caller: Principal, question: Ask, modes: Modes
    ) -> tuple[list[Insight], tuple[str, ...]]:
        """Returns the current insights of the projects and modes asked for, as :func:`open_problems` does."""
        if question.as_of is not None or question.known_at is not None:
            return [], ()
        try:
            found = await read_insights(servers.primary.pool, question.user_id)
        except (psycopg.Error, TimeoutError) as error:
            return [], (f"insights are missing: {type(error).__name__}",)
        told = [each for each in found.present if each.status == "current"]
        return [each for each in told if is_asked_for(caller, question, modes, each)][:_MOST_INSIGHTS], ()

    def is_asked_for(
        caller: Principal, question: Ask, modes: Modes, each: Problem | Thread | Insight
    ) -> bool:
        return (
            (question.projects is None or each.project_id in question.projects)
            and (
                question.modes is None
                or modes.belonging(each.project_id, each.mode)
                in {modes.belonging(each.project_id, name) for name in question.modes}
            )
            and caller.reach.admits(each.project_id, each.mode)
        )

    async def answered(caller: Principal, token: str | None, question: Ask) -> RecallAnswer:
        cost = 1 + cost_of({name: getattr(question, name) for name in ("k", "explain", "known_at")})
        with metrics_of.seconds.time():
            try:
                choice = await _choose(token, question.user_id, vectors=recall.by_meaning)
                warnings = list(choice.warnings)
                async with limiter.place(caller.asker, cost):
                    try:
                        answer = await choice.server.recall.answer(question)
                    except (RecallUnavailableError, psycopg.Error, TimeoutError) as error:
                        away = isinstance(error, RecallUnavailableError) or is_gone(error)
                        if choice.server is servers.primary or not away:
                            raise
                        # The replica went away during the question, so the primary answers.
                        warnings.append(f"answered by the primary: {servers.rest(choice.server, error)}")
                        answer = await servers.primary.recall.answer(question)
            except ModeUnknownError as error:
                raise invalid("mode", str(error), allowed=error.allowed) from None
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
        return within(caller, answer)

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

    app.include_router(batch_router(lambda caller, each: ask(RecallIn.model_validate(each), caller)))
    app.include_router(cards_router(fresh_reader))
    app.include_router(sessions_router(servers.primary.pool, settings))
    app.include_router(
        hooks_router(settings, lambda caller, asked: context(ContextIn(**asked), caller), write)
    )
    # Each of these requests has a connection of its own, and an export keeps it while its client reads.
    exports = Depends(Places(settings.pool_size, "exports"))
    users = users_router(lambda: connect(settings.database_url, application="read, users"))
    app.include_router(users, dependencies=[exports])
    app.include_router(audit_router(servers.primary.pool))
    app.include_router(status_router(settings, overviews, recall.channel_health))
    app.include_router(references_router(references, reference_use))
    app.include_router(problems_router(problems))
    app.include_router(threads_router(threads, fresh_reader))
    app.include_router(insights_router(servers.primary.pool, fresh_reader))
    app.include_router(curator_router(servers.primary.pool))
    app.include_router(people_router(people, fresh_reader))
    app.include_router(episodes_router(EpisodeReader(servers.primary.pool)))
    app.include_router(
        modes_router(
            ModeReader(servers.primary.pool, modes_of(settings)),
            settings.embed_model,
            cache(partial(dimension_of, settings)),
        )
    )
    app.include_router(memory_router(documents))
    app.include_router(candidates_router(documents))
    app.include_router(explorer_router(app.state.authentication))

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


def prompt_of(
    answer: RecallAnswer,
    token_budget: int | None,
    pinned: Sequence[Reference] = (),
    problems: Sequence[Problem] = (),
    facts: Sequence[tuple[str, str]] = (),
    goals: Sequence[str] = (),
    concepts: Sequence[ListedCard] = (),
    threads: Sequence[Thread] = (),
    insights: Sequence[Insight] = (),
) -> Prompt:
    """Returns the prompt for an answer. Raises a 422 :class:`ProblemError`, which names the least budget that works."""
    try:
        return context_of(answer, token_budget, pinned, problems, facts, goals, concepts, threads, insights)
    except BudgetTooSmallError as error:
        raise invalid(
            "token_budget", f"is {token_budget}; {error}: allow at least {error.least}", least=error.least
        ) from None


def ask_of(body: RecallIn) -> Ask:
    """Returns the recall of a request. Raises a 422 :class:`ProblemError`, which names the field."""
    try:
        user_id = text_of("user_id", body.user_id)
        query = text_of("query", body.query)
        for name in [body.project_id] if isinstance(body.project_id, str) else body.project_id:
            text_of("project_id", name)
        if body.mode is not None:
            text_of("mode", body.mode)
        for name in body.modes or ():
            text_of("modes", name)
        if body.session_id is not None:
            text_of("session_id", body.session_id)
    except TurnInvalidError as error:
        raise invalid(error.field, error.reason) from None
    if len(query.encode()) > MAX_QUERY_BYTES:
        raise invalid("query", f"is longer than {MAX_QUERY_BYTES} bytes")
    if not query.strip():
        raise invalid("query", "must not be empty")
    if body.mode is not None and body.modes is not None:
        raise invalid("modes", "excludes mode; name one mode in mode, or several in modes")
    listed = body.modes if isinstance(body.modes, list) else [] if body.mode is None else [body.mode]
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
        metadata=metadata_wanted(body.metadata),
        modes=tuple(dict.fromkeys(listed)) or None,
        across=body.modes == ALL_MODES,
        session_id=body.session_id,
        explain=body.explain,
        timezone=None if body.timezone is None else zone_of(body.timezone),
    )
