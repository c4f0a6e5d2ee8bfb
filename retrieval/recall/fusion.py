"""Fusion of the channels' hits: reciprocal rank fusion chooses the candidates, and the ranking weighs the evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any
from uuid import UUID

from retrieval.channels.channel import Hit

RRF_K = 60
_NEAREST = 20  # the hits among which places by meaning are compared
_PACE = 20  # the rank at which a place has fallen to a half


@dataclass(slots=True)
class Evidence:
    """What the channels tell of one card, as numbers that mean the same for every question. 0 is no evidence.

    ``votes`` is the sum of reciprocal ranks over the channels, from which the candidates are chosen. ``meaning``
    falls from 1 for the nearest card to 0 for the twentieth and below 0 for farther ones. ``nearness`` falls from 1
    with the cosine, whatever other cards lie between. ``words`` is the part of the best score of exact words.
    ``meaning_place``, ``words_place`` and ``spelling_place`` fall from 1 for the first place to a half at about the
    twentieth. ``related`` is the strength of a stated relation to a good hit, and ``beside`` the strength of a good
    hit, ``seed``, that was said just before or after.
    """

    votes: float = 0.0
    meaning: float = 0.0
    nearness: float = 0.0
    meaning_place: float = 0.0
    words: float = 0.0
    words_place: float = 0.0
    spelling_place: float = 0.0
    related: float = 0.0
    beside: float = 0.0
    seed: UUID | None = None

    def joined(self, other: Evidence) -> Evidence:
        """Returns the stronger of each pair of numbers: the evidence of a card that stands for another one, too."""
        seed = (self if self.beside >= other.beside else other).seed
        best: dict[str, Any] = {each: max(getattr(self, each), getattr(other, each)) for each in _NUMBERS}
        return Evidence(**best, seed=seed)


_NUMBERS = tuple(each.name for each in fields(Evidence) if each.name != "seed")


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
        place = _place(rank)
        if name == "semantic":
            told.meaning = (hit.score - far) / (best - far) if best > far else 1.0
            told.nearness = hit.nearness
            told.meaning_place = place
        elif name == "tags":
            told.words, told.words_place = hit.score / best if best > 0 else 0.0, place
        elif name == "fuzzy":
            told.spelling_place = place
        elif name == "graph" and hit.beside is None:
            told.related = hit.score
        elif name == "graph":
            told.beside, told.seed = hit.score, hit.beside


def place_behind(seen: Mapping[UUID, Evidence]) -> float:
    """Returns the number of a place behind every card that the semantic channel found; 0 when it found none.

    A card that the channel has not seen yet can have no lower place than this.
    """
    count = sum(told.meaning_place > 0 for told in seen.values())
    return _place(count) if count else 0.0


def _place(rank: int) -> float:
    return _PACE / (_PACE + rank)


def of_share(share: float, *, of_best: float, behind: float = 0.0, inside: bool) -> Evidence:
    """Returns the evidence of a card that no channel has seen yet, by its share of the question's terms.

    The share stands for the channels of meaning and spelling. ``of_best``, the share as a part of the best card's,
    stands for the channel of words, whose best hit counts fully. ``behind`` is the lowest place by meaning that the
    card can have. ``inside`` says that the card lies in the time that the question names.
    """
    votes = (3 * share + inside) / (RRF_K + 1)
    return Evidence(votes, share, share, max(share, behind), of_best, of_best, share)


def strongest(evidence: Mapping[UUID, Evidence]) -> dict[UUID, float]:
    """Returns the votes of each card, best first, as parts of the best one's. Ties are ordered by id."""
    ordered = sorted(
        (-told.votes, card_id.int, card_id) for card_id, told in evidence.items() if told.votes > 0
    )
    return {card_id: votes / ordered[0][0] for votes, _, card_id in ordered}
