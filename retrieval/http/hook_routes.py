"""Hooks of assistants over HTTP: context for a prompt, turns for the memory, and never a failure."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Annotated, get_args

from fastapi import APIRouter, Query, Request
from pydantic import Field
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from events.access.principal import Principal
from events.http.access import Reader, owner_of, require
from events.http.answering import routes_of
from events.http.errors import ProblemError
from events.http.headers import security_headers
from events.platform.counting import counted
from events.platform.failures import in_a_line
from events.platform.settings import Settings
from events.resources.recall import HookAnswer, HookOutput, Prompt
from events.types.json_values import JsonObject
from retrieval.hooks import STARTS, Assistant, HookEvent, knows_something
from retrieval.http.write_service import WriteService

logger = logging.getLogger(__name__)

ASSISTANTS: tuple[Assistant, ...] = get_args(Assistant)
PATHS = tuple(f"/v1/hooks/{each}" for each in ASSISTANTS)
MAX_BODY_BYTES = 4 * 1024 * 1024
_PUSH_WITHIN_S = 0.5
_AROUND_S = 0.5  # for the checks before the route
_TURNS_A_PUSH = 1000

Ask = Callable[[Principal, JsonObject], Awaitable[Prompt]]


class FailOpen:
    """Answers a hook with an empty answer where the memory is late, overloaded or broken. Refusals pass.

    It stands before every other part of the service, so that the time of none of them counts for a prompt.
    """

    def __init__(self, app: ASGIApp, within_s: float) -> None:
        self._app = app
        self._within_s = within_s

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] not in PATHS:
            await self._app(scope, receive, send)
            return
        passed = False

        async def answer(message: Message) -> None:
            nonlocal passed
            if message["type"] == "http.response.start":
                passed = not _is_failure(message["status"])
            if passed:
                await send(message)

        try:
            async with asyncio.timeout(self._within_s):
                await self._app(scope, receive, answer)
        except Exception:
            logger.warning("a hook got an empty answer", exc_info=True)
        if not passed:
            headers = [(b"content-type", b"application/json"), *security_headers(scope["path"])]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": b"{}"})


def longest_wait_s(settings: Settings) -> float:
    """Returns the longest time that a hook waits for its answer."""
    return settings.hook_deadline_ms / 1000 + _push_within_s(settings) + _AROUND_S


def _push_within_s(settings: Settings) -> float:
    """Returns the longest time for the turns of a hook. Who lets a prompt wait for longer has a slower machine."""
    return max(_PUSH_WITHIN_S, settings.hook_deadline_ms / 2000)


def hooks_router(settings: Settings, ask: Ask, write: WriteService) -> APIRouter:
    """Returns the routes of hooks. ``ask`` answers with a prompt, as /v1/context does."""
    router = routes_of("hooks")
    push_within_s = _push_within_s(settings)

    async def context(caller: Principal, event: HookEvent, asked: JsonObject) -> str:
        starts = {"paths": [""]} if event.hook_event_name == STARTS else {}
        try:
            async with asyncio.timeout(settings.hook_deadline_ms / 1000):
                prompt = await ask(
                    caller, {**asked, **starts, "query": event.question, "token_budget": settings.hook_tokens}
                )
        except (TimeoutError, ProblemError) as error:
            _log_or_raise("context", error, asked)
            return ""
        return prompt.text if knows_something(block.name for block in prompt.blocks) else ""

    async def push(request: Request, turns: list[dict[str, str]], asked: JsonObject) -> None:
        try:
            async with asyncio.timeout(push_within_s):
                for first in range(0, len(turns), _TURNS_A_PUSH):
                    page = turns[first : first + _TURNS_A_PUSH]
                    await write.send(request, "POST", "/v1/turns", page, within_s=push_within_s)
        except (TimeoutError, ProblemError) as error:
            _log_or_raise(counted(len(turns), "turn"), error, asked)

    def add(assistant: Assistant, path: str) -> None:
        @router.post(
            path,
            summary=f"Answer an event of a hook of {assistant}, and keep its turns",
            operation_id=f"hook_{assistant.replace('-', '_')}",
        )
        async def hook(
            event: HookEvent,
            request: Request,
            caller: Reader,
            user_id: Annotated[str, Query(min_length=1, description="whose memory it is")],
            project_id: Annotated[
                list[Annotated[str, Field(min_length=1)]],
                Query(min_length=1, description="projects of questions; the first one is that of turns"),
            ] = ["default"],  # noqa: B006 - never changed
            timezone: Annotated[str | None, Query(description="IANA zone of the user")] = None,
        ) -> HookAnswer:
            owner_of(caller, user_id)
            asked = {
                "user_id": user_id,
                "project_id": project_id,
                "session_id": event.session_id or None,
                "timezone": timezone,
            }
            # The prompt is pushed after the question, because a recall also finds the turns of the last moment.
            text = await context(caller, event, asked) if event.question else ""
            turns = event.turns(assistant, user_id=user_id, project_id=project_id[0], timezone=timezone)
            if turns and (caller.may("push") or not event.question):
                require(caller, "push")
                await push(request, turns, asked)
            if not text:
                return HookAnswer()
            return HookAnswer(
                hookSpecificOutput=HookOutput(hookEventName=event.hook_event_name, additionalContext=text)
            )

    for assistant, path in zip(ASSISTANTS, PATHS, strict=True):
        add(assistant, path)
    return router


def _is_failure(status: int) -> bool:
    return status >= 500 or status == 429


def _log_or_raise(what: str, error: TimeoutError | ProblemError, asked: JsonObject) -> None:
    """Logs a failure of the memory. Raises a problem of the request itself."""
    if isinstance(error, ProblemError) and not _is_failure(error.status):
        raise error
    reason = in_a_line(str(error)) or f"no answer in time ({type(error).__name__})"
    user, session = (in_a_line(str(asked[name]), 100) for name in ("user_id", "session_id"))
    logger.warning("a hook of user %s in session %s goes on without %s: %s", user, session, what, reason)
