"""What a recall answers, and what stands beside a card of it. The HTTP service renders it as JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from events.insights import Insight
from events.modes.registry import UNDECLARED, Modes
from events.resources.cards import Contradiction
from events.resources.recall import Beside, ChannelPlace, ChannelReport, PastFact
from projectors.cards.card import Card

MOST_BESIDE = 3
MOST_WORDS = 600
"""The characters of a turn's own words that stand beside a card."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CardAnswer:
    """A card that answers a question. A ``pending`` card is in no table yet.

    ``aging`` and ``outdated`` say that the card is old at the time of the question. ``time_passed`` says that the time
    of a planned event has passed by then, and nobody said that it happened. ``beside`` are other cards of the same
    turn. ``perhaps_no_longer`` holds the later words that may have ended what the card says. ``past_facts`` no longer
    hold, and the words of the turn that are shown still say them.
    """

    card: Card
    score: float
    channels: Mapping[str, ChannelPlace]
    pending: bool
    aging: bool
    outdated: bool
    time_passed: bool = False
    beside: Sequence[Beside] = ()
    perhaps_no_longer: Beside | None = None
    past_facts: Sequence[PastFact] = ()

    @property
    def card_id(self) -> UUID:
        return self.card.card_id


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallAnswer:
    """The cards that answer, best first; what contradicts them; how each channel did.

    ``insights`` are about the question and stand below the cards, the nearest first.
    ``warnings`` name what is missing from the answer, and why. ``explain`` is None unless the question asked for it.
    ``terms`` are the search terms of the question, with their weights.
    ``modes`` are the modes that were searched, by their present names; None: all. ``known_modes`` are the user's modes.
    """

    current_time: datetime
    cards: Sequence[CardAnswer]
    contradictions: Sequence[Contradiction]
    channels: Mapping[str, ChannelReport]
    warnings: tuple[str, ...] = ()
    explain: Mapping[str, object] | None = None
    terms: Mapping[str, float] = field(default_factory=dict)
    modes: tuple[str, ...] | None = None
    known_modes: Modes = UNDECLARED
    insights: Sequence[Insight] = ()


def beside(lead: Card, others: Sequence[Card]) -> tuple[Beside, ...]:
    """Returns the cards beside ``lead``: its turn's own words first, then the best-placed others.

    ``others`` are in the order of the ranking, and at most :data:`MOST_BESIDE` of them stand beside the lead. A card
    with the words of the lead or of a better card is left out.
    """
    distinct: dict[str, Card] = {}
    for card in others:
        if card.content != lead.content:
            distinct.setdefault(card.content, card)
    ordered = sorted(distinct.values(), key=lambda card: not card.episode)
    return tuple(short(card) for card in ordered[:MOST_BESIDE])


def short(card: Card) -> Beside:
    """Returns a card in short. The words of an episode are cut after :data:`MOST_WORDS` characters."""
    within = not card.episode or len(card.content) <= MOST_WORDS
    return Beside(
        card_id=card.card_id,
        kind=card.kind,
        content=card.content if within else card.content[:MOST_WORDS].rstrip() + "…",
        episode=card.episode or False,
        retracted=card.retracted,
    )


def past_fact(card: Card, instead: Card | None) -> PastFact:
    """Returns a fact that no longer holds, with the one that took its place."""
    return PastFact(**short(card).model_dump(), instead=None if instead is None else instead.content)


def shown_past(past: Mapping[UUID, Sequence[PastFact]], told: Sequence[Card]) -> list[PastFact]:
    """Returns the facts of ``past`` that the words of a turn among ``told`` still say."""
    facts = (fact for card in told for fact in past.get(card.card_id, ()))
    return list({fact.card_id: fact for fact in facts}.values()) if any(each.episode for each in told) else []


def without_words(
    leads: Sequence[Card], groups: Mapping[UUID, Sequence[UUID]], cards: Mapping[UUID, Card]
) -> list[UUID]:
    """Returns the leading cards that are no episode and have none beside them."""
    return [
        card.card_id
        for card in leads
        if not card.episode and not any(cards[other].episode for other in groups.get(card.card_id, ()))
    ]
