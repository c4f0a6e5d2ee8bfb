"""What a card is found by: its own words in full, and in part those of the turns it answers.

A reply rarely repeats the question ("What did you adopt?" "Two kittens!"), so its own words alone miss
it. Measured over five long English conversations (tests/bench/retrieval/locomo_offline.py), the two turns before
raise evidence recall@10 from .64 to .77 by terms alone and from .47 to .56 by vectors alone; a third
turn, or the turn after, adds nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from events.language.terms import analyse
from events.types.cards import Utterance
from projectors.embedding.embedder import Vectors

CONTEXT_WEIGHTS = (0.5, 0.3)
"""How much the turn before counts, and the one before that."""

BM25_K1 = 0.9
BM25_B = 0.6
"""Saturation and length: flat between 0.5 and 1.5, and between 0.3 and 0.75, in English and Chinese."""


def line_of(said: Utterance) -> str:
    """The words as a vector is made of them: a question about someone is near what they said."""
    return f"{said.speaker}: {said.text}" if said.speaker else said.text


@dataclass(frozen=True, slots=True)
class Passage:
    """An utterance and those before it in its session, the nearest first; further ones do not count."""

    said: Utterance
    before: tuple[Utterance, ...] = ()


def passage_terms(passage: Passage) -> dict[str, float]:
    """Terms with how often they are said, the speaker's name once more, earlier turns' terms in part."""
    counts: dict[str, float] = {}
    said = passage.said
    for term in analyse(said.text) + (analyse(said.speaker) if said.speaker else []):
        counts[term] = counts.get(term, 0.0) + 1.0
    for utterance, weight in zip(passage.before, CONTEXT_WEIGHTS, strict=False):
        for term in analyse(utterance.text):
            counts[term] = counts.get(term, 0.0) + weight
    return counts


def embed_passages(embed: Callable[[Sequence[str]], Vectors], passages: Sequence[Passage]) -> Vectors:
    """Unit vectors, one row a passage: its line's and, in part, those of the lines before, added up.

    ``embed`` is an embedder's, or one that remembers; it is called once. Each distinct
    line is embedded once, so neighbours in a session cost no more than lone cards; the lines in one long
    text would take four times as long, and find no more once fused with terms.
    """
    rows: dict[str, int] = {}
    for passage in passages:
        for utterance in (passage.said, *passage.before[: len(CONTEXT_WEIGHTS)]):
            rows.setdefault(line_of(utterance), len(rows))
    lines = embed(list(rows))
    vectors = np.empty((len(passages), lines.shape[1]), dtype=np.float32)
    for index, passage in enumerate(passages):
        own = lines[rows[line_of(passage.said)]]
        total = own.copy()
        for utterance, weight in zip(passage.before, CONTEXT_WEIGHTS, strict=False):
            total += np.float32(weight) * lines[rows[line_of(utterance)]]
        # The lines before weigh 0.8 together, so the sum is never shorter than 0.2.
        vectors[index] = total / np.linalg.norm(total)
    return vectors
