"""Whose memory a request to the proxy is about, and what the proxy asks it: never a failure or a long wait."""

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from difflib import get_close_matches
from hashlib import sha256
from typing import Literal
from urllib.parse import unquote

from cachetools import TTLCache
from starlette.datastructures import Headers

from cardlog_client import AsyncClient, CardlogError, UnavailableError
from events.types.turn_contract import TurnInvalidError, text_of
from retrieval.hooks import MAX_QUESTION_BYTES, cut, knows_something, turn_of
from retrieval.proxy.model_apis import Question

logger = logging.getLogger(__name__)

NAMED = "x-cardlog-"
"""How the headers begin that are for the proxy alone."""
_FIELDS = {
    "user": "user_id",
    "project": "project_id",
    "session": "session_id",
    "mode": "mode",
    "timezone": "timezone",
}


_NAMES = (*_FIELDS, "key")
HEADERS = {field: NAMED + name for name, field in _FIELDS.items()}
"""The header that gives each field of a request to the memory."""


class NotAskedError(ValueError):
    """A request goes without a memory. The message gives the reason and the remedy."""


@dataclass(frozen=True, slots=True)
class Asker:
    """Whose memory a request is about. ``fields`` are those that its questions and its turns share."""

    fields: tuple[tuple[str, str], ...]
    key: str = field(repr=False)

    def turn(self, role: str, words: str, question: Question) -> dict[str, str] | None:
        """Returns the turn of words that are said now, or None when the turn contract refuses them. The log says why.

        A request that an app repeats on one day gives the same turn, because its id is that of the place and the words.
        """
        now = datetime.now(UTC)
        named = "\0".join(
            (*map(str, self.fields), str(now.date()), str(question.place), question.words, role, words)
        )
        made = {
            "role": role,
            "said_at": now.isoformat(timespec="milliseconds"),
            "turn_id": f"proxy-{sha256(named.encode()).hexdigest()[:32]}",
        }
        return turn_of(words, dict(self.fields) | made, source="a request to the proxy")


def asker_of(headers: Headers, own_key: str | None) -> Asker:
    """Returns whom the headers name. ``own_key`` is for requests without a key; None when each must have one.

    A value is UTF-8, in which ``%`` begins an encoded byte. Raises :class:`NotAskedError`.
    """
    for header in headers:
        if header.startswith(NAMED) and header.removeprefix(NAMED) not in _NAMES:
            near = get_close_matches(header, [NAMED + name for name in _NAMES], 1)
            hint = (
                f"did you mean {near[0]}?"
                if near
                else f"there are {', '.join(NAMED + name for name in _NAMES)}"
            )
            raise NotAskedError(f"{header} is no header of the proxy; {hint}")
    named = {}
    for name, called in _FIELDS.items():
        raw = headers.get(NAMED + name, "").encode("latin-1")
        try:
            if value := text_of(called, unquote(raw.decode(), errors="strict")):
                named[called] = value
        except (TurnInvalidError, UnicodeError):
            raise NotAskedError(f"{NAMED}{name} is no text in UTF-8; encode it as in a URL") from None
    if "user_id" not in named:
        raise NotAskedError(f"the request names no user; send {NAMED}user")
    key = headers.get(f"{NAMED}key", own_key)
    if key is None:
        raise NotAskedError(f"the request has no API key of Cardlog; send {NAMED}key")
    return Asker(tuple(named.items()), key)


Outcome = Literal["added", "empty", "late", "failed", "skipped"]
_FAILURES = 3
_REST_S = 10.0
_QUESTIONS = 1024
_QUESTION_S = 1800.0


@dataclass(frozen=True, slots=True)
class Context:
    """The context of a question, with the ids of its cards. ``reason`` says why there is none."""

    outcome: Outcome
    text: str = ""
    cards: Sequence[str] = ()
    reason: str = ""


class Memory:
    """Gives the context of questions within a deadline.

    After three late or failed answers in a row no question is asked for ten seconds, so that a dead memory costs the
    requests of apps nothing. While a model calls tools, its requests repeat the question of the user, and each gets the
    context of the first: the prompt cache then knows it.
    """

    def __init__(self, client: AsyncClient, *, deadline_s: float, tokens: int) -> None:
        self._client = client
        self._deadline_s = deadline_s
        self._tokens = tokens
        self._failures = 0
        self._rests_until = 0.0
        self._given: TTLCache[tuple[Asker, int, str], Context] = TTLCache(_QUESTIONS, _QUESTION_S)

    async def context(self, asker: Asker, question: Question) -> Context:
        """Returns the context. Never raises for a memory that is late, away or refuses."""
        named = (asker, question.place, question.words)
        given = None if question.fresh else self._given.get(named)
        if given is None:
            given = self._given[named] = await self._asked(asker, question.words)
        return given

    async def _asked(self, asker: Asker, words: str) -> Context:
        if time.monotonic() < self._rests_until:
            return Context("skipped", reason="the memory did not answer the last questions")
        try:
            found = await self._answer(asker, words)
        except TimeoutError:
            found = Context("late", reason=f"the memory took more than {self._deadline_s * 1000:.0f} ms")
        except UnavailableError as error:
            found = Context("failed", reason=str(error))
        except CardlogError as error:
            # The memory is well. The request or its key is wrong.
            reason = _in_headers(error)
            logger.warning("a request goes without context: %s", reason)
            return Context("failed", reason=reason)
        except Exception as error:  # whatever answers at the address, the request of the app goes on
            logger.exception("the memory gave no prompt")
            found = Context("failed", reason=f"the memory gave no prompt ({type(error).__name__})")
        if found.outcome in {"added", "empty"}:
            self._failures = 0
            return found
        self._failures += 1
        if self._failures >= _FAILURES:
            self._failures, self._rests_until = 0, time.monotonic() + _REST_S
            logger.error("the memory is not asked for %.0f s: %s", _REST_S, found.reason)
        return found

    async def _answer(self, asker: Asker, words: str) -> Context:
        client = self._client.with_key(asker.key)
        fields = dict(asker.fields)
        async with asyncio.timeout(self._deadline_s):
            prompt = await client.context(
                fields.pop("user_id"), cut(words, MAX_QUESTION_BYTES), token_budget=self._tokens, **fields
            )
        if not knows_something(block["name"] for block in prompt["blocks"]):
            return Context("empty")
        return Context("added", prompt["text"], [each["card_id"] for each in prompt["cards"]])


def _in_headers(error: CardlogError) -> str:
    """Returns the reason of a refusal. It names the header of the app's request that gave the field at fault."""
    if error.status == 401:
        return f"the API key of Cardlog is not valid; send another one in {NAMED}key (`cardlog keys create` makes one)"
    header = HEADERS.get(error.field or "")
    if header is None:
        return str(error)
    return f"{header}: {error.problem.get('reason') or str(error)}"
