"""The extractor that asks a language model and keeps only the cards that the turns bear out."""

import logging
from collections.abc import Iterable
from dataclasses import replace
from html import escape

from events.platform.settings import Settings
from events.types.cards import StateAsserted
from events.types.extraction import Usage
from ingest.extraction.claude import prompt
from ingest.extraction.claude.cards import ground_cards, substantive
from ingest.extraction.claude.model_client import ModelClient, Reply
from ingest.extraction.claude.model_server import speaks_chat
from ingest.extraction.claude.schema import Answer, answer_of
from ingest.extraction.extractor_port import (
    CardEvent,
    CardLink,
    Extraction,
    ExtractorUnavailableError,
    SessionBatch,
    TurnsUnreadableError,
)
from ingest.extraction.known_cards import identity_of
from ingest.extraction.token_budget import about_tokens

logger = logging.getLogger(__name__)

_COMPLAINT = (
    "\nAn earlier answer cannot be used: {fault}. Call {tool} once, with every card and without these faults."
)
_ANSWERED_A_TURN = 40  # Output tokens, measured on conversations with about one card a turn.


class ClaudeExtractor:
    """Extracts cards with a model behind the server of the settings. A batch of small talk costs no call. Thread-safe.

    Every card quotes words of a turn. :mod:`events.language.timex` computes every time from the turn's own clock.
    When an answer is unusable, the extractor asks once more and names the faults. Raises
    :class:`ExtractorUnavailableError` when there is no answer, and :class:`TurnsUnreadableError` when the second answer
    is unusable too.
    """

    name = "claude"

    def __init__(self, settings: Settings, client: ModelClient | None = None) -> None:
        self._client = client or create_client(settings)
        self._max_tokens = settings.extract_max_tokens
        self.model: str | None = self._client.model
        self.prompt_version = prompt.version()

    def extract(self, batch: SessionBatch) -> Extraction:
        if not any(substantive(recorded.turn) for recorded in batch.turns):
            return Extraction()
        answer, usage = self._answer(batch)
        found = ground_cards(answer, batch)
        if found.reasons or answer.faults:
            logger.info(
                "cards are refused: %s",
                "; ".join((*found.reasons, *answer.faults)),
                extra={"turn_id": batch.turns[0].turn.turn_id},
            )
        return replace(
            found,
            usage=usage,
            links=_links(found, batch),
            modes=_modes(answer, batch),
            modes_version=prompt.modes_version() if batch.modes else None,
        )

    def estimate(self, batches: Iterable[SessionBatch]) -> Usage:
        """Returns the estimated cost of extracting ``batches``.

        The server caches the stable part of the prompt, unless it is too short for the model.
        """
        calls = fresh = answered = 0
        for batch in batches:
            if any(substantive(recorded.turn) for recorded in batch.turns):
                calls += 1
                fresh += about_tokens(prompt.question(batch))
                answered += _ANSWERED_A_TURN * len(batch.turns)
        if not calls:
            return Usage()
        stable = self.stable_tokens()
        if not self._client.caches(stable):
            return self._client.priced(
                fresh=fresh + stable * calls, answered=answered, written=0, read=0, calls=calls
            )
        read = stable * (calls - 1)
        return self._client.priced(fresh=fresh, answered=answered, written=stable, read=read, calls=calls)

    def stable_tokens(self) -> int:
        """Returns the estimated tokens of the part of the prompt that never changes."""
        return about_tokens(prompt.system()) + about_tokens(str(prompt.tool()))

    def uncached(self) -> str | None:
        """Returns why the server of the model keeps no part of the prompt in its cache; None when nothing is known."""
        stable = self.stable_tokens()
        if self._client.caches(stable):
            return None
        return (
            f"{self.model} caches no prompt below {self._client.least_to_cache:,} tokens, and the constant part has "
            f"about {stable:,}, so each call pays for it in full"
        )

    def close(self) -> None:
        self._client.close()

    def _answer(self, batch: SessionBatch) -> tuple[Answer, Usage]:
        question, most = prompt.question(batch), self._max_tokens
        stable = prompt.asking(with_modes=bool(batch.modes))
        reply = self._client.ask(stable, question, most)
        answer, fault = _read(reply)
        if fault is None:
            return answer, reply.usage
        if reply.stop_reason == "refusal":
            # A model that refuses once refuses again.
            raise TurnsUnreadableError(fault, usage=reply.usage)
        logger.info("the model is asked again because its answer cannot be used: %s", fault)
        if reply.stop_reason == "max_tokens":
            most *= 2
        else:
            question += _COMPLAINT.format(fault=escape(fault, quote=False), tool=prompt.TOOL)
        try:
            retried = self._client.ask(stable, question, most)
        except ExtractorUnavailableError as error:
            error.usage = reply.usage + error.usage
            raise
        usage = reply.usage + retried.usage
        second, second_fault = _read(retried)
        if second_fault is None:
            return second, usage
        # The valid cards of a partly invalid answer are kept. The others count as refused.
        for each, stop in ((second, retried.stop_reason), (answer, reply.stop_reason)):
            if (
                each.usable
                and stop != "max_tokens"
                and (each.states or each.events or each.knowledge or each.problems)
            ):
                return each, usage
        raise TurnsUnreadableError(second_fault, usage=usage, attempts=2)


def create_client(settings: Settings) -> ModelClient:
    """Returns the client of the server that the settings name."""
    if speaks_chat(settings):
        from ingest.extraction.claude.chat_client import ChatClient  # noqa: PLC0415 - its twin needs the SDK

        return ChatClient(settings)
    from ingest.extraction.claude.messages_client import MessagesClient  # noqa: PLC0415 - the SDK takes a second

    return MessagesClient(settings)


def _links(found: Extraction, batch: SessionBatch) -> tuple[CardLink, ...]:
    """Returns the relations to known facts. The same value of the same fact needs none: the fold makes it one card."""
    identities = {fact.event_id: fact.identity for fact in batch.known.facts}
    return tuple(
        link for link in found.links if _identity(found.cards[link.card]) != identities.get(link.to_card)
    )


def _modes(answer: Answer, batch: SessionBatch) -> tuple[tuple[str, str], ...]:
    """Returns the turns with the modes that the model read in them, as far as the turns and the modes exist."""
    return tuple(
        (batch.turns[number - 1].turn.turn_id, mode)
        for number, mode in answer.modes
        if 1 <= number <= len(batch.turns) and mode in batch.modes.names
    )


def _identity(card: CardEvent) -> tuple[str, str, str] | None:
    return identity_of(card) if isinstance(card, StateAsserted) else None


def _read(reply: Reply) -> tuple[Answer, str | None]:
    """Returns the answer in ``reply`` and its fault, or None when the answer has no fault."""
    if reply.stop_reason == "refusal":
        return Answer(usable=False), "the model refuses to read these turns"
    answer = answer_of(reply.answer)
    if reply.stop_reason == "max_tokens":
        return answer, "the answer was cut off at the most tokens allowed (CARDLOG_EXTRACT_MAX_TOKENS)"
    if not reply.called and not answer.usable:
        return answer, "the answer is prose and calls no tool" if reply.prose else "the answer is empty"
    return answer, "; ".join(answer.faults) or None
