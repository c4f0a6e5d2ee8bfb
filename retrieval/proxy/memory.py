"""What the proxy asks the memory: the context of a question, and never a failure or a long wait."""

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from cachetools import TTLCache

from cardlog_client import AsyncClient, CardlogError, UnavailableError
from retrieval.hooks import MAX_QUESTION_BYTES, cut, knows_something
from retrieval.proxy.asker import HEADERS, NAMED, Asker
from retrieval.proxy.model_apis import Question

logger = logging.getLogger(__name__)

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
