"""What stands beside a card that answers: what qualifies it, and the other cards of its turn, its own words first."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from projectors.cards.card import Card
from retrieval.recall.answer import Beside

MOST_BESIDE = 3
MOST_WORDS = 600
"""The characters of a turn's own words that stand beside a card."""


def beside(lead: Card, others: Sequence[Card]) -> tuple[Beside, ...]:
    """Returns the cards beside ``lead``: its turn's own words first, then the best-placed others.

    ``others`` are in the order of the ranking, and at most :data:`MOST_BESIDE` of them stand beside the lead. A card
    with the words of the lead or of a better card is left out. The words of an episode are cut after
    :data:`MOST_WORDS` characters, and an ellipsis then stands at the end.
    """
    distinct: dict[str, Card] = {}
    for card in others:
        if card.content != lead.content:
            distinct.setdefault(card.content, card)
    ordered = sorted(distinct.values(), key=lambda card: not card.episode)
    return tuple(short(card) for card in ordered[:MOST_BESIDE])


def short(card: Card) -> Beside:
    """Returns a card in short."""
    return Beside(
        card_id=card.card_id,
        kind=card.kind,
        content=bounded(card),
        episode=card.episode or False,
        retracted=card.retracted,
    )


def without_words(
    leads: Sequence[Card], groups: Mapping[UUID, Sequence[UUID]], cards: Mapping[UUID, Card]
) -> list[UUID]:
    """Returns the leading cards that are no episode and have none beside them."""
    return [
        card.card_id
        for card in leads
        if not card.episode and not any(cards[other].episode for other in groups.get(card.card_id, ()))
    ]


def bounded(card: Card) -> str:
    """Returns the words of a card. Those of an episode are cut after :data:`MOST_WORDS` characters."""
    if not card.episode or len(card.content) <= MOST_WORDS:
        return card.content
    return card.content[:MOST_WORDS].rstrip() + "…"
