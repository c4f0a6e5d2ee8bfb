"""Several questions in one request. Each has its own answer or problem."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import APIRouter
from pydantic import Field, ValidationError

from events.access.principal import Principal
from events.http.access import Reader
from events.http.answering import routes_of
from events.http.body import Body
from events.http.errors import ProblemError, problem_of
from events.resources.recall import Answer, Answered, Answers, ProblemDetails
from retrieval.http.questions import RecallIn

MOST_QUESTIONS = 32
AT_ONCE = 4
"""The questions of one request that are answered at the same time."""

Ask = Callable[[Principal, dict[str, object]], Awaitable[Answer]]
"""Returns the answer to the body of a recall. Raises a ``ValidationError`` or a problem."""


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


def batch_router(ask: Ask) -> APIRouter:
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
