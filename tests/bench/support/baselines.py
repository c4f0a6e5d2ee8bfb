"""The floors of recall: BM25, BM25 of the user's turns, vectors, and BM25 with vectors by reciprocal ranks."""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from events.language.chinese_script import has_cjk
from events.language.terms import analyse, question_terms
from events.types.cards import Utterance
from projectors.embedding.embedder import Vectors
from projectors.vectors.words import line_of
from retrieval.channels.words import BM25_B, BM25_K1
from tests.bench.support.recall_data import Asked

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


Ranking = list[int]
"""The places of turns in the list of their user, the best first."""


def by_terms(documents: Sequence[dict[str, float]], weights: Callable[[str], dict[str, float]]) -> Channel:
    index = Bm25(documents)
    return lambda question: index.score(weights(question))


def plain_weights(question: str) -> dict[str, float]:
    return dict.fromkeys(question_terms(question), 1.0)


class Baselines:
    """Ranks the turns of one user without Cardlog. A turn without any shared word is not ranked by BM25.

    English words are stemmed. Chinese text is cut into characters, which needs no dictionary. ``vectors`` embeds texts,
    and ``of_question`` a question: many models embed the two in different ways.
    """

    def __init__(
        self,
        turns: Sequence[Mapping[str, str]],
        vectors: Callable[[Sequence[str]], Vectors],
        of_question: Callable[[str], Vectors],
    ) -> None:
        self._turns = turns
        self._texts = [turn["text"] for turn in turns]
        lines = [line_of(Utterance(turn["text"], turn.get("speaker"))) for turn in turns]
        self._vectors, self._of_question = vectors(lines), of_question
        chinese = sum(map(has_cjk, self._texts)) * 2 > len(self._texts)
        self._count = _characters if chinese else counts
        self._asked = _characters if chinese else plain_weights
        self._documents = [self._count(text) for text in self._texts]

    def rankings(self, question: Asked, most: int) -> dict[str, Ranking]:
        """Returns the best ``most`` turns by each floor, of those that may answer."""
        size = len(self._turns) if question.earlier is None else question.earlier
        mine = np.array([turn.get("role", "user") == "user" for turn in self._turns[:size]])
        terms = by_terms(self._documents[:size], self._asked)
        near: Scores = (self._vectors[:size] @ self._of_question(question.text)).astype(np.float64)
        own = by_terms(
            [document if kept else {} for document, kept in zip(self._documents[:size], mine, strict=True)],
            self._asked,
        )
        both = reciprocal([(terms, 1.0), (lambda _: near, 1.0)])
        scored = {
            "BM25": terms(question.text),
            "BM25 user": own(question.text),
            "dense": near,
            "RRF": both(question.text),
        }
        return {name: _best(scores, most) for name, scores in scored.items()}


def _best(scores: Scores, most: int) -> Ranking:
    order = np.argsort(-scores, kind="stable")[:most].tolist()
    return [place for place in order if scores[place] > 0]


def _characters(text: str) -> dict[str, float]:
    found: dict[str, float] = defaultdict(float)
    for character in text:
        if character.isalnum():
            found[character] += 1.0
    return found
