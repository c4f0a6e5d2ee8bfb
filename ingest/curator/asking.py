"""Asks a model about the pairs of cards that the words do not decide. Its answers only add relations of these pairs."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING
from uuid import UUID

import psycopg

from events.people.person import Person
from events.platform.database import Connection, statement, tuples_of
from events.platform.settings import Settings
from events.types.extraction import Usage
from events.types.people import PersonMergeProposed
from events.types.relations import Predicate
from ingest.curator.memory import MemoryCard
from ingest.curator.passes.undecided import MODEL_CONFIDENCE, Pair, PersonPair
from ingest.curator.proposals import Proposal, person_merge, relation
from ingest.extraction.choosing import uses_model
from ingest.extraction.circuit_breaker import CircuitBreaker
from ingest.extraction.extractor_port import ExtractorUnavailableError
from ingest.extraction.token_budget import TokenBudget, about_tokens

if TYPE_CHECKING:
    from ingest.extraction.claude.model_client import ModelClient, Reply

logger = logging.getLogger(__name__)

AnyPair = Pair | PersonPair

PREDICATES: tuple[Predicate, ...] = (
    "same_as", "expands", "qualifies", "contradicts", "update", "state_change",
)  # fmt: skip
"""What a model may say of two cards. Only the user retracts what the user said."""
SAME_PERSON = "same_person"
"""What a model may say of two people."""
_PACKAGE = "ingest.curator"
_TOOL = "relate_cards"
_LONGEST_REASON = 200
TOKENS, TOKENS_A_PAIR = 200, 100  # of an answer
_ITEMS_A_PAIR = 4  # of an answer are looked at, good ones and rubbish
_SCHEMA = {
    "type": "object",
    "additionalProperties": False,
    "required": ["relations"],
    "properties": {
        "relations": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": ["a", "b", "predicate", "reason"],
                "properties": {
                    "a": {
                        "type": "string",
                        "description": "the id of the later card, or of the first person",
                    },
                    "b": {
                        "type": "string",
                        "description": "the id of the earlier card, or of the second person",
                    },
                    "predicate": {"type": "string", "enum": [*PREDICATES, SAME_PERSON]},
                    "reason": {"type": "string"},
                },
            },
        }
    },
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a model was asked and what it answered. ``refused`` are the reasons why parts of the answer are left out."""

    pairs: tuple[AnyPair, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    refused: tuple[str, ...] = ()
    model: str | None = None
    usage: Usage = field(default_factory=Usage)

    @property
    def entries(self) -> tuple[str, ...]:
        """What a run keeps of the pairs."""
        return tuple(pair.entry for pair in self.pairs)


@cache
def text() -> str:
    """Returns the stable part of the prompt."""
    return files(_PACKAGE).joinpath("prompt.xml").read_text("utf-8")


@cache
def version() -> str:
    """Returns ``curator-<hash>``. It changes with every byte of the prompt and of the schema."""
    return f"curator-{sha256(f'{text()}{json.dumps(_SCHEMA)}'.encode()).hexdigest()[:8]}"


def question(pairs: Sequence[AnyPair]) -> str:
    """Returns the changing part of the prompt, all as data. Every text is escaped, so no words close an element."""
    labels = _labels(pairs)
    shown = {id_: _element(each, labels[id_]) for pair in pairs for id_, each in _parts(pair)}
    lines = [shown[each] for each in labels]
    asked = [_asked(pair, *(labels[each] for each in pair.ends)) for pair in pairs]
    return "\n".join(("<cards>", *lines, "</cards>", "<pairs>", *asked, "</pairs>"))


def _parts(pair: AnyPair) -> tuple[tuple[UUID, MemoryCard | Person], ...]:
    """Returns the two of a pair with their ids, the earlier card or the first person first."""
    parts = (pair.earlier, pair.later) if isinstance(pair, Pair) else (pair.one, pair.other)
    return tuple((each.card_id if isinstance(each, MemoryCard) else each.person_id, each) for each in parts)


def _element(part: MemoryCard | Person, label: str) -> str:
    if isinstance(part, MemoryCard):
        said = f'said="{part.said_at.date()}" about="{escape(part.entity or "")}"'
        return f'<card id="{label}" {said}>{escape(part.content, quote=False)}</card>'
    names = " / ".join((part.name, *part.aliases))[:_LONGEST_REASON]
    return f'<person id="{label}" names="{escape(names)}" ties="{escape(" ".join(part.kinship))}"/>'


def _asked(pair: AnyPair, one: str, other: str) -> str:
    if isinstance(pair, Pair):
        return f'<pair a="{one}" b="{other}"/>'
    evidence = escape("; ".join(pair.evidence)[: 2 * _LONGEST_REASON], quote=False)
    return f'<pair a="{one}" b="{other}">{evidence}</pair>'


def judged(answer: object, pairs: Sequence[AnyPair]) -> tuple[list[Proposal], list[str]]:
    """Returns the relations and merges in an answer, at most one of each pair, and why the rest of it is refused."""
    listed = answer.get("relations") if isinstance(answer, dict) else None
    if not isinstance(listed, list):
        return [], ["the answer holds no list of relations"]
    labels = _labels(pairs)
    open_pairs = {(labels[each.ends[0]], labels[each.ends[1]]): each for each in pairs}
    found: list[Proposal] = []
    most = _ITEMS_A_PAIR * len(pairs)
    refused = [f"{len(listed) - most} relations too many"] if len(listed) > most else []
    for item in listed[:most]:
        said = item if isinstance(item, dict) else {}
        ends, reason = (str(said.get("a")), str(said.get("b"))), said.get("reason")
        pair = open_pairs.get(ends)
        if pair is None:
            refused.append("the two are no pair of the question, or were answered already")
        elif not isinstance(reason, str) or not _one_line(reason):
            refused.append("the reason is no text")
        elif (proposal := _proposal(pair, said.get("predicate"), _one_line(reason))) is None:
            refused.append("the predicate is none of the list")
        else:
            del open_pairs[ends]
            found.append(proposal)
    return found, refused


def _proposal(pair: AnyPair, predicate: object, reason: str) -> Proposal | None:
    """Returns what an answer about a pair adds, or None for a predicate that the pair cannot have."""
    if isinstance(pair, PersonPair):
        one, other = pair.ends
        if predicate != SAME_PERSON:
            return None
        merge = PersonMergeProposed(
            person_id=one,
            into_id=other,
            reason=reason,
            digest=pair.digest,
            confidence=MODEL_CONFIDENCE,
            evidence=pair.evidence,
        )
        return person_merge(merge, "model")
    known = next((each for each in PREDICATES if each == predicate), None)
    if known is None:
        return None
    return relation(pair.later, pair.earlier, known, reason, MODEL_CONFIDENCE)


class Asker:
    """Asks the model of the settings within the budget of each user. The caller holds no transaction.

    A server that fails is left alone for a while, and the curator goes on without it. Use it in one thread.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._budget = TokenBudget(settings.curator_tokens_per_user_day, ("CuratorRan",))
        self._breaker = CircuitBreaker(settings.breaker_failures)
        self._client: ModelClient | None = None

    @contextmanager
    def alone(self, connection: Connection, owner: str) -> Iterator[bool]:
        """Yields True while no other process asks about this user. Two askers together could exceed the budget."""
        names = {"user_id": owner}
        [(alone,)] = tuples_of(connection, statement(_PACKAGE, "ask_alone"), names)
        try:
            yield alone
        finally:
            if alone:
                with suppress(psycopg.OperationalError):  # a lost connection holds no lock
                    connection.execute(statement(_PACKAGE, "asked_alone"), names)

    def affords(self, connection: Connection, owner: str, pairs: Sequence[AnyPair]) -> bool:
        """True when the budget of the user covers the question and the longest answer."""
        self._budget.forget()  # another process may have asked meanwhile
        size = about_tokens(f"{text()}{json.dumps(_SCHEMA)}{question(pairs)}")
        return bool(pairs) and self._budget.left(connection, owner) >= size + self._most_tokens(pairs)

    def ask(self, owner: str, pairs: Sequence[AnyPair]) -> Asked:
        """Returns the answer about ``pairs``. Without an answer the pairs are not among it, but the cost is."""
        now, model = time.monotonic(), self._settings.model
        if not self._breaker.allows_call(now):
            return Asked()
        try:
            reply = self._reply(pairs)
        except ExtractorUnavailableError as error:
            self._breaker.record_failure(time.monotonic(), str(error), error.retry_after, owner)
            logger.warning("the curator goes on without the model: %s", error)
            return Asked(model=model, usage=error.usage)
        self._breaker.record_success(time.monotonic(), owner)
        found, refused = judged(reply.answer, pairs)
        if refused:
            logger.info("relations are refused: %s", "; ".join(refused))
        return Asked(
            pairs=tuple(pairs), proposals=tuple(found), refused=tuple(refused), model=model, usage=reply.usage
        )

    def close(self) -> None:
        """Closes the connections."""
        if self._client is not None:
            self._client.close()

    def _reply(self, pairs: Sequence[AnyPair]) -> Reply:
        # The SDK takes a second to load, and most runs ask nothing.
        from ingest.extraction.claude.extractor import create_client  # noqa: PLC0415
        from ingest.extraction.claude.model_client import Prompt  # noqa: PLC0415

        self._client = self._client or create_client(self._settings)
        tool = {"name": _TOOL, "description": "Write down the relations.", "input_schema": _SCHEMA}
        return self._client.ask(Prompt(text(), tool), question(pairs), self._most_tokens(pairs))

    def _most_tokens(self, pairs: Sequence[AnyPair]) -> int:
        most = self._settings.extract_max_tokens
        return most if self._settings.thinking else min(most, TOKENS + TOKENS_A_PAIR * len(pairs))


def create_asker(settings: Settings) -> Asker | None:
    """Returns the asker, or None when the settings name no model or give it no tokens."""
    return Asker(settings) if settings.curator_tokens_per_user_day > 0 and uses_model(settings) else None


def _labels(pairs: Sequence[AnyPair]) -> dict[UUID, str]:
    """Returns the labels of the cards and the people in a question, in the order of the pairs."""
    parts = {id_: part for pair in pairs for id_, part in _parts(pair)}
    kinds = ["c" if isinstance(part, MemoryCard) else "p" for part in parts.values()]
    return {id_: f"{kind}{number}" for number, (id_, kind) in enumerate(zip(parts, kinds, strict=True), 1)}


def _one_line(reason: str) -> str:
    """Returns the beginning of a reason as one line without control characters and halves of characters."""
    short = " ".join(reason[: 4 * _LONGEST_REASON].split())[:_LONGEST_REASON]
    return "".join(each for each in short if each.isprintable())
