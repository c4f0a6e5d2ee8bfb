"""Turns that are understood by the turn before them: a correction, an assistant's answer, and what follows.

"No wait, it's the 3rd" has no word of the question and holds the answer. So does an answer to "recommend me a podcast",
when the question is what the assistant recommended. Such a turn stands above the turn that it replies to.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Protocol
from uuid import UUID

from projectors.cards.card import Card
from retrieval.query.question import Question
from retrieval.recall.ranking.changes import corrects, is_brief
from retrieval.recall.ranking.newer import Asked, about_now, told_of
from retrieval.recall.ranking.placed import Placed

CORRECTS, ANSWERS, FOLLOWS = "corrects the turn before", "answers the turn before", "follows the turn before"
_AMONG = 5  # the first places, whose replies are looked for
_REQUESTS = 3  # the same for answers of the assistant
_FOLLOWED, _SIGHT = 1, 4  # the turn after the first place stands fifth, unless it stands higher
_SOON = timedelta(minutes=30)
_READ = 600  # the characters of a card that are read


class Wanted(Protocol):
    """Decides if a card replies to a turn. ``at_once``: the user said nothing else between the two."""

    def __call__(self, card: Card, *, at_once: bool) -> bool: ...


def replies_first(placed: Sequence[Placed], cards: Mapping[UUID, Card], question: Question) -> list[Placed]:
    """Returns the places with each reply just above the turn that it replies to.

    A correction replies to the user's turn before it, when the question does not ask how things were before. It
    replies to an earlier one when it has a word of the question, or the kind of answer that is asked for. An answer
    of the assistant replies to the user's turn before it, when the question asks what the assistant answered. In any
    other case the brief turn of the user after the first place stands fifth, unless it stands higher, in a talk with an
    assistant. All count within half an hour in one session. Turns that were said at the same instant have no order.
    """
    found = list(placed)
    if question.of_assistant:
        return _raised(found, cards, _is_answer, _REQUESTS, ANSWERS)
    if about_now(question):
        asked = Asked.of(question)

        def mends(card: Card, *, at_once: bool) -> bool:
            if _of_assistant(card) or not corrects(card.content[:_READ]):
                return False
            told = told_of(card, question)
            return at_once or (
                told is not None and (bool(told.words) or (asked.kind and told.answers(asked)))
            )

        found = _raised(found, cards, mends, _AMONG, CORRECTS)
    if not found or not _talks_with_an_assistant(cards[found[0].card_id], cards):
        return found  # a note: its lines stand by themselves
    return _raised(found, cards, _is_follow_up, _FOLLOWED, FOLLOWS, least=_SIGHT)


def _raised(
    found: list[Placed],
    cards: Mapping[UUID, Card],
    wanted: Wanted,
    among: int,
    reason: str,
    *,
    least: int = 0,
) -> list[Placed]:
    """Moves each ``wanted`` reply to one of the first ``among`` places just above it, and not above place ``least``."""
    for leader in [each.card_id for each in found[:among]]:
        reply = _reply(cards[leader], found, cards, wanted)
        places = {each.card_id: place for place, each in enumerate(found)}
        if reply is None or places[reply] <= (place := max(least, places[leader])):
            continue
        above, moved = found[place], found.pop(places[reply])
        found.insert(place, moved.just_above(above, reason))
    return found


def _reply(said: Card, among: Sequence[Placed], cards: Mapping[UUID, Card], wanted: Wanted) -> UUID | None:
    """Returns the first ``wanted`` turn after the user's turn of ``said``, soon and in its session, or None."""
    if _of_assistant(said):
        return None
    later = [
        (card.said_at, card.card_id)
        for card in (cards[each.card_id] for each in among)
        if card.episode
        and card.session_id == said.session_id
        and card.project_id == said.project_id
        and said.said_at < card.said_at <= said.said_at + _SOON
    ]
    at_once = True
    for _, card_id in sorted(later):
        if wanted(cards[card_id], at_once=at_once):
            return card_id
        at_once = at_once and _of_assistant(cards[card_id])
    return None


def _talks_with_an_assistant(said: Card, cards: Mapping[UUID, Card]) -> bool:
    return any(_of_assistant(card) and card.session_id == said.session_id for card in cards.values())


def _of_assistant(card: Card) -> bool:
    return card.provenance == "assistant_stated"


def _is_answer(card: Card, *, at_once: bool) -> bool:
    return at_once and _of_assistant(card)


def _is_follow_up(card: Card, *, at_once: bool) -> bool:
    asks = card.content.rstrip().endswith(("?", "？"))
    return at_once and not _of_assistant(card) and is_brief(card.content) and not asks
