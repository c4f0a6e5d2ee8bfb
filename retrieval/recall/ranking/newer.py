"""What newer words do to older cards: a later turn on the same topic may end what an earlier card says.

Everything is decided from the cards of one recall, without a model. The words of topics are compared as the stored keys
of their terms, so no text is analysed again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from functools import lru_cache
from math import log
from uuid import UUID

from events.language.changes import READ, differ, mends, tells_of_a_change, values
from events.language.concepts import concept, concepts_asked, concepts_changed
from events.language.terms import term_keys
from projectors.cards.card import Card
from retrieval.query.scope import OWNER
from retrieval.recall.ranking.asked import Asked, asks, words_of

COMPARED = 30
"""The best candidates, whose topics are compared."""
_SAME_TOPIC = 0.5  # of the weight of an older card's topic: a newer card with so much is about the same
_ALIKE = 0.05  # of the weight of all words of an older turn: fewer words in common may be another matter
_SOON = timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class Newer:
    """What newer cards say about the older ones, by card. Numbers are from 0 to 1.

    ``revised`` tells how much of a card's topic a newer card has that tells of a change or another value, and
    ``revises`` tells the same of the newer card. ``by`` names, for a card that perhaps no longer holds, the card that
    may have ended it. Of those in ``surely``, the newer card names the value or the slot of a fact, changes a value to
    another one of its kind, or mends the very words.
    """

    revised: dict[UUID, float] = field(default_factory=dict)
    revises: dict[UUID, float] = field(default_factory=dict)
    by: dict[UUID, UUID] = field(default_factory=dict)
    surely: set[UUID] = field(default_factory=set)

    def ends(self, older: UUID, newer: UUID, share: float, *, surely: bool) -> None:
        self.revised[older] = max(share, self.revised.get(older, 0.0))
        self.revises[newer] = max(share, self.revises.get(newer, 0.0))
        if share >= _SAME_TOPIC and (surely or older not in self.surely):
            self.by[older] = newer
            if surely:
                self.surely.add(older)

    def holds_again(self, card: UUID) -> None:
        self.by.pop(card, None)
        self.revised.pop(card, None)
        self.surely.discard(card)


def newer_on_the_same(cards: Sequence[Card], asked: Asked, near: Mapping[UUID, float]) -> Newer:
    """Compares the cards of one recall.

    The topic of a card are its words that the question has, or all its words when the question has none of them. The
    topic of a state is its value, too, and its slot, when the question asks for it. Only what one speaker said counts,
    and only a text that tells something ends anything. Cards of one turn are never compared, and share what ends them.
    A turn that repeats a value without a word of change refreshes it.
    """
    own = sorted(
        (_Said.of(each, asked.terms.get(each.card_id, frozenset())) for each in cards if _told_by_user(each)),
        key=lambda said: (said.card.said_at, said.card.card_id),
    )
    spread = Counter(term for said in own for term in said.terms)
    weights = {term: log(1 + len(own) / count) for term, count in spread.items()}
    found = Newer()
    for place, older in enumerate(own):
        later = [newer for newer in own[place + 1 :] if newer.tells and newer.is_later_than(older)]
        if later and older.card.card_id not in asked.disputed:
            _ended(older, later, weights, asked, found, near)
    for place, newer in enumerate(own):
        if newer.tells and mends(newer.card.content):
            _mended(newer, own[:place], found)
    for ended, by in asked.over.items():
        found.ends(ended, by, 1.0, surely=True)
    _share_among_turns(own, found)
    return found


@dataclass(frozen=True, slots=True)
class _Said:
    """A card of the user's words, as it is compared. ``tells``: it is a turn that tells something."""

    card: Card
    terms: frozenset[int]
    tells: bool

    @classmethod
    def of(cls, card: Card, terms: frozenset[int]) -> _Said:
        return cls(card, terms, bool(card.episode) and asks(card.content) < 1)

    def is_later_than(self, other: _Said) -> bool:
        one, two = self.card, other.card
        return (
            one.said_at > two.said_at
            and one.project_id == two.project_id
            and one.speaker == two.speaker
            and set(one.turn_ids).isdisjoint(two.turn_ids)
        )


