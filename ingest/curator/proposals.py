"""What the curator may propose. Every proposal adds: no kind of proposal changes or removes anything.

A proposal says which events it appends, the key that appends them once, and the digest of what it says, by which an
undone proposal is not made again.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal
from uuid import UUID

from events.insights import insight
from events.types.codec import Payload
from events.types.insights import STREAM as INSIGHTS
from events.types.insights import InsightDerived, InsightKind
from events.types.people import PersonMergeProposed
from events.types.relations import CardsConnected, Predicate, relation_stream
from events.types.threads import STREAM as THREADS
from events.types.threads import CardsThreaded, ThreadOpened
from ingest.curator.memory import Memory


def digest_of(*words: str) -> str:
    """Returns a digest of words: SHA-256 in hexadecimal digits. Case and spaces change nothing."""
    plain = "\x1f".join(" ".join(each.casefold().split()) for each in words)
    return sha256(plain.encode()).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Proposal(ABC):
    """Something to add. ``reason`` is for a reader, ``confidence`` is 0 to 1."""

    reason: str
    confidence: float

    @property
    @abstractmethod
    def evidence(self) -> tuple[UUID, ...]:
        """The ids of the cards or people that the proposal rests on."""

    @abstractmethod
    def key(self, memory: Memory) -> str:
        """Returns the idempotency key, made of what the proposal names. The log takes a key of a user once."""

    @abstractmethod
    def digest(self, memory: Memory) -> str:
        """Returns the digest of the words of the proposal. New ids of the same words give the same digest."""

    @abstractmethod
    def payloads(self, memory: Memory, event_id: UUID) -> list[tuple[str, Payload]]:
        """Returns the events to append with their streams. ``event_id`` will be the id of the first."""


Pass = Callable[[Memory], list[Proposal]]
"""A pass of the curator. It is pure: the same memory gives the same proposals in the same order."""


@dataclass(frozen=True, kw_only=True)
class Connect(Proposal):
    """``propose_connect``: ``from_card`` has the relation ``predicate`` to ``to_card``."""

    from_card: UUID
    to_card: UUID
    predicate: Predicate

    @property
    def evidence(self) -> tuple[UUID, ...]:
        return self.from_card, self.to_card

    def key(self, memory: Memory) -> str:
        return f"curator/connect/{self.from_card}/{self.predicate}/{self.to_card}"

    def digest(self, memory: Memory) -> str:
        ends = (memory.by_id[each].content for each in (self.from_card, self.to_card))
        return digest_of("connect", self.predicate, *ends)

    def payloads(self, memory: Memory, event_id: UUID) -> list[tuple[str, Payload]]:
        connected = CardsConnected(
            from_card=self.from_card,
            to_card=self.to_card,
            predicate=self.predicate,
            reason=self.reason,
            confidence=self.confidence,
        )
        return [(relation_stream(self.from_card, self.predicate, self.to_card), connected)]


@dataclass(frozen=True, kw_only=True)
class CreateThread(Proposal):
    """``propose_create_thread``: a topic goes on over sessions, and ``card_ids`` are about it.

    ``number`` tells apart the topics that begin with one card. The key holds no digest of the title, because keys stay
    in the log when the words are erased.
    """

    title: str
    project_id: str
    mode: str | None
    card_ids: tuple[UUID, ...]
    number: int = 0

    @property
    def evidence(self) -> tuple[UUID, ...]:
        return self.card_ids

    def key(self, memory: Memory) -> str:
        return f"curator/thread/{self.card_ids[0]}/{self.number}"

    def digest(self, memory: Memory) -> str:
        return digest_of("thread", self.project_id, self.mode or "", self.title)

    def payloads(self, memory: Memory, event_id: UUID) -> list[tuple[str, Payload]]:
        opened = ThreadOpened(
            title=self.title, project_id=self.project_id, mode=self.mode, reason=self.reason
        )
        cards = CardsThreaded(
            thread_id=event_id, card_ids=self.card_ids, reason=self.reason, confidence=self.confidence
        )
        return [(THREADS, opened), (THREADS, cards)]


@dataclass(frozen=True, kw_only=True)
class AssignThread(Proposal):
    """``propose_assign_thread``: ``card_id`` is about the topic of an open thread."""

    thread_id: UUID
    card_id: UUID

    @property
    def evidence(self) -> tuple[UUID, ...]:
        return (self.card_id,)

    def key(self, memory: Memory) -> str:
        return f"curator/assign/{self.thread_id}/{self.card_id}"

    def digest(self, memory: Memory) -> str:
        return digest_of("assign", str(self.thread_id), memory.by_id[self.card_id].content)

    def payloads(self, memory: Memory, event_id: UUID) -> list[tuple[str, Payload]]:
        threaded = CardsThreaded(
            thread_id=self.thread_id,
            card_ids=(self.card_id,),
            reason=self.reason,
            confidence=self.confidence,
        )
        return [(THREADS, threaded)]


@dataclass(frozen=True, kw_only=True)
class DeriveInsight(Proposal):
    """``propose_insight``: the cards ``sources`` of one project and mode say ``content`` together."""

    content: str
    insight_kind: InsightKind
    theme: str
    project_id: str
    mode: str | None
    sources: tuple[UUID, ...]

    @property
    def evidence(self) -> tuple[UUID, ...]:
        return self.sources

    def key(self, memory: Memory) -> str:
        return f"curator/insight/{digest_of(self.about, *sorted(map(str, self.sources)))}"

    def digest(self, memory: Memory) -> str:
        """Returns the key: an insight that was undone may be derived from new sources."""
        return self.key(memory)

    @property
    def about(self) -> str:
        """The digest of what the insight is about."""
        return insight.digest_of(self.insight_kind, self.theme, self.project_id, self.mode)

    def payloads(self, memory: Memory, event_id: UUID) -> list[tuple[str, Payload]]:
        derived = InsightDerived(
            content=self.content,
            kind=self.insight_kind,
            theme=self.theme,
            project_id=self.project_id,
            sources=self.sources,
            reason=self.reason,
            mode=self.mode,
            confidence=self.confidence,
        )
        return [(INSIGHTS, derived)]


@dataclass(frozen=True, kw_only=True)
class ProposeMerge(Proposal):
    """``propose_person_merge``: ``person_id`` may be the person ``into_id``. A command or nobody merges the two."""

    person_id: UUID
    into_id: UUID
    words: tuple[str, ...]
    basis: Literal["words", "model"] = "words"

    @property
    def evidence(self) -> tuple[UUID, ...]:
        return self.person_id, self.into_id

    def key(self, memory: Memory) -> str:
        return f"curator/merge/{self.person_id}/{self.into_id}/{self.basis}"

    def digest(self, memory: Memory) -> str:
        return merge_digest(memory, self.person_id, self.into_id)

    def payloads(self, memory: Memory, event_id: UUID) -> list[tuple[str, Payload]]:
        proposed = PersonMergeProposed(
            person_id=self.person_id,
            into_id=self.into_id,
            reason=self.reason,
            digest=self.digest(memory),
            confidence=self.confidence,
            evidence=self.words,
        )
        return [("people", proposed)]


def merge_digest(memory: Memory, *people: UUID) -> str:
    """Returns the digest of the names and ties of two people, in either order."""
    return digest_of("merge", *sorted(memory.people.handle_ids[each] for each in people))
