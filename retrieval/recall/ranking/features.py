"""The features of a card for one question: about twenty numbers with names, which one linear model weighs."""

from datetime import datetime
from math import exp, exp2

from events.language.chinese_script import to_simplified
from projectors.cards.card import Card
from retrieval.query.question import Question, TimeWindow
from retrieval.query.scope import OWNER
from retrieval.recall.fusion import Evidence
from retrieval.recall.ranking.asked import Asked, asks
from retrieval.recall.ranking.candidate import Candidate

# Per day. A single value halves in about 35 days, one of several values in about 140.
DECAY = {"single_value": 0.02, "multi_value": 0.005}
PACES = {"fast": 4.0, "medium": 1.0, "slow": 0.25, "none": 0.0}
"""How much faster cards of a mode lose weight, by the decay that the mode declares."""
OTHERS_DECAY = 0.005  # per day, of events and knowledge in a mode of fast decay
COMMON_CONCEPTS = frozenset({"activity"})  # nearly every event has this concept, so it distinguishes nothing
_HALF_DAYS = 30.0


def features_of(candidate: Candidate, asked: Asked, latest: float, beside_empty: float) -> dict[str, float]:
    """Returns the features of a card that are not 0. Every number lies between -2 and 2.

    ``latest`` is its place in time among the cards on the topic, 1 for the latest and 0 for a card off the topic.
    ``beside_empty`` tells how empty the hit is beside which it was said.
    """
    card, question = candidate.card, asked.question
    values = _of_channels(candidate.evidence, asked, beside_empty)
    values["tells more"] = asked.tells_more(candidate)
    values["decayed"] = 1 - decay(card.cardinality, card.last_verified, question.now, asked.pace(card))
    values["last"] = latest
    if card.kind in ("state", "reference"):
        values[card.kind] = 1.0
    if candidate.ended_by is None:
        values["number named"] = asked.names_numbers_of(card)
        values["fact asked for"] = is_asked_for(card, question, asked.stretch)
    if card.provenance == "assistant_stated":
        values["answer asked for" if question.of_assistant else "said by the assistant"] = 1.0
    if card.episode:
        # A question is no member of a list.
        of_list = question.several and question.intent in ("present", "list")
        values["asks"] = asks(card.content) * (2 if of_list else 1)
    values["pasted"] = asked.pasted(card)
    values["outside the time"] = asked.stretch is not None and _outside(card, asked.stretch)
    if asked.about_now:
        values["revised"], values["revises"] = candidate.revised, candidate.revises
        # A card that tells of an end holds at no instant, and yet answers.
        over = _superseded(card, question) and not card.ended
        values["superseded"] = over or card.card_id in asked.retracted
    if question.message and not asked.of_the_past:
        days = max(0.0, (question.now - card.said_at).total_seconds() / 86400)
        values["recent in a talk"] = exp2(-days / _HALF_DAYS)
    if question.outcome is not None and "attempt" in card.tags:
        worked = ("worked" in card.tags) - ("failed" in card.tags)
        values["outcome asked for"] = worked if question.outcome == "worked" else -worked
    values["layer"] = asked.context_layer is not None and card.context_layer == asked.context_layer
    values["mode of the session"] = asked.is_of_first_mode(card)
    return {name: float(value) for name, value in values.items() if value}


def _of_channels(told: Evidence, asked: Asked, beside_empty: float) -> dict[str, float]:
    crowd = asked.crowd
    return {
        "nearness": told.nearness,
        "meaning place": told.meaning_place * (1 - crowd),
        "words": told.words * crowd,
        "better place": max(told.meaning_place, told.words_place),
        "spelling place" if asked.question.language == "english" else "pairs place": told.spelling_place,
        "related": told.related,
        "said beside": told.beside * crowd,
        "beside an empty one": told.beside * beside_empty,
    }


def is_asked_for(card: Card, question: Question, stretch: TimeWindow | None = None) -> bool:
    """True for a fact of the concept and the entity that a question asks for, if it holds, or held in a ``stretch``."""
    if card.kind != "state" or card.concept_key not in question.concepts:
        return False
    if stretch is not None:
        held = not card.ended and not _outside(card, stretch)
    else:
        held = question.intent == "present" and holds(card, question)
    return held and _is_meant(card.entity, question)


def _is_meant(entity: str | None, question: Question) -> bool:
    """True for the asker, and for somebody whom the question names."""
    # Entities are stored in simplified script.
    return entity in (None, OWNER) or entity.casefold() in to_simplified(question.text.casefold())


def decay(cardinality: str | None, verified: datetime, now: datetime, pace: str | None = None) -> float:
    """Returns e^(-λ·days since the last verification) for a state, with the λ of its cardinality. Others have 1.

    ``pace`` is the decay that the card's mode declares: it multiplies λ. With "fast", events and knowledge decay, too.
    """
    rate = DECAY.get(cardinality or "", OTHERS_DECAY if pace == "fast" else None)
    if rate is None:
        return 1.0
    return exp(-rate * PACES[pace or "medium"] * max(0.0, (now - verified).total_seconds() / 86400))


def holds(card: Card, question: Question) -> bool:
    """True unless the card tells that something ended, or another card took its place."""
    return not card.ended and not _superseded(card, question)


def _superseded(card: Card, question: Question) -> bool:
    return card.superseded_at is not None and card.superseded_at <= question.now


def _outside(card: Card, stretch: TimeWindow) -> bool:
    """True when the card lies wholly outside the stretch of time that the question names."""
    begun = card.begun or card.said_at
    over = card.superseded_at if card.kind == "state" else card.occurred_until
    if stretch.end is not None and begun >= stretch.end:
        return True
    if stretch.start is None or (card.kind == "state" and over is None):
        return False
    return (over or begun) < stretch.start
