"""A card that may answer a question, with what the channels tell of it and what the ranking learns of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any
from uuid import UUID

from projectors.cards.card import Card
from retrieval.channels.channel import Hit

RRF_K = 60
SAME_TOPIC = 0.5
"""The part of the weight of an older card's topic: a newer card with so much is about the same."""
_NEAREST = 20  # the hits among which nearness is compared
_PACE = 20  # the rank at which a place has fallen to a half


@dataclass(slots=True)
class Evidence:
    """What the channels tell of one card, as numbers that mean the same for every question. 0 is no evidence.

    ``votes`` is the sum of reciprocal ranks over the channels, from which the candidates are chosen. ``meaning`` is the
    nearness, from 1 for the nearest card to 0 for the twentieth and below 0 for farther ones; ``words`` the part of the
    best score of exact words. ``meaning_place``, ``words_place`` and ``spelling_place`` fall from 1 for the first place
    to a half at about the twentieth. ``related`` is the strength of a stated relation to a good hit, and ``beside`` the
    strength of a good hit, ``seed``, that was said just before or after.
    """

    votes: float = 0.0
    meaning: float = 0.0
    meaning_place: float = 0.0
    words: float = 0.0
    words_place: float = 0.0
    spelling_place: float = 0.0
    related: float = 0.0
    beside: float = 0.0
    seed: UUID | None = None

    def joined(self, other: Evidence) -> Evidence:
        """Returns the stronger of each pair of numbers: the evidence of a card that stands for another one, too."""
        seed = (self if self.beside >= other.beside else other).seed
        best: dict[str, Any] = {each: max(getattr(self, each), getattr(other, each)) for each in _NUMBERS}
        return Evidence(**best, seed=seed)


_NUMBERS = tuple(each.name for each in fields(Evidence) if each.name != "seed")


def add_hits(evidence: dict[UUID, Evidence], name: str, hits: Sequence[Hit]) -> None:
    """Adds what the channel ``name`` found to the evidence of each card."""
    best = hits[0].score if hits else 0.0
    far = hits[min(_NEAREST, len(hits)) - 1].score if hits else 0.0
    for rank, hit in enumerate(hits):
        told = evidence.get(hit.card_id)
        if told is None:
            told = evidence[hit.card_id] = Evidence()
        # A card that only the graph found is looked up when its hit is good.
        told.votes += hit.score / 2 / (RRF_K + 1) if name == "graph" else 1 / (RRF_K + 1 + rank)
        place = _PACE / (_PACE + rank)
        if name == "semantic":
            told.meaning = (hit.score - far) / (best - far) if best > far else 1.0
            told.meaning_place = place
        elif name == "tags":
            told.words, told.words_place = hit.score / best if best > 0 else 0.0, place
        elif name == "fuzzy":
            told.spelling_place = place
        elif name == "graph" and hit.beside is None:
            told.related = hit.score
        elif name == "graph":
            told.beside, told.seed = hit.score, hit.beside


def of_share(share: float, *, inside: bool) -> Evidence:
    """Returns the evidence of a card that no channel has seen yet, by its share of the question's terms.

    The share stands for each channel that finds cards by their content: a card with all the terms counts as the best
    hit of each. ``inside`` says that the card lies in the time that the question names.
    """
    return Evidence((3 * share + inside) / (RRF_K + 1), share, share, share, share, share)


def strongest(evidence: Mapping[UUID, Evidence]) -> dict[UUID, float]:
    """Returns the votes of each card, best first, as parts of the best one's. Ties are ordered by id."""
    ordered = sorted(
        (-told.votes, card_id.int, card_id) for card_id, told in evidence.items() if told.votes > 0
    )
    return {card_id: votes / ordered[0][0] for votes, _, card_id in ordered}


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
        self.revised, by.revises = max(share, self.revised), max(share, by.revises)
        if share >= SAME_TOPIC and (surely or not self.surely):
            self.ended_by, self.surely = by, surely or self.surely

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
