"""What the channels tell of a card, as numbers from 0 to 1 that mean the same for every question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from retrieval.channels.channel import Hit

RRF_K = 60
_NEAREST = 20  # the hits among which nearness is compared
_PACE = 20  # the rank at which a place has fallen to a half


@dataclass(slots=True)
class Evidence:
    """What the channels tell of one card.

    ``votes`` is the sum of reciprocal ranks over the channels, from which the candidates are chosen. ``meaning`` is the
    nearness, from 1 for the nearest card to 0 for the twentieth and below 0 for farther ones; ``words`` the part of the
    best score of exact words. ``meaning_place``, ``words_place`` and ``spelling_place`` fall from 1 for
    the first place to a half at about the twentieth. ``related`` is the strength of a stated relation to a good hit,
    and ``beside`` the strength of a good hit, ``seed``, that was said just before or after. 0 is no evidence.
    """

    votes: float = 0.0
    meaning: float = 0.0
    meaning_place: float = 0.0
    words: float = 0.0
    words_place: float = 0.0
    spelling_place: float = 0.0
    related: float = 0.0
    beside: float = 0.0
    seed: UUID | None = None

    def joined(self, other: Evidence) -> Evidence:
        """Returns the stronger of each pair of numbers: the evidence of a card that stands for another one, too."""
        near = self if self.beside >= other.beside else other
        return Evidence(
            votes=max(self.votes, other.votes),
            meaning=max(self.meaning, other.meaning),
            meaning_place=max(self.meaning_place, other.meaning_place),
            words=max(self.words, other.words),
            words_place=max(self.words_place, other.words_place),
            spelling_place=max(self.spelling_place, other.spelling_place),
            related=max(self.related, other.related),
            beside=near.beside,
            seed=near.seed,
        )


def add_hits(evidence: dict[UUID, Evidence], name: str, hits: Sequence[Hit]) -> None:
    """Adds what the channel ``name`` found to the evidence of each card."""
    best = hits[0].score if hits else 0.0
    far = hits[min(_NEAREST, len(hits)) - 1].score if hits else 0.0
    for rank, hit in enumerate(hits):
        told = evidence.get(hit.card_id)
        if told is None:
            told = evidence[hit.card_id] = Evidence()
        # A card that only the graph found is looked up when its hit is good.
        told.votes += hit.score / 2 / (RRF_K + 1) if name == "graph" else 1 / (RRF_K + 1 + rank)
        place = _PACE / (_PACE + rank)
        if name == "semantic":
            told.meaning = (hit.score - far) / (best - far) if best > far else 1.0
            told.meaning_place = place
        elif name == "tags":
            told.words = hit.score / best if best > 0 else 0.0
            told.words_place = place
        elif name == "fuzzy":
            told.spelling_place = place
        elif name == "graph":
            if hit.beside is None:
                told.related = hit.score
            else:
                told.beside, told.seed = hit.score, hit.beside


def of_share(share: float, *, inside: bool) -> Evidence:
    """Returns the evidence of a card that no channel has seen yet, by its share of the question's terms.

    The share stands for each channel that finds cards by their content: a card with all the terms counts as the best
    hit of each. ``inside`` says that the card lies in the time that the question names.
    """
    first = 1 / (RRF_K + 1)
    return Evidence(
        votes=(3 * share + inside) * first,
        meaning=share,
        meaning_place=share,
        words=share,
        words_place=share,
        spelling_place=share,
    )


def strongest(evidence: Mapping[UUID, Evidence]) -> dict[UUID, float]:
    """Returns the votes of each card, best first, as parts of the best one's. Ties are ordered by id."""
    ordered = sorted(
        (-told.votes, card_id.int, card_id) for card_id, told in evidence.items() if told.votes > 0
    )
    best = -ordered[0][0] if ordered else 0.0
    return {card_id: -votes / best for votes, _, card_id in ordered}
