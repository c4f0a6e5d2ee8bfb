"""What a question asks, and of whom: all that the features of its cards have in common."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from uuid import UUID

from events.language.asking import asking
from events.language.changes import READ
from events.language.concepts import concept
from events.language.terms import analyse, term_keys
from events.modes.registry import Modes
from events.types.cards import INJECTED, PASTED
from projectors.cards.card import Card
from retrieval.query.question import Question, TimeWindow
from retrieval.query.question_forms import asks_for_pasted
from retrieval.recall.ranking.candidate import Candidate

_NUMBER = re.compile(r"(?<![a-z0-9])[a-z]*\d[a-z0-9]*(?:[.,:/-][a-z0-9]+)*")
# A statement about the one whom the assistant talks to, up to the end of its sentence. An order or a question is none.
_CLAIM = re.compile(
    r"(?:\byou(?:'re|'ve| (?:are|were|have|had|lived?|work(?:ed)?|like|love|own|moved|said|told|mentioned))\b"
    r"|\byour [^.!?\n]{1,60}? (?:is|are|was|were)\b"
    r"|[你您](?:是|住|有|在|叫|[說说]過|说过|提到|喜歡|喜欢|[剛刚]|已[經经]|之前|的[^。！？\n]{1,20}?是))"
    r"[^.!?。！？\n]*+(?![?？])",
    re.IGNORECASE,
)
_CROWD = 60  # cards: the channel of meaning finds no more
_MORE = 6  # terms beside those of the question: a card with so many tells enough

# Most recalls of a user see the same cards as the recall before.
asks = lru_cache(maxsize=8192)(asking)


@lru_cache(maxsize=4096)
def words_of(value: str) -> tuple[str, ...]:
    """Returns the terms at the beginning of a value."""
    return tuple(analyse(value[:READ]))


@lru_cache(maxsize=4096)
def _numbers(text: str) -> frozenset[str]:
    """Returns the numbers and the codes with a digit in a text, as they are written."""
    return frozenset(_NUMBER.findall(text[:READ].casefold()))


@lru_cache(maxsize=4096)
def _claimed(text: str, user_id: str) -> frozenset[int]:
    """Returns the keys of the words of an assistant's claims about the user."""
    claims = " ".join(claim[0] for claim in _CLAIM.finditer(text.replace("’", "'")))
    return frozenset(term_keys(user_id, analyse(claims)))


@dataclass(frozen=True, kw_only=True)
class Asked:
    """One question.

    ``near`` is the number of cards that the channel of meaning found for it.
    ``disputed`` are the cards of conflicts that wait for a verdict. Until then the old value holds. ``over`` names, for
    a turn whose only fact another card superseded, that card. ``retracted`` are turns whose facts all were retracted.
    """

    question: Question
    user_id: str
    near: int = 0
    disputed: frozenset[UUID] = frozenset()
    over: Mapping[UUID, UUID] = field(default_factory=dict)
    retracted: frozenset[UUID] = frozenset()
    context_layer: str | None = None
    modes: Modes | None = None
    first_mode: str | None = None

    @cached_property
    def stretch(self) -> TimeWindow | None:
        """The stretch of time that the question names, unless it is vague."""
        span = self.question.span
        return None if span is None or span.vague else span

    @cached_property
    def crowd(self) -> float:
        """Returns how many cards compete for the answer, from 0 for very few to 1 for 60 and more.

        Among few cards, a common word finds a card by chance, and the nearest card by meaning is likely the right one.
        Without any card by its meaning, the words are all there is, and they count fully.
        """
        return min(1.0, self.near / _CROWD) if self.near else 1.0

    @cached_property
    def of_the_past(self) -> bool:
        """True when the question names a stretch of time that is over."""
        return (
            self.stretch is not None
            and self.stretch.end is not None
            and self.stretch.end <= self.question.now
        )

    @cached_property
    def about_now(self) -> bool:
        """True when it asks what holds, in whatever tense: neither in a time of the past nor how it was before."""
        question = self.question
        if question.intent == "past":
            return self.stretch is None and not question.of_before
        return question.intent in ("present", "list") and not self.of_the_past

    def yields(self, card: Card) -> bool:
        """True for what is no answer beside the user's own words, unless the question asks what the assistant said.

        A turn that is mostly a prompt injection, and an assistant's claim about the user on what the question asks.
        """
        if self.question.of_assistant or not card.episode:
            return False
        if card.provenance != "assistant_stated":
            return INJECTED in card.tags
        return not self.keys.isdisjoint(_claimed(card.content[:READ], self.user_id))

    @cached_property
    def keys(self) -> frozenset[int]:
        """The keys of the question's own terms."""
        return frozenset(term_keys(self.user_id, self.question.weights))

    def pasted(self, card: Card) -> bool:
        """True for pasted data that nobody asked for."""
        return PASTED in card.tags and not asks_for_pasted(self.question.text)

    def pace(self, card: Card) -> str | None:
        """Returns the decay that the card's mode declares, or None."""
        mode = self.modes.mode(card.project_id, card.mode) if self.modes else None
        return None if mode is None else mode.default_decay

    def is_of_first_mode(self, card: Card) -> bool:
        """True for a card of the mode that the session had last."""
        if self.first_mode is None or not self.modes:
            return False
        return self.modes.belonging(card.project_id, card.mode) == self.first_mode

    def tells_more(self, candidate: Candidate) -> float:
        """Returns how much a card tells beside the words of the question, from 0 to 1."""
        return min(_MORE, len(candidate.terms - self.keys)) / _MORE

    def for_another(self, card: Card) -> bool:
        """True for a well-known fact when the question asks for other facts only."""
        asked, key = self.question.concepts, card.concept_key
        return bool(asked) and key not in asked and concept(key or "") is not None

    def value(self, card: Card) -> frozenset[int] | None:
        """Returns the keys of the words of a state's value, or None for another card."""
        if card.kind != "state" or card.value is None:
            return None
        return frozenset(term_keys(self.user_id, words_of(card.value)))

    @cached_property
    def _named(self) -> frozenset[str]:
        # A message that tells several things names numbers that its question is not about.
        return frozenset() if self.question.message else _numbers(self.question.text)

    def names_numbers_of(self, card: Card) -> float:
        """Returns the part of the numbers and codes of the question that a card has, from 0 to 1."""
        return len(self._named & _numbers(card.content)) / len(self._named) if self._named else 0.0

    def members(self, found: Iterable[Candidate]) -> set[frozenset[int]]:
        """Returns what a list can have: the values of the states that the question does not name itself."""
        return {value for each in found if (value := self.value(each.card)) and not value <= self.keys}

    def empty(self, candidate: Candidate) -> float:
        """Returns how little a card tells, from 0 to 1: a question, a label, a greeting. Its answer is beside it."""
        card = candidate.card
        return max(asks(card.content) if card.episode else 0.0, 1 - self.tells_more(candidate))
