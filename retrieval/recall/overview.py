"""The order of an answer to "what do you know about me?": the most important current states of every context layer."""

from collections import Counter
from collections.abc import Mapping
from functools import cache
from operator import itemgetter
from uuid import UUID

from events.language.concepts import all_concepts
from projectors.cards.card import Card
from retrieval.query.scope import OWNER
from retrieval.recall.fusion import RRF_K, Evidence
from retrieval.recall.ranking.asked import Asked, asks
from retrieval.recall.ranking.candidate import Candidate, note_subjects
from retrieval.recall.ranking.features import COMMON_CONCEPTS, holds
from retrieval.recall.ranking.newer import compare
from retrieval.recall.ranking.places import Ranking

_KINDS = ("state", "reference", "knowledge", "event")
"""What is true now comes first. Concepts and events only fill the places that are left, then what the user asked."""
_LEAST_OF_A_LAYER = 20
_COMPARED = 100  # the most cards that are compared with newer words


def of_each_layer(k: int) -> int:
    """Returns how many cards of each kind and layer are read for ``k`` places. Not all of them get a place."""
    return max(_LEAST_OF_A_LAYER, k + k // 4)


@cache
def registered() -> tuple[str, ...]:
    """Returns the well-known concepts that distinguish a person from others."""
    return tuple(each.key for each in all_concepts() if each.key not in COMMON_CONCEPTS)


def overview(cards: Mapping[UUID, Card], terms: Mapping[UUID, frozenset[int]], asked: Asked) -> Ranking:
    """Returns all ``cards`` in the order of an overview. The words of the question do not count.

    Within a kind, what newer words surely ended comes last. The layers take turns, so each layer has a card among the
    first ones; the layer that was asked for begins. Within a layer, the facts about the user come before facts about
    others, a well-known fact with one value before others, and then what was said more often and what was confirmed
    later. Equal contents have one place.
    """
    ordered = sorted(
        (card for card in cards.values() if card.kind != "state" or holds(card, asked.question)),
        key=lambda card: (_kind(card), *_importance(card), card.card_id),
    )
    candidates = {
        card.card_id: Candidate(card=card, evidence=Evidence(), terms=terms.get(card.card_id, frozenset()))
        for card in ordered
    }
    note_subjects([*candidates.values()])
    if asked.about_now:
        compare([*candidates.values()], asked, most=_COMPARED)
    newer = {
        card_id: each.ended_by.card_id
        for card_id, each in candidates.items()
        if each.ended_by is not None and each.surely
    }
    told: dict[tuple[str, str], UUID] = {}
    same: dict[UUID, UUID] = {}
    turns: Counter[tuple[int, str | None]] = Counter()
    placed: list[tuple[tuple[int, bool, int, bool], UUID]] = []
    for card in ordered:
        first = told.setdefault((card.kind, card.content), card.card_id)
        if first != card.card_id:
            same[card.card_id] = first
            continue
        kind = _kind(card)
        turns[kind, card.context_layer] += 1
        turn, other = turns[kind, card.context_layer], card.context_layer != asked.context_layer
        placed.append(((kind, card.card_id in newer, turn, other), card.card_id))
    places = [
        candidates[card_id].scored({"overview": 1 / (RRF_K + place)})
        for place, (_, card_id) in enumerate(sorted(placed, key=itemgetter(0)), 1)
    ]
    return Ranking(places, {}, same, newer)


def _kind(card: Card) -> int:
    return len(_KINDS) if card.episode and asks(card.content) >= 1 else _KINDS.index(card.kind)


def _importance(card: Card) -> tuple[bool, bool, bool, int, int, float]:
    """The sort key of a card within its kind: less is more important."""
    return (
        card.entity != OWNER,
        card.concept_key not in registered(),
        card.cardinality != "single_value",
        -(card.importance or 0),
        -card.mentions,
        -card.last_verified.timestamp(),
    )
