"""Judges if shown cards hold the answer to a question. The judgement is deterministic and asks no model."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Literal

from evaluation.answers.conversations import Question
from evaluation.answers.keys import Key
from evaluation.answers.shown_cards import ShownCard, terms_of
from evaluation.answers.told_times import ToldTime, told_times
from events.language.chinese_script import has_cjk
from events.language.terms import fold, question_terms

Way = Literal["key", "date", "words", "none"]

COVERED = 0.6
"""Share of the words of an answer that one card must hold."""
_ITEMS = re.compile(r"[,;、，；。.]|\band\b|\bor\b|[和與与]")


def way_of(question: Question) -> Way:
    """Returns how the question is judged: by a key, by a date of its key, by the words of its gold, or not at all."""
    if question.key is not None:
        return "date" if question.key.when else "key"
    return "words" if _items(question) else "none"


def holds(question: Question, cards: Sequence[ShownCard]) -> bool:
    """True when ``cards`` hold the answer to the question. An answer in parts may stand in several cards."""
    if question.key is None:
        items = _items(question)
        return bool(items) and all(any(_covers(card, item) for card in cards) for item in items)
    key = question.key
    if key.when:
        return _comes_first(key, cards, lambda card: _tells(card, key))
    about = [card for card in cards if all(_says(card, text) for text in key.about)]
    if not all(any(_says(card, text) for card in about) for text in key.says):
        return False
    return not key.outdated or _comes_first(
        key, cards, lambda card: any(_says(card, text) for text in key.says)
    )


def swapped(question: Question, other: Question) -> Question:
    """Returns the question with the answer of ``other``: a control that must not be found."""
    if question.key is None or other.key is None:
        return replace(question, gold=other.gold, key=other.key)
    return replace(question, gold=other.gold, key=replace(other.key, about=question.key.about, outdated=()))


def answers_differ(question: Question, other: Question) -> bool:
    """True when the two answers have nothing in common, so that one can be the control of the other."""
    if question.key is None or other.key is None:
        return not set(terms_of(question.gold)) & set(terms_of(other.gold))
    if question.key.when and other.key.when:
        ours, theirs = (_wanted(each) for each in (question.key, other.key))
        return not any(one.first <= two.last and two.first <= one.last for one in ours for two in theirs)
    ours_said, theirs_said = (
        set(terms_of(" ".join(each.key.says))) for each in (question, other) if each.key
    )
    return not ours_said & theirs_said


def _tells(card: ShownCard, key: Key) -> bool:
    if not all(_says(card, text) for text in key.about):
        return False
    if any(_says(card, text) for text in key.says):
        return True
    return any(told.tells(wanted) for told in card.times for wanted in _wanted(key))


def _wanted(key: Key) -> list[ToldTime]:
    return [time for text in key.when for time in told_times(text)]


def _comes_first(key: Key, cards: Sequence[ShownCard], answers: Callable[[ShownCard], bool]) -> bool:
    """True when a card answers and no card with an outdated text stands before it."""
    for card in cards:
        if answers(card):
            return True
        if any(_says(card, text) for text in key.outdated):
            return False
    return False


def _says(card: ShownCard, text: str) -> bool:
    """True when the card holds one of the alternatives of ``text``."""
    return any(_holds_alternative(card, alternative) for alternative in text.split("|"))


def _holds_alternative(card: ShownCard, alternative: str) -> bool:
    if has_cjk(alternative):
        return all("".join(fold(part).split()) in card.folded for part in alternative.split())
    return card.terms.issuperset(terms_of(alternative))


def _items(question: Question) -> list[frozenset[str]]:
    """Returns the parts of the gold as terms, without the words of the question: these are found in any case."""
    asked = {*question_terms(question.text), *terms_of(question.text)}
    parts = (frozenset(terms_of(part)) - asked for part in _ITEMS.split(question.gold))
    return list(dict.fromkeys(part for part in parts if part))


def _covers(card: ShownCard, item: Iterable[str]) -> bool:
    wanted = set(item)
    return len(wanted & card.terms) >= COVERED * len(wanted)
