"""Reciprocal rank fusion of the channels' hits. The ranking multiplies the sums afterwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from uuid import UUID

from retrieval.channels.channel import Hit

RRF_K = 60


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


def leaders(channels: Mapping[str, Sequence[Hit]]) -> frozenset[UUID]:
    """Returns the cards that come first in at least two channels."""
    first = [hits[0].card_id for hits in channels.values() if hits]
    return frozenset(card_id for card_id in first if first.count(card_id) > 1)
