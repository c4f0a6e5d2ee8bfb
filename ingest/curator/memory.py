"""What the curator reads: one user's folded memory at one position of the log. Nothing here can change it."""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Literal
from uuid import UUID

from events.insights import Insights
from events.language.concepts import normalise_value
from events.people.person import People
from events.threads import Thread
from events.types.cards import Cardinality, EventStatus, Provenance
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
    nobody may propose again (:class:`ingest.curator.proposals.Proposal`). The runner drops such proposals, so a pass
    need not look. ``asked`` are digests of the pairs that a model was asked about
    (:class:`ingest.curator.passes.undecided.Pair`).
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
