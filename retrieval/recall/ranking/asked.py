"""What a question asks, and of whom: all that the features of its cards have in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from uuid import UUID

from events.language.asking import asking
from events.language.changes import READ
from events.language.terms import analyse, term_keys
from events.modes.registry import Modes
from events.types.cards import PASTED
from projectors.cards.card import Card
from retrieval.query.pasted import asks_for_pasted
from retrieval.query.question import Question

_MORE = 6  # terms beside those of the question: a card with so many tells enough
_NONE: frozenset[int] = frozenset()


# Most recalls of a user see the same cards as the recall before.
@lru_cache(maxsize=8192)
def asks(text: str) -> float:
    """Returns how much of a text asks, from 0 to 1."""
    return asking(text)


@lru_cache(maxsize=4096)
def words_of(value: str) -> tuple[str, ...]:
    """Returns the terms at the beginning of a value."""
    return tuple(analyse(value[:READ]))


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One question. ``terms`` are the keys of the own terms of the cards.

    ``disputed`` are the cards of conflicts that wait for a verdict. Until then the old value holds. ``over`` names, for
    a turn whose only fact another card superseded, that card.
    """

    question: Question
    user_id: str
    terms: Mapping[UUID, frozenset[int]] = field(default_factory=dict)
    disputed: frozenset[UUID] = frozenset()
    over: Mapping[UUID, UUID] = field(default_factory=dict)
    context_layer: str | None = None
    modes: Modes | None = None
    first_mode: str | None = None

    @cached_property
    def about_now(self) -> bool:
        """True when it asks what holds, in whatever tense: neither in a stretch of time nor how it was before."""
        question = self.question
        if question.span is not None and not question.span.vague:
            return False
        return question.intent in ("present", "list") or (
            question.intent == "past" and not question.of_before
        )

    @cached_property
    def keys(self) -> frozenset[int]:
        """The keys of the question's own terms."""
        return frozenset(term_keys(self.user_id, self.question.weights))

    @cached_property
    def _pasted(self) -> bool:
        return asks_for_pasted(self.question.text)

    def pasted(self, card: Card) -> bool:
        """True for pasted data that nobody asked for."""
        return PASTED in card.tags and not self._pasted

    def tells_more(self, card: Card) -> float:
        """Returns how much a card tells beside the words of the question, from 0 to 1."""
        return min(_MORE, len(self.terms.get(card.card_id, _NONE) - self.keys)) / _MORE

    def value(self, card: Card) -> frozenset[int] | None:
        """Returns the keys of the words of a state's value, or None for another card."""
        if card.kind != "state" or card.value is None:
            return None
        return frozenset(term_keys(self.user_id, words_of(card.value)))

    def members(self, cards: Iterable[Card]) -> set[frozenset[int]]:
        """Returns what a list can have: the values of the states that the question does not name itself."""
        values = (self.value(card) for card in cards)
        return {value for value in values if value is not None and not value <= self.keys}

    def empty(self, card: Card) -> float:
        """Returns how little a card tells, from 0 to 1: a question, a label, a greeting. Its answer is beside it."""
        return max(asks(card.content) if card.episode else 0.0, 1 - self.tells_more(card))
