"""The pairs of cards and of people that are alike, and what a model says of them. Its answers only add relations."""

from __future__ import annotations

import json
import logging
import time
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from html import escape
from importlib.resources import files
from typing import TYPE_CHECKING
from uuid import UUID

import psycopg

from events.curator import asked_entry
from events.language.terms import analyse
from events.people.person import Person
from events.platform.database import Connection, statement, tuples_of
from events.platform.settings import Settings
from events.types.extraction import Usage
from events.types.people import PersonMergeProposed
from events.types.relations import CardsConnected, Predicate
from ingest.curator.connect import is_open, speaking
from ingest.curator.memory import (
    Memory,
    MemoryCard,
    Proposal,
    digest_of,
    merge_digest,
    person_merge,
    relation,
)
from ingest.extraction.choosing import uses_model
from ingest.extraction.circuit_breaker import CircuitBreaker
from ingest.extraction.extractor_port import ExtractorUnavailableError
from ingest.extraction.token_budget import TokenBudget, about_tokens

MOST_PAIRS = 24
"""The most pairs of one run, the most alike first."""
MOST_PEOPLE = 8
"""The most pairs of people of one run."""
MODEL_CONFIDENCE = 0.8
"""The confidence of what a model says. It is below the threshold of a merge of people."""
_NEAREST = 16  # earlier cards with a word in common that are looked at, for each word
_ALIKE = 0.2  # the least share of common terms
_LONGEST = 400  # characters of a card that a model sees


@dataclass(frozen=True, slots=True)
class Pair:
    """A later and an earlier card of one project and mode, or two people who may be one by weak ``evidence``.

    The ``digest`` of two cards is that of their words in either order: new ids of the same words give the same one.
    ``alike`` is the share of the common terms of two cards, 0 to 1.
    """

    one: MemoryCard | Person
    other: MemoryCard | Person
    digest: str
    evidence: tuple[str, ...] = ()
    alike: float = 0.0

    @property
    def ends(self) -> tuple[UUID, UUID]:
        return _id(self.one), _id(self.other)

    @property
    def entry(self) -> str:
        """What a run keeps of the pair."""
        return asked_entry(*self.ends, self.digest)


def _id(part: MemoryCard | Person) -> UUID:
    return part.card_id if isinstance(part, MemoryCard) else part.person_id


def unsure_people(memory: Memory) -> list[Pair]:
    """Returns at most :data:`MOST_PEOPLE` pairs of people that a model was not asked about, the most probable first."""
    weak = [
        Pair(
            memory.people.of_id[each.person_id],
            memory.people.of_id[each.into_id],
            merge_digest(memory, each.person_id, each.into_id),
            each.evidence,
        )
        for each in memory.people.proposals
        if each.score < MODEL_CONFIDENCE
    ]
    return [each for each in weak if each.digest not in memory.asked | memory.tombstones][:MOST_PEOPLE]


def undecided(memory: Memory, proposals: Iterable[Proposal]) -> list[Pair]:
    """Returns at most :data:`MOST_PAIRS` pairs that neither ``proposals`` nor a relation nor an answer decides.

    Cards that name one of two people of one name are in no pair. The order is fixed.
    """
    decided = {frozenset(each.evidence) for each in proposals if isinstance(each.payload, CardsConnected)}
    found: list[Pair] = []
    near: dict[tuple[str, str, str], deque[tuple[MemoryCard, frozenset[str]]]]
    near = defaultdict(lambda: deque(maxlen=_NEAREST))
    for card in _told_once(memory):
        terms = frozenset(analyse(card.content))
        before = {one.card_id: (one, others) for term in terms for one, others in near[*card.wall, term]}
        for one, others in before.values():
            alike = len(terms & others) / len(terms | others)
            if alike < _ALIKE or frozenset((one.card_id, card.card_id)) in decided:
                continue
            if one.content.casefold() == card.content.casefold():
                continue  # the same words need no model
            if one.speaker == card.speaker and is_open(memory, one, card) and not memory.ordered(one, card):
                words = sorted((card.content, one.content))
                found.append(Pair(card, one, digest_of("asked", *words), alike=alike))
        for term in terms:
            near[*card.wall, term].append((card, terms))
    places = {card.card_id: card.position for card in memory.cards}
    found.sort(key=lambda each: (-each.alike, places[each.ends[0]], each.entry))
    unique = {each.digest: each for each in reversed(found) if each.digest not in memory.asked}
    return [each for each in found if unique.get(each.digest) is each][:MOST_PAIRS]


def _told_once(memory: Memory) -> Iterable[MemoryCard]:
    """Yields the cards that are compared. Of a card and its own turn, only the card."""
    told: set[str] = set()
    for card in speaking(memory):
        words = card.content.casefold()
        if len(words) > _LONGEST or any(name in words for name in memory.people.shared):
            continue
        if not (card.episode and told.issuperset(card.turn_ids)):
            told.update(card.turn_ids)
            yield card


