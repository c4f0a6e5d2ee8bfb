"""What the curator reads, which is one user's folded memory at one position of the log, and what it may propose.

Nothing here can change the memory. Every proposal adds. It says which events it appends, the key that appends them
once, and the digest of what it says, by which an undone proposal is not made again.
"""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from hashlib import sha256
from typing import Literal
from uuid import UUID

from events import insights
from events.insights import Insights
from events.language.concepts import normalise_value
from events.people.person import People
from events.threads import Thread
from events.types.cards import Cardinality, EventStatus, Provenance
from events.types.envelope import Payload
from events.types.insights import STREAM as INSIGHTS
from events.types.insights import InsightDerived
from events.types.people import PersonMergeProposed
from events.types.relations import CardsConnected, Predicate
from events.types.threads import STREAM as THREADS
from events.types.threads import CardsThreaded, ThreadOpened
from events.types.turns import GENERAL_MODE

Fact = tuple[str | None, str, str | None]
"""An entity, a concept and, if it has several values, one of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryCard:
    """A card as the projection has it. The fields mean what those of a card of the read API mean. Instants are aware.

    ``position`` is the place in the log of the event that made the card.
    """

    card_id: UUID
    kind: Literal["state", "event", "knowledge"]
    content: str
    position: int
    said_at: datetime
    project_id: str
    session_id: str
    turn_ids: tuple[str, ...]
    provenance: Provenance
    tags: tuple[str, ...] = ()
    entity: str | None = None
    concept_key: str | None = None
    value: str | None = None
    cardinality: Cardinality | None = None
    effective_at: datetime | None = None
    superseded_at: datetime | None = None
    occurred_at: datetime | None = None
    mode: str | None = None
    speaker: str | None = None
    retracted: bool = False
    episode: bool = False
    event_status: EventStatus | None = None

    @property
    def wall(self) -> tuple[str, str]:
        """The project and the mode. No pass compares cards over this wall."""
        return self.project_id, self.mode or GENERAL_MODE

    @property
    def fact(self) -> Fact:
        """What has one timeline: all values of a fact with one value, and each value of another."""
        key, several = self.concept_key or "", self.cardinality != "single_value"
        return self.entity, key, normalise_value(key, self.value or "") if several else None

    @property
    def begun(self) -> datetime:
        """When the card became true or happened. Without such a time, when it was said."""
        return (self.effective_at if self.kind == "state" else self.occurred_at) or self.said_at


@dataclass(frozen=True, kw_only=True)
class Memory:
    """One user's memory at ``position`` of the user's partition. ``now`` is the time of the last event there.

    ``cards`` are in the order of the log. Cards that were never true are among them, marked as such.
    ``related`` are the pairs of cards with a relation that holds, without the relations that the curator made: what a
    pass proposes therefore does not depend on how much of it was appended before. ``tombstones`` are digests of what
    nobody may propose again (:class:`ingest.curator.memory.Proposal`). The runner drops such proposals, so a pass
    need not look. ``asked`` are digests of the pairs that a model was asked about
    (:class:`ingest.curator.asking.Pair`).
    """

    user_id: str
    position: int
    now: datetime
    cards: tuple[MemoryCard, ...]
    related: frozenset[frozenset[UUID]]
    people: People
    threads: tuple[Thread, ...]
    insights: Insights = field(default_factory=Insights)
    tombstones: frozenset[str] = frozenset()
    asked: frozenset[str] = frozenset()

    @cached_property
    def by_id(self) -> dict[UUID, MemoryCard]:
        """The cards by id."""
        return {card.card_id: card for card in self.cards}

    def ordered(self, one: MemoryCard, two: MemoryCard) -> bool:
        """True when the timeline of one fact holds both: a state, or a card of a turn that a state was read from."""
        return not self._facts(one).isdisjoint(self._facts(two))

    def _facts(self, card: MemoryCard) -> set[Fact]:
        if card.kind == "state":
            return {card.fact}
        return {fact for turn in card.turn_ids for fact in self._facts_of_turn.get(turn, ())}

    @cached_property
    def _facts_of_turn(self) -> dict[str, set[Fact]]:
        found: dict[str, set[Fact]] = defaultdict(set)
        for card in self.cards:
            for turn in card.turn_ids if card.kind == "state" else ():
                found[turn].add(card.fact)
        return found


def digest_of(*words: str) -> str:
    """Returns a digest of words: SHA-256 in hexadecimal digits. Case and spaces change nothing."""
    plain = "\x1f".join(" ".join(each.casefold().split()) for each in words)
    return sha256(plain.encode()).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Proposal:
    """Something to add: the event ``payload`` of ``stream``, and for a new thread the event that ``filled`` makes.

    ``evidence`` are the ids of the cards or people that the proposal rests on. ``key`` is the idempotency key, made of
    what the proposal names: the log takes a key of a user once. ``digest`` is that of the words of the proposal: new
    ids of the same words give the same digest.
    """

    stream: str
    payload: Payload
    evidence: tuple[UUID, ...]
    key: str
    digest: str
    filled: Callable[[UUID], Payload] | None = None

    def payloads(self, event_id: UUID) -> list[Payload]:
        """Returns the payloads of the events to append. ``event_id`` will be the id of the first."""
        return [self.payload] if self.filled is None else [self.payload, self.filled(event_id)]


Pass = Callable[[Memory], list[Proposal]]
"""A pass of the curator. It is pure: the same memory gives the same proposals in the same order."""


def relation(
    later: MemoryCard, earlier: MemoryCard, predicate: Predicate, reason: str, confidence: float
) -> Proposal:
    """``propose_connect``: ``later`` has the relation ``predicate`` to ``earlier``."""
    connected = CardsConnected(
        from_card=later.card_id,
        to_card=earlier.card_id,
        predicate=predicate,
        reason=reason,
        confidence=confidence,
    )
    return Proposal(
        stream=connected.stream,
        payload=connected,
        evidence=(later.card_id, earlier.card_id),
        key=f"curator/connect/{later.card_id}/{predicate}/{earlier.card_id}",
        digest=digest_of("connect", predicate, later.content, earlier.content),
    )


def new_thread(
    opened: ThreadOpened, card_ids: tuple[UUID, ...], number: int, reason: str, confidence: float
) -> Proposal:
    """``propose_create_thread``: a topic goes on over sessions, and ``card_ids`` are about it.

    ``number`` tells apart the topics that begin with one card. The key holds no digest of the title, because keys stay
    in the log when the words are erased.
    """
    return Proposal(
        stream=THREADS,
        payload=opened,
        evidence=card_ids,
        key=f"curator/thread/{card_ids[0]}/{number}",
        digest=digest_of("thread", opened.project_id, opened.mode or "", opened.title),
        filled=lambda thread_id: CardsThreaded(
            thread_id=thread_id, card_ids=card_ids, reason=reason, confidence=confidence
        ),
    )


def assignment(thread_id: UUID, card: MemoryCard, reason: str, confidence: float) -> Proposal:
    """``propose_assign_thread``: ``card`` is about the topic of an open thread."""
    return Proposal(
        stream=THREADS,
        payload=CardsThreaded(
            thread_id=thread_id, card_ids=(card.card_id,), reason=reason, confidence=confidence
        ),
        evidence=(card.card_id,),
        key=f"curator/assign/{thread_id}/{card.card_id}",
        digest=digest_of("assign", str(thread_id), card.content),
    )


def derivation(derived: InsightDerived) -> Proposal:
    """``propose_insight``: the sources, which are of one project and mode, say the content together.

    The digest is the key: an insight that was undone may be derived from new sources.
    """
    about = insights.digest_of(derived.kind, derived.theme, derived.project_id, derived.mode)
    key = f"curator/insight/{digest_of(about, *sorted(map(str, derived.sources)))}"
    return Proposal(stream=INSIGHTS, payload=derived, evidence=derived.sources, key=key, digest=key)


def person_merge(proposed: PersonMergeProposed, basis: Literal["words", "model"]) -> Proposal:
    """``propose_person_merge``: two people may be one. A command or nobody merges the two."""
    return Proposal(
        stream="people",
        payload=proposed,
        evidence=(proposed.person_id, proposed.into_id),
        key=f"curator/merge/{proposed.person_id}/{proposed.into_id}/{basis}",
        digest=proposed.digest,
    )


def merge_digest(memory: Memory, *people: UUID) -> str:
    """Returns the digest of the names and ties of two people, in either order."""
    return digest_of("merge", *sorted(memory.people.handle_ids[each] for each in people))
