"""The features of a card for one question: about twenty numbers with names, which one linear model weighs."""

from __future__ import annotations

from datetime import datetime
from math import exp, exp2

from events.language.chinese_script import to_simplified
from projectors.cards.card import Card
from retrieval.query.question import Question
from retrieval.query.scope import OWNER
from retrieval.recall.ranking.asked import Asked, asks
from retrieval.recall.ranking.evidence import Evidence
from retrieval.recall.ranking.newer import Newer

# Per day. A single value halves in about 35 days, one of several values in about 140.
DECAY = {"single_value": 0.02, "multi_value": 0.005}
PACES = {"fast": 4.0, "medium": 1.0, "slow": 0.25, "none": 0.0}
"""How much faster cards of a mode lose weight, by the decay that the mode declares."""
OTHERS_DECAY = 0.005  # per day, of events and knowledge in a mode of fast decay
COMMON_CONCEPTS = frozenset({"activity"})  # nearly every event has this concept, so it distinguishes nothing
_HALF_DAYS = 30.0


def features_of(
    card: Card, told: Evidence, asked: Asked, newer: Newer, *, latest: float, beside_empty: float
) -> dict[str, float]:
    """Returns the features of a card that are not 0. Every number lies between -2 and 2.

    ``latest`` is its place in time among the cards on the topic, 1 for the latest and 0 for a card off the topic.
    ``beside_empty`` tells how empty the hit is beside which it was said.
    """
    question = asked.question
    values = {
        "meaning": max(-1.0, told.meaning),
        "meaning place": told.meaning_place,
        "words": told.words,
        "words place": told.words_place,
        "spelling place" if question.language == "english" else "pairs place": told.spelling_place,
        "tells more": asked.tells_more(card),
        "related": told.related,
        "said beside": told.beside,
        "beside an empty one": told.beside * beside_empty,
        "last": latest,
    }
    if card.kind in ("state", "reference"):
        values[card.kind] = 1.0
    if card.card_id not in newer.by and is_asked_for(card, question):
        values["fact asked for"] = 1.0
    if card.provenance == "assistant_stated":
        values["answer asked for" if question.of_assistant else "said by the assistant"] = 1.0
    if card.episode:
        # A question is no member of a list.
        values["asks"] = asks(card.content) * (
            2 if question.several and question.intent in ("present", "list") else 1
        )
    if asked.pasted(card):
        values["pasted"] = 1.0
    if _outside(card, question):
        values["outside the time"] = 1.0
    if asked.about_now:
        values["revised"] = newer.revised.get(card.card_id, 0.0)
        values["revises"] = newer.revises.get(card.card_id, 0.0)
    if question.message and not _names_the_past(question):
        days = max(0.0, (question.now - card.said_at).total_seconds() / 86400)
        values["recent in a talk"] = exp2(-days / _HALF_DAYS)
    if not holds(card, question) and asked.about_now:
        values["superseded"] = 1.0
    mode = asked.modes.mode(card.project_id, card.mode) if asked.modes else None
    values["decayed"] = 1 - decay(
        card.cardinality, card.last_verified, question.now, None if mode is None else mode.default_decay
    )
    if question.outcome is not None and "attempt" in card.tags:
        worked = ("worked" in card.tags) - ("failed" in card.tags)
        values["outcome asked for"] = float(worked if question.outcome == "worked" else -worked)
    if asked.context_layer is not None and card.context_layer == asked.context_layer:
        values["layer"] = 1.0
    if (
        asked.modes
        and asked.first_mode is not None
        and asked.modes.belonging(card.project_id, card.mode) == asked.first_mode
    ):
        values["mode of the session"] = 1.0
    return {name: value for name, value in values.items() if value}


def is_asked_for(card: Card, question: Question) -> bool:
    """True for a fact that holds, of the concept and the entity that a question about the present asks for."""
    return (
        card.kind == "state"
        and question.intent == "present"
        and card.concept_key in question.concepts
        # Entities are stored in simplified script.
        and (
            card.entity in (None, OWNER) or card.entity.casefold() in to_simplified(question.text.casefold())
        )
        and holds(card, question)
    )


def decay(cardinality: str | None, verified: datetime, now: datetime, pace: str | None = None) -> float:
    """Returns e^(-λ·days since the last verification) for a state, with the λ of its cardinality. Others have 1.

    ``pace`` is the decay that the card's mode declares: it multiplies λ. With "fast", events and knowledge decay, too.
    """
    rate = DECAY.get(cardinality or "", OTHERS_DECAY if pace == "fast" else None)
    if rate is None:
        return 1.0
    return exp(-rate * PACES[pace or "medium"] * max(0.0, (now - verified).total_seconds() / 86400))


def holds(card: Card, question: Question) -> bool:
    """True unless the card is a state or an event whose place another one took."""
    return not card.ended and (card.superseded_at is None or card.superseded_at > question.now)


def _outside(card: Card, question: Question) -> bool:
    """True when the question names a stretch of time that has begun, and the card lies wholly outside it."""
    span = question.span
    if span is None or span.vague:
        return False
    begun = card.begun or card.said_at
    over = card.superseded_at if card.kind == "state" else card.occurred_until
    after = span.end is not None and begun >= span.end
    before = (
        span.start is not None and (over or begun) < span.start and (card.kind != "state" or over is not None)
    )
    return after or before


def _names_the_past(question: Question) -> bool:
    """True when the question names a stretch of time that is over."""
    span = question.span
    return span is not None and not span.vague and span.end is not None and span.end <= question.now
