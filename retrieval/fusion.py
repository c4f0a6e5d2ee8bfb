"""Reciprocal rank fusion and what comes after the vote: decay, layers, the present before the past."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from math import exp
from typing import Any
from uuid import UUID

from events.script import fold_script
from retrieval.channels.channel import Hit
from retrieval.question import Question

RRF_K = 60
OWNER = "user"  # the entity of what is said about the one whose memory it is

# Per day: a value that gets replaced halves in about 35 days, one that accumulates in about 140.
DECAY = {"single_value": 0.02, "multi_value": 0.005}
DECAY_SHARE = 0.15
LAYER_BOOST = 1.2
ASKED_BOOST = 2.0  # the very concept the question asks for, of the one it asks about
COMMON_CONCEPTS = frozenset({"activity"})  # nearly every event is one; asking for it says nothing
OTHERS_PENALTY = 0.8  # the concept asked for, of somebody else
IMPORTANCE_SHARE = 0.02  # per step of importance away from the middle of 1 to 10
REPEATED_TURN = 0.5  # for each better card that already speaks for the same turn
SUPERSEDED_PENALTY = 0.8  # where both may answer, what is true now comes first


def fuse(channels: Mapping[str, Sequence[Hit]], weights: Mapping[str, float]) -> dict[UUID, float]:
    """Votes of every channel, summed: weight / (60 + rank), ranks from 1. One channel alone can win."""
    scores: dict[UUID, float] = {}
    for name, hits in channels.items():
        weight = weights.get(name, 1.0)
        for rank, hit in enumerate(hits, 1):
            scores[hit.card_id] = scores.get(hit.card_id, 0.0) + weight / (RRF_K + rank)
    return scores


def decay(cardinality: str | None, verified: datetime, now: datetime) -> float:
    """How much of its score a state keeps: e^(-λ·days since it was last verified). Others keep all."""
    rate = DECAY.get(cardinality or "")
    if rate is None:
        return 1.0
    return exp(-rate * max(0.0, (now - verified).total_seconds() / 86400))


def adjusted(
    score: float, card: Mapping[str, Any], question: Question, *, context_layer: str | None
) -> float:
    """The score of a card once what it is has been weighed too, not only how it was found."""
    # A vote is a rank, and ranks lie close together: the full decay would bury the only true address there is
    # under yesterday's small talk. So decay orders what is otherwise equal.
    score *= 1 - DECAY_SHARE * (1 - decay(card["cardinality"], card["last_verified"], question.now))
    if card["concept_key"] in question.concepts and card["concept_key"] not in COMMON_CONCEPTS:
        score *= ASKED_BOOST if _about_the_one_asked_for(card, question) else OTHERS_PENALTY
    if card["importance"] is not None:
        score *= 1 + IMPORTANCE_SHARE * (card["importance"] - 5)
    if card["superseded_at"] is not None and card["superseded_at"] <= question.now and question.span is None:
        score *= SUPERSEDED_PENALTY
    if context_layer is not None and card["context_layer"] == context_layer:
        score *= LAYER_BOOST
    return score


def _about_the_one_asked_for(card: Mapping[str, Any], question: Question) -> bool:
    """Whether a card is about the asker, or about somebody the question names."""
    if card["kind"] != "state" or card["entity"] in (None, OWNER):
        return True
    # Entities are kept in simplified script, however they were written.
    return card["entity"].casefold() in fold_script(question.text.casefold())


def spread(
    ranked: Sequence[tuple[float, UUID]], turns: Mapping[UUID, Sequence[str]]
) -> list[tuple[float, UUID]]:
    """The ranking with repetition held back: a turn that a better card speaks for already counts for less.

    One long turn gives several cards; without this they would fill an answer alone.
    """
    spoken: dict[str, int] = {}
    spread_out = []
    for score, card_id in ranked:
        repeats = min((spoken.get(turn, 0) for turn in turns[card_id]), default=0)
        spread_out.append((score * REPEATED_TURN**repeats, card_id))
        for turn in turns[card_id]:
            spoken[turn] = spoken.get(turn, 0) + 1
    return sorted(spread_out, key=lambda pair: (-pair[0], pair[1]))