if TYPE_CHECKING:
    from ingest.extraction.claude.model_client import ModelClient, Reply

logger = logging.getLogger(__name__)

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

    pairs: tuple[Pair, ...] = ()
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


def question(pairs: Sequence[Pair]) -> str:
    """Returns the changing part of the prompt, all as data. Every text is escaped, so no words close an element."""
    labels = _labels(pairs)
    parts = {_id(part): part for pair in pairs for part in (pair.one, pair.other)}
    lines = [_element(parts[id_], label) for id_, label in labels.items()]
    asked = []
    for pair in pairs:
        a, b = (labels[each] for each in pair.ends)
        evidence = escape("; ".join(pair.evidence)[: 2 * _LONGEST_REASON], quote=False)
        asked.append(f'<pair a="{a}" b="{b}">{evidence}</pair>')
    return "\n".join(("<cards>", *lines, "</cards>", "<pairs>", *asked, "</pairs>"))


def _element(part: MemoryCard | Person, label: str) -> str:
    if isinstance(part, MemoryCard):
        said = f'said="{part.said_at.date()}" about="{escape(part.entity or "")}"'
        return f'<card id="{label}" {said}>{escape(part.content, quote=False)}</card>'
    names = " / ".join((part.name, *part.aliases))[:_LONGEST_REASON]
    return f'<person id="{label}" names="{escape(names)}" ties="{escape(" ".join(part.kinship))}"/>'


def judged(answer: object, pairs: Sequence[Pair]) -> tuple[list[Proposal], list[str]]:
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


def _proposal(pair: Pair, predicate: object, reason: str) -> Proposal | None:
    """Returns what an answer about a pair adds, or None for a predicate that the pair cannot have."""
    if isinstance(pair.one, MemoryCard) and isinstance(pair.other, MemoryCard):
        known = next((each for each in PREDICATES if each == predicate), None)
        return None if known is None else relation(pair.one, pair.other, known, reason, MODEL_CONFIDENCE)
    if predicate != SAME_PERSON:
        return None
    one, other = pair.ends
    merge = PersonMergeProposed(
        person_id=one,
        into_id=other,
        reason=reason,
        digest=pair.digest,
        confidence=MODEL_CONFIDENCE,
        evidence=pair.evidence,
    )
    return person_merge(merge, "model")


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

    def affords(self, connection: Connection, owner: str, pairs: Sequence[Pair]) -> bool:
        """True when the budget of the user covers the question and the longest answer."""
        self._budget.forget()  # another process may have asked meanwhile
        size = about_tokens(f"{text()}{json.dumps(_SCHEMA)}{question(pairs)}")
        return bool(pairs) and self._budget.left(connection, owner) >= size + self._most_tokens(pairs)

    def ask(self, owner: str, pairs: Sequence[Pair]) -> Asked:
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
        if self._client is not None:
            self._client.close()

    def _reply(self, pairs: Sequence[Pair]) -> Reply:
        # The SDK takes a second to load, and most runs ask nothing.
        from ingest.extraction.claude.extractor import create_client  # noqa: PLC0415
        from ingest.extraction.claude.model_client import Prompt  # noqa: PLC0415

        self._client = self._client or create_client(self._settings)
        tool = {"name": _TOOL, "description": "Write down the relations.", "input_schema": _SCHEMA}
        return self._client.ask(Prompt(text(), tool), question(pairs), self._most_tokens(pairs))

    def _most_tokens(self, pairs: Sequence[Pair]) -> int:
        most = self._settings.extract_max_tokens
        return most if self._settings.thinking else min(most, TOKENS + TOKENS_A_PAIR * len(pairs))


def create_asker(settings: Settings) -> Asker | None:
    """Returns the asker, or None when the settings name no model or give it no tokens."""
    return Asker(settings) if settings.curator_tokens_per_user_day > 0 and uses_model(settings) else None


def _labels(pairs: Sequence[Pair]) -> dict[UUID, str]:
    """Returns the labels of cards and people in a question: the earlier card and the first person come first."""
    ids: dict[UUID, str] = {}
    for pair in pairs:
        of_cards = isinstance(pair.one, MemoryCard)
        for id_ in pair.ends[::-1] if of_cards else pair.ends:
            ids.setdefault(id_, f"{'c' if of_cards else 'p'}{len(ids) + 1}")
    return ids


def _one_line(reason: str) -> str:
    """Returns the beginning of a reason as one line without control characters and halves of characters."""
    short = " ".join(reason[: 4 * _LONGEST_REASON].split())[:_LONGEST_REASON]
    return "".join(each for each in short if each.isprintable())
