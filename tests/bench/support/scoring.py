"""Scores of documents, and their fusion."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from events.language.terms import analyse
from retrieval.channels.words import BM25_B, BM25_K1

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


def counts(text: str) -> dict[str, float]:
    """Returns how often each term occurs."""
    return {term: float(number) for term, number in Counter(analyse(text)).items()}
