"""Passages: the words that a card is found by. Its own words count in full, and the turns before it count in part.

A reply rarely repeats the question ("What did you adopt?" "Two kittens!"), so its own words alone are not enough. On
five long English conversations the two turns before raise evidence recall@10 from .64 to .77 with terms alone, and
from .47 to .56 with vectors alone. A third turn before, or the turn after, adds nothing. The turns before help only a
turn that continues them. In notes, in meetings told line by line and in chats with an assistant, they lift the wrong
turns (docs/benchmarks.md).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from events.language.chinese_script import has_cjk
from events.language.continuation import continued
from events.types.cards import Utterance
from projectors.embedding.embedder import Vectors

CONTEXT_WEIGHTS = (0.5, 0.3)
"""The weights of the turn before and of the turn before that one."""

BM25_K1 = 0.9
BM25_B = 0.6
"""BM25's saturation and length normalisation. Quality is flat for k1 from 0.5 to 1.5 and for b from 0.3 to 0.75, in
English and Chinese."""


def line_of(said: Utterance) -> str:
    """Returns the text to embed, with the speaker's name. A question about a person is then near the person's words.

    An English sentence tells a model more than a name and a colon (docs/benchmarks.md). No set of Chinese turns with
    names was measured.
    """
    if not said.speaker:
        return said.text
    return f"{said.speaker}: {said.text}" if has_cjk(said.text) else f"{said.speaker} said: {said.text}"


@dataclass(frozen=True, slots=True)
class Passage:
    """An utterance and the utterances before it in its session, the nearest first. Only the first two count."""

    said: Utterance
    before: tuple[Utterance, ...] = ()


def embed_passages(embed: Callable[[Sequence[str]], Vectors], passages: Sequence[Passage]) -> Vectors:
    """Returns one unit vector for each passage: the sum of its line's vector and the weighted vectors before it.

    The shape is ``(len(passages), dimension)``, float32. ``embed`` is the method of an embedder or of a cache, and is
    called once. Each distinct line is embedded once, so neighbours in a session cost no more than single cards.
    Embedding the lines as one long text takes four times as long, and finds no more after the fusion with terms.
    """
    rows: dict[str, int] = {}
    contexts = [continued(passage.said, passage.before) for passage in passages]
    for passage, context in zip(passages, contexts, strict=True):
        for utterance in (passage.said, *context):
            rows.setdefault(line_of(utterance), len(rows))
    lines = embed(list(rows))
    vectors = np.empty((len(passages), lines.shape[1]), dtype=np.float32)
    for index, (passage, context) in enumerate(zip(passages, contexts, strict=True)):
        own = lines[rows[line_of(passage.said)]]
        total = own.copy()
        for utterance, weight in zip(context, CONTEXT_WEIGHTS, strict=False):
            total += np.float32(weight) * lines[rows[line_of(utterance)]]
        # The weights of the lines before sum up to 0.8, so the length of the sum is at least 0.2.
        vectors[index] = total / np.linalg.norm(total)
    return vectors
