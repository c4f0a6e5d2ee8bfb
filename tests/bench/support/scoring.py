"""Scores of documents, and their fusion."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from events.language.continuation import continued
from events.language.terms import analyse
from events.types.cards import Utterance
from projectors.embedding.passages import BM25_B, BM25_K1, CONTEXT_WEIGHTS, Passage

Scores = NDArray[np.float64]


Channel = Callable[[str], Scores]


_RRF_K = 60


_CANDIDATES = 20


class Bm25:
    """Okapi BM25 over weighted terms."""

    def __init__(self, documents: Sequence[dict[str, float]]) -> None:
        self.size = len(documents)
        lengths = np.array([sum(document.values()) for document in documents])
        self.norm = BM25_K1 * (1 - BM25_B + BM25_B * lengths / max(lengths.mean(), 1e-9))
        postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for index, document in enumerate(documents):
            for term, count in document.items():
                postings[term].append((index, count))
        self.postings = {
            term: (np.array([row for row, _ in rows]), np.array([count for _, count in rows]))
            for term, rows in postings.items()
        }

    def score(self, weights: dict[str, float]) -> Scores:
        total = np.zeros(self.size)
        for term, weight in weights.items():
            if term in self.postings:
                rows, counts = self.postings[term]
                rarity = math.log(1 + (self.size - len(rows) + 0.5) / (len(rows) + 0.5))
                total[rows] += weight * rarity * counts * (BM25_K1 + 1) / (counts + self.norm[rows])
        return total


def ranks(scores: Scores) -> Scores:
    order = np.argsort(-scores, kind="stable")
    placed = np.empty(len(scores))
    placed[order] = np.arange(1, len(scores) + 1)
    return placed


def reciprocal(channels: Sequence[tuple[Channel, float]]) -> Channel:
    """Plain reciprocal rank fusion of each channel's first candidates."""

    def fused(question: str) -> Scores:
        total: Scores = np.zeros(1)
        for channel, weight in channels:
            scores = channel(question)
            place = ranks(scores)
            total = total + np.where((place <= _CANDIDATES) & (scores > 0), weight / (_RRF_K + place), 0.0)
        return total

    return fused


def by_score(channels: Sequence[tuple[Channel, float, bool]]) -> Channel:
    """Each channel's votes by how good the hit is: score by best score, or, where every text scores
    something (the flag), by how far it is above the last candidate."""

    def fused(question: str) -> Scores:
        total: Scores = np.zeros(1)
        for channel, weight, everything_scores in channels:
            scores = channel(question)
            best = float(scores.max())
            floor = (
                float(np.sort(scores)[-_CANDIDATES])
                if everything_scores and len(scores) > _CANDIDATES
                else 0.0
            )
            if best > floor:
                total = total + weight * np.clip((scores - floor) / (best - floor), 0.0, None)
        return total

    return fused


def passage_terms(passage: Passage) -> dict[str, float]:
    """Returns each term with its weighted count. The speaker's name counts once more; earlier turns count in part."""
    found: dict[str, float] = {}
    said = passage.said
    for term in analyse(said.text) + (analyse(said.speaker) if said.speaker else []):
        found[term] = found.get(term, 0.0) + 1.0
    for utterance, weight in zip(continued(said, passage.before), CONTEXT_WEIGHTS, strict=False):
        for term in analyse(utterance.text):
            found[term] = found.get(term, 0.0) + weight
    return found


def counts(text: str) -> dict[str, float]:
    return passage_terms(Passage(Utterance(text)))
