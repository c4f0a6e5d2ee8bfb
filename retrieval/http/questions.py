"""The questions that the read service takes, alone or several at once, and what of an answer a key may see."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import Field, ValidationError

from events.access.principal import Principal
from events.http.access import Reader, owner_of
from events.http.answering import routes_of
from events.http.body import Body
from events.http.errors import ProblemError, invalid, missing, problem_of
from events.http.fields import METADATA, Instant, metadata_wanted, refuse_future, text_given
from events.resources.recall import Answer, Answered, Answers, ProblemDetails
from events.types.turns import ContextLayer
from retrieval.cards.query import zone_of
from retrieval.http.core_routes import MAX_PATHS
from retrieval.query.scope import KINDS
from retrieval.recall.answer import RecallAnswer
from retrieval.recall.ask import Ask

MAX_QUERY_BYTES = 16 * 1024
ALL_PROJECTS = "*"
MOST_MODES = 32
ALL_MODES = "all"
MOST_QUESTIONS = 32
AT_ONCE = 4
"""The questions of one request that are answered at the same time."""

Answering = Callable[[Principal, dict[str, object]], Awaitable[Answer]]
"""Returns the answer to the body of a recall. Raises a ``ValidationError`` or a problem."""


class RecallIn(Body):
    """One question."""

    user_id: str = Field(min_length=1, description="whose memory is asked")
    query: str = Field(min_length=1, description="the question, in English or Chinese")
    project_id: str | Annotated[list[str], Field(min_length=1)] = "default"
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
        list[Literal["state", "event", "knowledge", "reference", "insight"]] | None, Field(min_length=1)
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


def ask_of(body: RecallIn) -> Ask:
    """Returns the recall of a request. Raises a 422 :class:`ProblemError`, which names the field."""
    user_id, query = text_given("user_id", body.user_id), text_given("query", body.query)
    named = [body.project_id] if isinstance(body.project_id, str) else body.project_id
    mode = [] if body.mode is None else [body.mode]
    listed = body.modes if isinstance(body.modes, list) else mode
    session = [] if body.session_id is None else [body.session_id]
    for field, texts in (("project_id", named), ("mode", mode), ("modes", listed), ("session_id", session)):
        for text in texts:
            text_given(field, text)
    if len(query.encode()) > MAX_QUERY_BYTES:
        raise invalid("query", f"is longer than {MAX_QUERY_BYTES} bytes; shorten it")
    if not query.strip():
        raise invalid("query", "must not be empty")
    if body.mode is not None and body.modes is not None:
        raise invalid("modes", "excludes mode; name one mode in mode, or several in modes")
    now = datetime.now(UTC)
    refuse_future("as_of", body.as_of, now)
    refuse_future("known_at", body.known_at, now)
    return Ask(
        user_id=user_id,
        query=query,
        now=now,
        projects=None if ALL_PROJECTS in named else tuple(named),
        k=body.k,
        as_of=body.as_of,
        known_at=body.known_at,
        kinds=tuple(kind for kind in body.kinds if kind != "insight") if body.kinds else KINDS,
        insights=not body.kinds or "insight" in body.kinds,
        context_layer=body.context_layer,
        layers=None if body.only_layers is None else tuple(body.only_layers),
        metadata=metadata_wanted(body.metadata),
        modes=tuple(dict.fromkeys(listed)) or None,
        across=body.modes == ALL_MODES,
        session_id=body.session_id,
        explain=body.explain,
        timezone=None if body.timezone is None else zone_of(body.timezone),
    )


def asked_by(caller: Principal, question: Ask) -> Ask:
    """Returns the recall with the storage id of its user, held to the projects and modes of the key.

    An explanation names withheld cards of every mode, so a key that is limited to modes gets none. Raises a 404 problem
    for a user, a project or a mode out of reach, and 422 when the key has several modes and the question names none.
    """
    owner = owner_of(caller, question.user_id)
    projects, modes = question.projects, question.modes
    if caller.projects is not None:
        allowed = caller.projects if projects is None else caller.projects.intersection(projects)
        if not allowed:
            raise missing("project", "project_id")
        projects = tuple(sorted(allowed))
    if caller.modes is not None:
        if question.across:
            modes = tuple(sorted(caller.modes))
        elif modes is None:
            if len(caller.modes) > 1:
                known = ", ".join(sorted(caller.modes))
                raise invalid(
                    "mode", f"is required, because this key is limited to modes; use one of {known}"
                )
            modes = tuple(caller.modes)
        if not caller.modes.issuperset(modes):
            raise missing("mode", "mode")
    return replace(
        question,
        user_id=owner,
        projects=projects,
        modes=modes,
        across=question.across and caller.modes is None,
        explain=question.explain and caller.modes is None,
        told_modes=caller.modes,
    )


def within(caller: Principal, answer: RecallAnswer) -> RecallAnswer:
    """Returns the answer without cards and insights out of the caller's reach.

    A contradiction stays when the answer has all its cards. An arbitration is about one project, so it also stays for
    a key without a limit of modes.
    """
    reach = caller.reach
    if not reach.limited:
        return answer
    cards = [each for each in answer.cards if reach.admits(each.card.project_id, each.card.mode)]
    shown = {each.card_id for each in cards}
    return replace(
        answer,
        cards=cards,
        insights=[each for each in answer.insights if reach.admits(each.project_id, each.mode)],
        contradictions=[
            each
            for each in answer.contradictions
            if shown.issuperset(each.card_ids) or (each.arbitration_id is not None and reach.modes is None)
        ],
    )


class BatchIn(Body):
    """Several questions."""

    questions: Annotated[
        list[dict[str, object]],
        Field(
            min_length=1,
            max_length=MOST_QUESTIONS,
            description="the bodies of recalls, as `POST /v1/recall` takes them",
            examples=[[{"user_id": "dana", "query": "where do I live?"}]],
        ),
    ]


def batch_router(ask: Answering) -> APIRouter:
    """Returns the route. A question that fails has a problem in its place and does not fail the others."""
    router = routes_of("recall")

    @router.post(
        "/v1/recall/batch",
        summary="Ask several questions; get their answers in order",
    )
    async def recall_batch(body: BatchIn, caller: Reader) -> Answers:
        places = asyncio.Semaphore(AT_ONCE)

        async def answered(question: dict[str, object]) -> Answered:
            async with places:
                try:
                    return Answered(answer=await ask(caller, question))
                except ValidationError as error:
                    faults = [{**each, "loc": ("body", *each["loc"])} for each in error.errors()]
                    problem = problem_of(faults, {"body": list(RecallIn.model_fields)})
                except ProblemError as error:
                    problem = error
            return Answered(problem=ProblemDetails.model_validate(problem.document))

        return Answers(answers=await asyncio.gather(*map(answered, body.questions)))

    return router
