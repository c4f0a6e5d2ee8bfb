"""A card that may answer a question, with what the channels tell of it and what the ranking learns of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from projectors.cards.card import Card
from retrieval.recall.fusion import Evidence

SAME_TOPIC = 0.5
"""The part of the weight of an older card's topic: a newer card with so much is about the same."""


# Candidates are compared by identity: a ranking has one for each card, and the hash of a UUID is slow.
@dataclass(eq=False, slots=True, kw_only=True)
class Candidate:
    """A card with its evidence and with the keys of its own ``terms``.

    ``subjects`` are those whom the facts that were read from its turns are about; none when no fact was read.
    ``revised`` tells how much of the card's topic a newer card has that tells of a change or another value, and
    ``revises`` tells the same of the newer card: both from 0 to 1. ``ended_by`` may have ended what the card says. It
    did so ``surely`` when it names the value or the slot of a fact, changes a value to another one of its kind, or
    mends the very words. ``contributions`` add up to the ``score``.
    """

    card: Card
    evidence: Evidence
    terms: frozenset[int] = frozenset()
    subjects: frozenset[str] = frozenset()
    revised: float = 0.0
    revises: float = 0.0
    ended_by: Candidate | None = None
    surely: bool = False
    features: dict[str, float] = field(default_factory=dict)
    contributions: dict[str, float] = field(default_factory=dict)
    score: float = 0.0

    @property
    def card_id(self) -> UUID:
        return self.card.card_id

    def scored(self, contributions: dict[str, float]) -> Candidate:
        """Gives the card these contributions, and returns it."""
        self.contributions, self.score = contributions, sum(contributions.values())
        return self

    def add(self, reason: str, amount: float) -> None:
        """Adds ``amount`` to the score for ``reason``."""
        self.contributions[reason] = self.contributions.get(reason, 0.0) + amount
        self.score += amount

    def is_ended(self, by: Candidate, share: float, *, surely: bool) -> None:
        """Notes that the newer card ``by`` tells of a change of a ``share`` of this card's topic."""
        self.is_like(by, share)
        if share >= SAME_TOPIC and (surely or not self.surely):
            self.ended_by, self.surely = by, surely or self.surely

    def is_like(self, by: Candidate, share: float) -> None:
        """Notes that the newer card ``by`` tells something new of a ``share`` of this card's topic."""
        self.revised, by.revises = max(share, self.revised), max(share, by.revises)

    def holds_again(self) -> None:
        self.revised, self.ended_by, self.surely = 0.0, None, False


def note_subjects(found: Sequence[Candidate]) -> None:
    """Notes in each card whom it is about, by the facts that were read from its turns."""
    of_turn: dict[str, set[str]] = {}
    for each in found:
        if each.card.kind == "state" and each.card.entity is not None:
            each.subjects = frozenset([each.card.entity])
            for turn in each.card.turn_ids:
                of_turn.setdefault(turn, set()).add(each.card.entity)
    for each in found:
        if not each.subjects:
            each.subjects = frozenset().union(*(of_turn.get(turn, ()) for turn in each.card.turn_ids))


def by_score(candidate: Candidate) -> tuple[float, int]:
    """The sort key of places: best first, ties by id."""
    return -candidate.score, candidate.card.card_id.int


def by_votes(candidate: Candidate) -> tuple[float, int]:
    """The sort key of candidates: the card with the most votes first, ties by id."""
    return -candidate.evidence.votes, candidate.card.card_id.int
