"""Reciprocal rank fusion of the hits, then decay, boosts, penalties and spread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import exp, prod
from typing import Any
from uuid import UUID

from events.language.chinese_script import to_simplified
from projectors.cards.card import Card
from retrieval.channels.channel import Hit
from retrieval.query.question import Question
from retrieval.query.scope import OWNER

RRF_K = 60

# Per day. A single value halves in about 35 days, one of several values in about 140.
DECAY = {"single_value": 0.02, "multi_value": 0.005}
DECAY_SHARE = 0.15
LAYER_BOOST = 1.2
ASKED_BOOST = 2.0  # the card has the concept and the entity that the question asks for
COMMON_CONCEPTS = frozenset({"activity"})  # nearly every event has this concept, so it distinguishes nothing
OTHERS_PENALTY = 0.8  # the card has the concept, of another entity
IMPORTANCE_SHARE = 0.02  # per step of importance away from the middle of 1 to 10
REPEATED_TURN = 0.5  # for each better card of the same turn
SUPERSEDED_PENALTY = 0.8  # a current card comes before a superseded one


@dataclass(frozen=True, slots=True)
class Placed:
    """A card with its votes and the factors that multiply them, by reason."""

    card_id: UUID
    votes: float
    factors: Mapping[str, float]

    @property
    def score(self) -> float:
        return self.votes * prod(self.factors.values())

    def times(self, reason: str, factor: float) -> Placed:
        return replace(self, factors={**self.factors, reason: factor})

    def order(self) -> tuple[float, UUID]:
        """The sort key: best first, ties by id."""
        return -self.score, self.card_id


def fuse(channels: Mapping[str, Sequence[Hit]], weights: Mapping[str, float]) -> dict[UUID, float]:
    """Returns the sum of the votes of every channel for each card. One channel alone can decide."""
    scores: dict[UUID, float] = {}
    for name, hits in channels.items():
        weight = weights.get(name, 1.0)
        for rank, hit in enumerate(hits, 1):
            scores[hit.card_id] = scores.get(hit.card_id, 0.0) + vote(hit, rank, weight)
    return scores


def vote(hit: Hit, rank: int, weight: float) -> float:
    """Returns the vote of one hit: weight / (60 + rank), times the share of the hit. Ranks start at 1."""
    return weight * hit.share / (RRF_K + rank)


def decay(cardinality: str | None, verified: datetime, now: datetime) -> float:
    """Returns e^(-λ·days since the last verification) for a state, with the λ of its cardinality. Others have 1."""
    rate = DECAY.get(cardinality or "")
    if rate is None:
        return 1.0
    return exp(-rate * max(0.0, (now - verified).total_seconds() / 86400))


def adjustments(card: Card, question: Question, *, context_layer: str | None) -> dict[str, float]:
    """Returns the factors that multiply a card's votes, by reason. A factor of 1 is absent."""
    # Votes come from ranks and lie close together. Full decay would place the only true address below yesterday's
    # small talk. Decay therefore has a small share and orders cards that are otherwise equal.
    factors = {"decay": 1 - DECAY_SHARE * (1 - decay(card.cardinality, card.last_verified, question.now))}
    if card.concept_key in question.concepts and card.concept_key not in COMMON_CONCEPTS:
        about = _about_the_one_asked_for(card, question)
        factors["concept asked for" if about else "concept of another"] = (
            ASKED_BOOST if about else OTHERS_PENALTY
        )
    if card.importance is not None:
        factors["importance"] = 1 + IMPORTANCE_SHARE * (card.importance - 5)
    if card.superseded_at is not None and card.superseded_at <= question.now and question.span is None:
        factors["superseded"] = SUPERSEDED_PENALTY
    if context_layer is not None and card.context_layer == context_layer:
        factors["layer"] = LAYER_BOOST
    return {reason: factor for reason, factor in factors.items() if factor != 1.0}


def _about_the_one_asked_for(card: Card, question: Question) -> bool:
    """True when a card is about the user, or about an entity that the question names."""
    if card.kind != "state" or card.entity is None or card.entity == OWNER:
        return True
    # Entities are stored in simplified script.
    return card.entity.casefold() in to_simplified(question.text.casefold())


def distinct(ranked: Sequence[Placed], cards: Mapping[UUID, Card]) -> tuple[list[Placed], dict[UUID, UUID]]:
    """Returns the ranking without repeated words, and for each card left out the card that stays."""
    first: dict[tuple[Any, ...], UUID] = {}
    kept, same = [], {}
    for placed in ranked:
        card = cards[placed.card_id]
        words = (card.kind, card.speaker, card.content, card.effective_at)
        if (other := first.setdefault(words, placed.card_id)) == placed.card_id:
            kept.append(placed)
        else:
            same[placed.card_id] = other
    return kept, same


def spread(ranked: Sequence[Placed], turns: Mapping[UUID, Sequence[str]]) -> list[Placed]:
    """Returns the ranking with lower scores for cards whose turns better cards already show.

    One long turn gives several cards. Without the penalty these cards could fill an answer alone.
    """
    spoken: dict[str, int] = {}
    spread_out = []
    for placed in ranked:
        repeats = min((spoken.get(turn, 0) for turn in turns[placed.card_id]), default=0)
        spread_out.append(placed.times("repetition", REPEATED_TURN**repeats) if repeats else placed)
        for turn in turns[placed.card_id]:
            spoken[turn] = spoken.get(turn, 0) + 1
    return sorted(spread_out, key=Placed.order)
