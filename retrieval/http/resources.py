"""Cards, answers and prompts as resources: what the read service decides on beyond the fields, and the rounding."""

from __future__ import annotations

from datetime import datetime
from functools import cache
from operator import attrgetter

from events.platform.modes import GENERAL_MODE
from events.resources.cards import Card as CardResource
from events.resources.cards import Kind, names_of
from events.resources.curator import Insight
from events.resources.recall import Answer, RecalledCard
from events.resources.recall import Prompt as PromptResource
from projectors.cards.card import CARD_FIELDS, Card
from retrieval.cards.alerts import aging, outdated
from retrieval.cards.card import ListedCard
from retrieval.cards.card_times import as_it_stood, time_expressions, time_passed, when_of
from retrieval.context.context import Prompt
from retrieval.recall.answer import CardAnswer, RecallAnswer


def recalled(answer: RecallAnswer, k: int = 0) -> Answer:
    """Returns the resource of a recall. ``explain`` is absent where nobody asked for it.

    Insights fill the places of ``k`` that the cards leave. One insight stands below ``k`` cards.
    """
    concluded = answer.insights[: max(1, k - len(answer.cards))]
    return Answer(
        current_time=answer.current_time,
        cards=[_answering(card) for card in answer.cards],
        insights=[Insight.made_from(each) for each in concluded] or None,
        contradictions=list(answer.contradictions),
        channels=dict(answer.channels),
        warnings=list(answer.warnings),
        explain=None if answer.explain is None else dict(answer.explain),
    )


def prompted(prompt: Prompt) -> PromptResource:
    answer = prompt.answer
    return PromptResource(
        blocks=list(prompt.blocks),
        text=prompt.text,
        tokens=prompt.tokens,
        token_budget=prompt.token_budget,
        guard_rules_version=prompt.guard_rules_version,
        cards=list(prompt.cards),
        left_out=list(prompt.left_out),
        current_time=answer.current_time,
        contradictions=list(answer.contradictions),
        channels=dict(answer.channels),
        warnings=list(answer.warnings),
    )


def listed(card: ListedCard, now: datetime) -> CardResource:
    """Returns the resource of a card of a slice. The status of an event and the flags are those at ``now``."""
    card = as_it_stood(card, now)
    flags = {"aging": aging(card, now), "outdated": outdated(card, now), "status": card.status}
    return CardResource.unchecked(_fields(card, passed=time_passed(card, now)) | flags)


def _answering(card: CardAnswer) -> RecalledCard:
    fields = _fields(card.card, passed=card.time_passed) | {
        "aging": card.aging,
        "outdated": card.outdated,
        "score": round(card.score, 6),
        "channels": dict(card.channels),
        "pending": card.pending,
        "beside": card.beside,
    }
    if times := time_expressions(card.card):
        fields["times"] = list(times)
    if card.perhaps_no_longer is not None:
        fields["perhaps_no_longer"] = card.perhaps_no_longer
    if card.past_facts:
        fields["past_facts"] = list(card.past_facts)
    return RecalledCard.unchecked(fields)


def _fields(card: Card, *, passed: bool) -> dict[str, object]:
    """Returns the fields of a card of its kind. ``time_passed``, which only events have, depends on the question."""
    names, values = _reader(card.kind)
    found = dict(zip(names, values(card), strict=True)) | {"when": when_of(card)}
    # The general mode has one name. A reference is outside modes.
    found["mode"] = None if card.kind == "reference" else card.mode or GENERAL_MODE
    return found | {"time_passed": passed} if card.kind == "event" else found


@cache
def _reader(kind: Kind) -> tuple[tuple[str, ...], attrgetter[tuple[object, ...]]]:
    """Returns the fields of cards of a kind that the card itself has, and what reads their values."""
    names = tuple(name for name in names_of(kind) if name in CARD_FIELDS)
    return names, attrgetter(*names)
