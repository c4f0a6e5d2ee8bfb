"""The extractor that asks a language model, and believes only what the turns bear out."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

import orjson

from events.platform.settings import Settings
from events.types.extraction import Usage
from ingest.extraction.claude import prompt
from ingest.extraction.claude.cards import ground_cards, substantive
from ingest.extraction.claude.client import MessagesClient, Reply
from ingest.extraction.claude.schema import Answer, answer_of
from ingest.extraction.extractor_port import (
    Extraction,
    ExtractorUnavailableError,
    SessionBatch,
    TurnsUnreadableError,
)

logger = logging.getLogger(__name__)

_MOST_REPEATED = 100_000  # bytes of an answer that the model is shown again
_ANSWERED_A_TURN = 80  # tokens, on conversations with about one card a turn


class ClaudeExtractor:
    """Cards by a model behind the Messages API; a batch without substance costs no call.

    Every card quotes words of a turn, every time in it was reckoned by :mod:`events.language.timex` from the turn's
    own clock.
    An answer that cannot be used is asked for once more, with what was wrong. Raises
    :class:`ExtractorUnavailableError` where there was no answer and :class:`TurnsUnreadableError` where there was
    none that could be used twice. Safe to use from any number of threads.
    """

    name = "claude"

    def __init__(self, settings: Settings, client: MessagesClient | None = None) -> None:
        self._client = client or MessagesClient(settings)
        self._max_tokens = settings.extract_max_tokens
        self.model: str | None = self._client.model
        self.prompt_version = prompt.version()

    def extract(self, batch: SessionBatch) -> Extraction:
        if not any(substantive(said.turn) for said in batch.turns):
            return Extraction()
        answer, usage = self._answer(batch)
        found = ground_cards(answer, batch)
        return Extraction(found.cards, usage, found.refused)

    def estimate(self, batches: Iterable[SessionBatch]) -> Usage:
        """About what reading ``batches`` would cost, the stable part of the prompt kept by the server."""
        calls = fresh = answered = 0
        for batch in batches:
            if any(substantive(said.turn) for said in batch.turns):
                calls += 1
                fresh += prompt.about_tokens(prompt.question(batch))
                answered += _ANSWERED_A_TURN * len(batch.turns)
        if not calls:
            return Usage()
        stable = prompt.about_tokens(prompt.system()) + prompt.about_tokens(str(prompt.tool()))
        read = stable * (calls - 1)
        return self._client.priced(fresh=fresh, answered=answered, written=stable, read=read, calls=calls)

    def close(self) -> None:
        """Give the connections back."""
        self._client.close()

    def _answer(self, batch: SessionBatch) -> tuple[Answer, Usage]:
        messages: list[dict[str, Any]] = [{"role": "user", "content": prompt.question(batch)}]
        reply = self._client.ask(messages, self._max_tokens)
        answer, fault = _read(reply)
        if fault is None:
            return answer, reply.usage
        if reply.stop_reason == "refusal":
            # What a model refuses once it refuses again.
            raise TurnsUnreadableError(fault, usage=reply.usage)
        logger.info("an answer cannot be used and is asked for again: %s", fault)
        longer = self._max_tokens * (2 if reply.stop_reason == "max_tokens" else 1)
        try:
            mended = self._client.ask([*messages, *_complaint(reply, fault)], longer)
        except ExtractorUnavailableError as error:
            error.usage = reply.usage + error.usage
            raise
        usage = reply.usage + mended.usage
        second, still = _read(mended)
        if still is None:
            return second, usage
        # What is right in an answer that is partly wrong is worth having; the rest counts as refused.
        for each, stop in ((second, mended.stop_reason), (answer, reply.stop_reason)):
            if each.usable and stop != "max_tokens" and (each.states or each.events or each.knowledge):
                return each, usage
        raise TurnsUnreadableError(still, usage=usage, attempts=2)


def _read(reply: Reply) -> tuple[Answer, str | None]:
    """The answer in ``reply``, and what must be mended in it."""
    if reply.stop_reason == "refusal":
        return Answer(usable=False), "the model refuses to read these turns"
    answer = answer_of(reply.tool_input if reply.tool_use_id is not None else _object_in(reply.prose))
    if reply.stop_reason == "max_tokens":
        return answer, "the answer was cut off at the most tokens allowed (CARDLOG_EXTRACT_MAX_TOKENS)"
    if reply.tool_use_id is None and not answer.usable:
        return answer, "the answer is prose and calls no tool" if reply.prose else "the answer is empty"
    return answer, "; ".join(answer.faults) or None


def _object_in(prose: str) -> object:
    """The JSON object that prose holds: servers without tools let their models write it out."""
    start, end = prose.find("{"), prose.rfind("}")
    if start < 0 or end < start:
        return None
    try:
        found: object = orjson.loads(prose[start : end + 1])
    except ValueError:
        return None
    return found


def _complaint(reply: Reply, fault: str) -> list[dict[str, Any]]:
    """What is said to a model whose answer cannot be used; nothing where it is best asked the same again."""
    if reply.stop_reason == "max_tokens":
        return []
    wanted = f"That cannot be used: {fault}. Call {prompt.TOOL} again, once, with every card and without these faults."
    said = [block for block in reply.content if _may_be_repeated(block)]
    if not said or not _short_enough(said):
        return [{"role": "user", "content": wanted}]
    results = [
        {"type": "tool_result", "tool_use_id": block["id"], "is_error": True, "content": wanted}
        for block in said
        if block["type"] == "tool_use"
    ]
    return [{"role": "assistant", "content": said}, {"role": "user", "content": results or wanted}]


def _short_enough(said: list[dict[str, Any]]) -> bool:
    """Whether an answer is worth sending back: not a huge one, and not one nested so deep that nobody can write it."""
    try:
        return len(orjson.dumps(said)) <= _MOST_REPEATED
    except TypeError:
        return False


def _may_be_repeated(block: dict[str, Any]) -> bool:
    """Whether a server takes its own block back: not empty text, and not a call whose input is no object."""
    if block.get("type") == "tool_use":
        return isinstance(block.get("input"), dict) and isinstance(block.get("id"), str)
    return block.get("type") != "text" or bool(str(block.get("text") or "").strip())
