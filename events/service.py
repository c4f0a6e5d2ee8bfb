"""What both HTTP services share: problem answers, bodies read with a limit, health."""

from __future__ import annotations

import logging
from typing import Annotated, Any, Literal

import orjson
from fastapi import FastAPI, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from events.problem import MEDIA_TYPE, ProblemError, invalid

logger = logging.getLogger(__name__)

Stages = Annotated[
    Literal["count", "ignore"],
    Query(
        description="ignore: ready where this process can do its own part, whatever stands still elsewhere"
    ),
]


class JSONResponse(Response):
    """JSON as orjson writes it: instants in ISO 8601, UUIDs as strings."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        return orjson.dumps(content, option=orjson.OPT_NON_STR_KEYS)


def problem_response(problem: ProblemError) -> Response:
    """The HTTP answer for ``problem``."""
    headers = {"Retry-After": "1"} if problem.status == 503 else None
    return Response(orjson.dumps(problem.document), problem.status, headers, media_type=MEDIA_TYPE)


async def body_of(request: Request, limit: int) -> Any:
    """The request's JSON. Raises a 413 or 422 :class:`ProblemError`; never keeps more than ``limit`` bytes."""
    chunks, size = [], 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > limit:
            raise ProblemError(
                413, "Request too large", f"the body is larger than {limit} bytes", field="(body)"
            )
        chunks.append(chunk)
    try:
        return orjson.loads(b"".join(chunks))
    except orjson.JSONDecodeError as error:
        raise invalid("(body)", f"is not valid JSON in UTF-8: {error}") from None


def install(app: FastAPI) -> None:
    """Give ``app`` its ``/healthz`` and turn every error into a problem document, never a traceback."""

    @app.exception_handler(ProblemError)
    async def _problem(_: Request, problem: ProblemError) -> Response:
        return problem_response(problem)

    @app.exception_handler(RequestValidationError)
    async def _validation(_: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        # The first part says only where in the request: body, query, path.
        where = ".".join(map(str, first["loc"][1:])) or "(body)"
        if first["type"] == "json_invalid":
            return problem_response(invalid("(body)", f"is not valid JSON: {first['ctx']['error']}"))
        return problem_response(invalid(where, str(first["msg"]).removeprefix("Value error, ")))

    @app.exception_handler(HTTPException)
    async def _http(_: Request, error: HTTPException) -> Response:
        if error.status_code == 400:  # all that the framework refuses so is a body it cannot decode
            return problem_response(invalid("(body)", "is not valid JSON in UTF-8"))
        return problem_response(ProblemError(error.status_code, str(error.detail), str(error.detail)))

    @app.exception_handler(Exception)
    async def _unexpected(request: Request, error: Exception) -> Response:
        logger.error("%s %s failed", request.method, request.url.path, exc_info=error)
        return problem_response(
            ProblemError(500, "Internal error", "something went wrong here; the service's log says what")
        )

    @app.get("/healthz", summary="Is the process alive?")
    async def _health() -> JSONResponse:
        return JSONResponse({"status": "ok"})
