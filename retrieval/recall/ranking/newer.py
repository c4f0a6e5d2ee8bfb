"""What was said later stands above what was said earlier about the same thing, when a question asks what holds now."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from events.language.chinese_script import to_simplified
from events.language.terms import analyse
from projectors.cards.card import Card
from retrieval.query.question import Question
from retrieval.recall.ranking.changes import (
    amounts,
    has_number,
    is_brief,
    moments,
    names_a_place,
    tells_of_a_change,
    withdraws,
)
from retrieval.recall.ranking.placed import Placed

NEWER = "newer on the same"
_AMONG = 10  # the first places, among which what was said later goes first
_NEAR = 5  # among these a weaker sign is enough, because the earlier card stays in sight
_SAME_SHARE = 0.5  # of an earlier card's words of the question: a later card with so many is about the same
_LEAST_SHARED = 2
_ONE_WORD_SHARE = 0.6  # the same for one shared word, when the question names no kind of answer
_SAME_VALUE_SHARE = 0.8  # the same of a later card that tells of no change, and another value
_STATE_SHARE = 0.35  # the same of a state that tells the kind of answer that the question asks for
_SAME_TERMS = 0.4  # of all words of an earlier card, without numbers
_READ = 600  # the characters of a card that are compared
_WHEN = re.compile(
    r"\bwhen\b|\bwhat (?:time|day|date|month|year)\b|\bwhich (?:day|date|month|week)\b|\bhow late\b|\bhow early\b"
    r"|什么时候|何时|几时|几点|几号|几月|哪一?天|哪一?日|哪个?月|星期几|礼拜几|周几|什么时间|哪一?年"
)
_HOW_MUCH = re.compile(
    r"\bhow (?:much|many|old|long|far|tall|big|often)\b"
    r"|多少(?!号)|(?<![期拜周])几(?!乎|点|号|月|时)|多大|多高|多重|多久|多长"
)
_CODE = re.compile(r"\b(?:number|code|password|pin)\b|密码|号码|账号|代码")
_NAME = re.compile(r"\b(?:re|code)?named?\b|\bcalled\b|叫(?![我他她车醒])|名字|怎么称呼|改名")
_WHO = re.compile(r"\bwho(?:m|se)?\b|谁|哪位")
_WHERE = re.compile(
    r"\bwhere\b|\bwhich (?:room|floor|level|terminal|gate|hotel|place|city|town|venue)\b"
    r"|哪里|哪儿|哪边|在哪|停哪|去哪|到哪|何处|什么地方"
)


def newer_first(placed: Sequence[Placed], cards: Mapping[UUID, Card], question: Question) -> list[Placed]:
    """Returns the places with what was said later above what was said earlier about the same thing.

    Only questions about now are concerned, and only the first places. A later card takes the place of an earlier one
    when it tells of a change and holds half of the question's words that the earlier one holds. It also does when it
    tells another value of the same thing and holds four fifths of those words: another amount, or another time when
    the question asks for a time. Among the first :data:`_NEAR` places less is enough, and a state passes an episode.
    A brief card there that does not tell what the question asks for (a time, an amount, a place, a name) passes
    nothing.
    """
    if not about_now(question):
        return list(placed)
    first, rest = list(placed[:_AMONG]), list(placed[_AMONG:])
    asked = Asked.of(question)
    told = {each.card_id: told_of(cards[each.card_id], question) for each in first}
    passed: set[UUID] = set()
    for place in range(1, len(first)):
        newer = told[first[place].card_id]
        for above in range(place if newer is not None else 0):
            older = first[above].card_id
            # One later card passes an earlier one. More of them would push the earlier one out of sight.
            if (
                older not in passed
                and newer is not None
                and newer.succeeds(told[older], question, asked, near=place < _NEAR)
            ):
                passed.add(older)
                moved = first.pop(place)
                first.insert(above, moved.just_above(first[above], NEWER))
                break
    return first + rest


def about_now(question: Question) -> bool:
    """True when a question asks what holds, in whatever tense: neither in a stretch of time nor how it was before."""
    if question.span is not None and not question.span.vague:
        return False
    return question.intent in ("present", "list") or (question.intent == "past" and not question.of_before)


@dataclass(frozen=True, slots=True)
class Asked:
    """The kind of answer that a question asks for. All are False when its words do not tell."""

    time: bool
    amount: bool
    place: bool
    name: bool
    person: bool

    @property
    def kind(self) -> bool:
        """True when the question tells which kind of answer it asks for."""
        return self.time or self.amount or self.place or self.name or self.person

    @classmethod
    def of(cls, question: Question) -> Asked:
        text = to_simplified(question.text[:_READ].casefold())
        return cls(
            time=_WHEN.search(text) is not None,
            amount=_HOW_MUCH.search(text) is not None and _CODE.search(text) is None,
            place=_WHERE.search(text) is not None,
            name=_NAME.search(text) is not None,
            person=_WHO.search(text) is not None,
        )


@dataclass(frozen=True, slots=True)
class Told:
    """What a card of the user's own words says: when, the words it shares with the question, and what is new in it.

    ``terms`` are all its words without numbers. ``amounts`` are those that the question does not name, and ``moments``
    the times as they are written. ``place`` and ``named``: it has a word that leads a place or a name. ``state``: it is
    a state in force.
    """

    said_at: datetime
    terms: frozenset[str]
    words: frozenset[str]
    change: bool
    amounts: Mapping[str, frozenset[str]]
    moments: frozenset[str]
    place: bool
    named: bool
    state: bool
    brief: bool

    def succeeds(self, other: Told | None, question: Question, asked: Asked, *, near: bool) -> bool:
        if other is None or self.said_at <= other.said_at:
            return False
        both = self.words & other.words
        near = near and self.brief
        if near and not self.answers(asked):
            return False
        if len(both) < (1 if near else _LEAST_SHARED):
            return False
        held = sum(question.weights[word] for word in other.words)
        share = sum(question.weights[word] for word in both) / held
        least = _SAME_SHARE if asked.kind or len(both) >= _LEAST_SHARED else _ONE_WORD_SHARE
        if self.change:
            return share >= least
        if near and self.state and not other.state:
            return share >= (_STATE_SHARE if asked.kind else _SAME_VALUE_SHARE)
        return (
            share >= (least if near else _SAME_VALUE_SHARE)
            and self._is_about_the_same(other)
            and self._tells_another_value(other, asked)
        )

    def answers(self, asked: Asked) -> bool:
        """True when the card tells a value of the kind that the question asks for, or any kind is asked for."""
        return (
            (not asked.time or bool(self.moments))
            and (not asked.amount or bool(self.amounts))
            and (not asked.place or self.place)
            and (not asked.name or self.named)
            and (not asked.person or self.state or self.change)
        )

    def _is_about_the_same(self, other: Told) -> bool:
        """True when two fifths of the words of ``other`` are here, too: two things may have values of one property."""
        return len(self.terms & other.terms) >= _SAME_TERMS * len(other.terms)

    def _tells_another_value(self, other: Told, asked: Asked) -> bool:
        if asked.time and self.moments and other.moments and self.moments.isdisjoint(other.moments):
            return True
        return any(
            values.isdisjoint(other.amounts.get(kind, values)) for kind, values in self.amounts.items()
        )


def told_of(card: Card, question: Question) -> Told | None:
    """Returns what the user said with ``card``, or None for a card that tells nothing that holds or is not theirs."""
    text = card.content[:_READ]
    if card.provenance == "assistant_stated" or card.kind in ("knowledge", "reference") or withdraws(text):
        return None
    asked = amounts(question.text[:_READ])
    told = {kind: values - asked.get(kind, frozenset()) for kind, values in amounts(text).items()}
    terms = frozenset(term for term in analyse(text) if not has_number(term))
    return Told(
        card.said_at,
        terms,
        terms & question.weights.keys(),
        tells_of_a_change(text),
        {kind: values for kind, values in told.items() if values},
        moments(text),
        names_a_place(text),
        _NAME.search(to_simplified(text.casefold())) is not None,
        card.kind == "state"
        and not card.ended
        and (card.superseded_at is None or card.superseded_at > question.now),
        is_brief(text),
    )
