"""What the curator may propose. Every proposal adds: no kind of proposal changes or removes anything.

A proposal says which events it appends, the key that appends them once, and the digest of what it says, by which an
undone proposal is not made again.
"""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal
from uuid import UUID

from events import insights
from events.types.envelope import Payload
from events.types.insights import STREAM as INSIGHTS
from events.types.insights import InsightDerived
from events.types.people import PersonMergeProposed
from events.types.relations import CardsConnected, Predicate
from events.types.threads import STREAM as THREADS
from events.types.threads import CardsThreaded, ThreadOpened
from ingest.curator.memory import Memory, MemoryCard


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
