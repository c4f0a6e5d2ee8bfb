"""The floors of recall: BM25, BM25 of the user's turns, vectors, and BM25 with vectors by reciprocal ranks."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from events.language.chinese_script import has_cjk
from events.language.terms import question_terms
from events.types.cards import Utterance
from projectors.embedding.embedder import Vectors
from projectors.vectors.words import line_of
from tests.bench.support.recall_data import Asked
from tests.bench.support.scoring import Bm25, Channel, Scores, counts, reciprocal

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