def _ended(
    older: _Said,
    later: Sequence[_Said],
    weights: Mapping[int, float],
    asked: Asked,
    found: Newer,
    near: Mapping[UUID, float],
) -> None:
    """Notes what each of the ``later`` turns, in their order, does to an older card."""
    card = older.card
    value = asked.value(card)
    slot = card.concept_key if card.concept_key in asked.question.concepts and card.entity == OWNER else None
    # A word of a topic or a value that is often spoken of is no weaker sign of it.
    topic = older.terms & asked.keys or older.terms
    message = asked.question.message
    # A value that the question names tells which thing is meant.
    others = frozenset() if value is not None else _values(card.content)
    meant = others & _values(asked.question.text)
    of_slot = _slot_keys(card, asked.user_id)
    for newer in later:
        changes = _changes(newer.card.content)
        if value is not None:
            share = _share(value or topic, newer.terms)
            if slot is not None:
                # "Moved" is news of many things. A turn that is far from the question is no news of its slot.
                news = near.get(newer.card.card_id, 0.0) >= 0 and slot in _news(newer.card.content)
                changes = changes or news
                share = 1.0 if news or slot in _concepts(newer.card.content) else share
            named = max(share, _share(of_slot, newer.terms, weights))
            if changes and named >= _SAME_TOPIC:
                found.ends(card.card_id, newer.card.card_id, named, surely=True)
            elif share >= 1:
                found.holds_again(card.card_id)
        own = _values(newer.card.content) if others else others
        another = differ(own, others)
        if not meant <= own or not (changes or another):
            continue
        share = _share(topic, newer.terms)
        if share and _share(older.terms, newer.terms, weights) < _ALIKE:
            share = 0.0
        replaced = changes and another and not message
        if replaced:
            # "They moved it to 4:30" names no word of the topic. Both turns are near to the question.
            share = max(share, min(near.get(card.card_id, 0.0), near.get(newer.card.card_id, 0.0)))
        if share:
            found.ends(card.card_id, newer.card.card_id, share, surely=replaced)


def _mended(correction: _Said, before: Sequence[_Said], found: Newer) -> None:
    """Notes the last turn before a brief correction that it can mean. It needs no word of that turn."""
    for said in reversed(before):
        if (
            said.card.episode
            and correction.is_later_than(said)
            and correction.card.session_id == said.card.session_id
            and correction.card.said_at - said.card.said_at <= _SOON
        ):
            found.ends(said.card.card_id, correction.card.card_id, 1.0, surely=True)
            return


def _share_among_turns(own: Sequence[_Said], found: Newer) -> None:
    """Gives the cards of a turn what surely ends one of them."""
    ended = {
        turn: said.card.card_id
        for said in own
        if said.card.card_id in found.surely
        for turn in said.card.turn_ids
    }
    for said in own:
        for turn in said.card.turn_ids:
            if turn in ended and said.card.card_id not in found.surely:
                found.ends(said.card.card_id, found.by[ended[turn]], 1.0, surely=True)


def _share(topic: frozenset[int], said: frozenset[int], weights: Mapping[int, float] | None = None) -> float:
    """Returns how much of the words of a topic a text has, by number or by weight."""
    shared = topic & said
    if not shared or weights is None:
        return len(shared) / len(topic) if shared else 0.0
    return sum(weights[term] for term in shared) / sum(weights.get(term, 0.0) for term in topic)


def _told_by_user(card: Card) -> bool:
    return card.provenance != "assistant_stated" and card.kind in ("state", "event")


def _slot_keys(card: Card, user_id: str) -> frozenset[int]:
    """Returns the keys of the words that name a fact with one value, if the registry does not know it."""
    key = card.concept_key
    if key is None or card.kind != "state" or card.cardinality != "single_value" or concept(key) is not None:
        return frozenset()
    return frozenset(term_keys(user_id, words_of(key.replace("_", " "))))


# Most recalls of a user see the same cards as the recall before.
@lru_cache(maxsize=4096)
def _changes(text: str) -> bool:
    return tells_of_a_change(text)


@lru_cache(maxsize=4096)
def _values(text: str) -> frozenset[str]:
    return values(text)


@lru_cache(maxsize=4096)
def _news(text: str) -> frozenset[str]:
    return concepts_changed(text[:READ])


@lru_cache(maxsize=4096)
def _concepts(text: str) -> tuple[str, ...]:
    return concepts_asked(text[:READ])
