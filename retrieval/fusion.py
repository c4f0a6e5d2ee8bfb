"""Reciprocal rank fusion and what comes after the vote: decay, layers, the present before the past."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from math import exp
from typing import Any
from uuid import UUID

from retrieval.channels.channel import Hit
from retrieval.question import Question

RRF_K = 60

# What an exact word proves is worth more than what a misspelt one suggests.
WEIGHTS: Mapping[str, float] = {"semantic": 1.0, "tags": 1.0, "fuzzy": 0.5, "time": 1.0}

# Per day: a value that gets replaced halves in about 35 days, one that accumulates in about 140.
DECAY = {"single_value": 0.02, "multi_value": 0.005}
DECAY_SHARE = 0.15
LAYER_BOOST = 1.2
ASKED_BOOST = 1.4  # a state of the very concept the question asks for
SUPERSEDED_PENALTY = 0.8  # where both may answer, what is true now comes first


def fuse(channels: Mapping[str, Sequence[Hit]]) -> dict[UUID, float]:
    """Votes of every channel, summed: weight / (60 + rank), ranks from 1. One channel alone can win."""
    scores: dict[UUID, float] = {}
    for name, hits in channels.items():
        weight = WEIGHTS.get(name, 1.0)
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
    if card["kind"] == "state" and card["concept_key"] in question.concepts:
        score *= ASKED_BOOST
    if card["superseded_at"] is not None and card["superseded_at"] <= question.now and question.span is None:
        score *= SUPERSEDED_PENALTY
    if context_layer is not None and card["context_layer"] == context_layer:
        score *= LAYER_BOOST
    return score
