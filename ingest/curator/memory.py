"""What the curator reads: one user's folded memory at one position of the log. Nothing here can change it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Literal
from uuid import UUID

from events.insights.insight import Insights
from events.people.person import People
from events.threads.thread import Thread
from events.types.cards import Cardinality, EventStatus, Provenance, Sentiment
from events.types.relations import Predicate
from events.types.turns import GENERAL_MODE


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
    last_verified: datetime
    project_id: str
    session_id: str
    turn_ids: tuple[str, ...]
    provenance: Provenance
    confidence: float
    tags: tuple[str, ...] = ()
    entity: str | None = None
    concept_key: str | None = None
    value: str | None = None
    cardinality: Cardinality | None = None
    effective_at: datetime | None = None
    superseded_at: datetime | None = None
    occurred_at: datetime | None = None
    occurred_until: datetime | None = None
    time_resolved: bool | None = None
    mode: str | None = None
    speaker: str | None = None
    caused_by: UUID | None = None
    mentions: int = 1
    retracted: bool = False
    contested: bool = False
    ended: bool = False
    episode: bool = False
    topics: tuple[str, ...] = ()
    importance: int | None = None
    sentiment: Sentiment | None = None
    event_status: EventStatus | None = None
    participants: tuple[str, ...] = ()
    title: str | None = None
    definition: str | None = None

    @property
    def wall(self) -> tuple[str, str]:
        """The project and the mode. No pass compares cards over this wall."""
        return self.project_id, self.mode or GENERAL_MODE

    @property
    def begun(self) -> datetime:
        """When the card became true or happened. Without such a time, when it was said."""
        return (self.effective_at if self.kind == "state" else self.occurred_at) or self.said_at


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRelation:
    """A relation between two cards that holds. ``implied`` is True when a timeline implies it, and nobody stated it.

    ``event_id`` is the event that made it, and ``actor`` its actor.
    """

    from_card: UUID
    to_card: UUID
    predicate: Predicate
    event_id: UUID
    actor: str
    implied: bool

    @property
    def ends(self) -> frozenset[UUID]:
        return frozenset((self.from_card, self.to_card))


@dataclass(frozen=True, kw_only=True)
class Memory:
    """One user's memory at ``position`` of the user's partition. ``now`` is the time of the last event there.

    ``cards`` are in the order of the log. Cards that were never true are among them, marked as such.
    ``relations`` are those that hold, without those that the curator made: what a pass proposes therefore does not
    depend on how much of it was appended before. ``tombstones`` are digests of what nobody may propose again
    (:meth:`ingest.curator.proposals.Proposal.digest`). The runner drops such proposals, so a pass need not look.
    ``asked`` are digests of the pairs that a model was asked about (:class:`ingest.curator.passes.undecided.Pair`).
    """

    user_id: str
    position: int
    now: datetime
    cards: tuple[MemoryCard, ...]
    relations: tuple[MemoryRelation, ...]
    people: People
    threads: tuple[Thread, ...]
    insights: Insights = field(default_factory=Insights)
    tombstones: frozenset[str] = frozenset()
    asked: frozenset[str] = frozenset()

    @cached_property
    def by_id(self) -> dict[UUID, MemoryCard]:
        """The cards by id."""
        return {card.card_id: card for card in self.cards}

    @cached_property
    def related(self) -> frozenset[frozenset[UUID]]:
        """The pairs of cards that have a relation of whatever predicate."""
        return frozenset(each.ends for each in self.relations)
