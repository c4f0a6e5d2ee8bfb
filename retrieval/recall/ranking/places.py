"""The ranking: factors that multiply the votes, repeated words, and one place for all cards of a turn."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import exp
from typing import Any
from uuid import UUID

from events.language.chinese_script import to_simplified
from events.language.terms import analyse
from events.modes.registry import Modes
from events.types.cards import PASTED
from projectors.cards.card import Card
from retrieval.channels.channel import assistant_share
from retrieval.query.pasted import asks_for_pasted
from retrieval.query.question import Question
from retrieval.query.scope import OWNER
from retrieval.recall.ranking.changes import tells_of_before, withdraws
from retrieval.recall.ranking.messages import over_sessions, recency
from retrieval.recall.ranking.newer import about_now, newer_first
from retrieval.recall.ranking.outcomes import outcome_factor
from retrieval.recall.ranking.placed import Placed
from retrieval.recall.ranking.replies import replies_first

# Per day. A single value halves in about 35 days, one of several values in about 140.
DECAY = {"single_value": 0.02, "multi_value": 0.005}
PACES = {"fast": 4.0, "medium": 1.0, "slow": 0.25, "none": 0.0}
"""How much faster cards of a mode lose weight, by the decay that the mode declares."""
OTHERS_DECAY = 0.005  # per day, of events and knowledge in a mode of fast decay
DECAY_SHARE = 0.15
MODE_BOOST = 1.5  # the card is of the mode in which the session last spoke; above the boost of a leader
LAYER_BOOST = 1.2
FACT_BOOST = (
    3.0  # the card is what holds now of the concept and the entity that a question about now asks for
)
ASKED_BOOST = 2.0  # the card has the concept and the entity that the question asks for
COMMON_CONCEPTS = frozenset({"activity"})  # nearly every event has this concept, so it distinguishes nothing
OTHERS_PENALTY = 0.8  # the card has the concept, of another entity
IMPORTANCE_SHARE = 0.005  # per step of importance away from the middle of 1 to 10
TURN_SHARE = 0.1  # the part of the votes of a turn's other cards that its best card gets
PASTED_SHARE = 0.4  # of the votes of pasted data or code, when the question does not ask for such a text
ASKING_SHARE = 0.8  # of the votes of a turn that only asks: it holds the words of a question and no answer
WITHDRAWN_SHARE = 0.6  # of the votes of a card that only says what does not hold, when what holds is asked
BEFORE_SHARE = 0.8  # of the votes of a card that tells how it was at first, when what holds is asked
OUTSIDE_PENALTY = 0.8  # the card lies outside the time that the question names
NOT_AHEAD_PENALTY = 0.5  # the same when that time lies ahead: what happened before is no answer
ANSWER_BOOST = 1.5  # the question asks what the assistant answered, and the card rests on an answer
LEADER_BOOST = 1.35  # the card comes first in two channels: sums of ranks hide by how much it is better
FORMULA_PENALTY = 0.7  # a better card has the same words with other numbers
SUPERSEDED_PENALTY = 0.8  # a current card comes before a superseded one
REFERENCE_BOOST = 1.5  # a reference tells the present; the question asks about the present
_YIELDS = 0.25  # of the score of an episode: a card with less leaves it the lead
_JUST_BELOW = 0.999
_NUMBERED = re.compile(r"[^\W\d_]*\d+")
_ONLY_ASKS = re.compile(r"(?:[^.!。！\n?？]{1,300}[?？]+)+\s*")
_TELLS_FIRST = re.compile(  # "I moved to the third floor, is that too high?"
    r"(?:(?:well|so|hmm|ok|okay|yes|yeah|and|but|also|hi|hello|hey)\b[, ]*)*(?:i|my|we|our)\b"
    r"|[^，,]{0,12}我[^，,]{4,}[，,]",
    re.IGNORECASE,
)
_READ = 600  # the characters of a card that are compared
FACT_ASKED_FOR, CONCEPT_ASKED_FOR, BESIDE = (
    "fact asked for",
    "concept asked for",
    "the turn's other cards",
)


def decay(cardinality: str | None, verified: datetime, now: datetime, pace: str | None = None) -> float:
    """Returns e^(-λ·days since the last verification) for a state, with the λ of its cardinality. Others have 1.

    ``pace`` is the decay that the card's mode declares: it multiplies λ. With "fast", events and knowledge decay, too.
    """
    rate = DECAY.get(cardinality or "", OTHERS_DECAY if pace == "fast" else None)
    if rate is None:
        return 1.0
    return exp(-rate * PACES[pace or "medium"] * max(0.0, (now - verified).total_seconds() / 86400))


def adjustments(
    card: Card,
    question: Question,
    *,
    context_layer: str | None,
    modes: Modes | None = None,
    first_mode: str | None = None,
) -> dict[str, float]:
    """Returns the factors that multiply a card's votes, by reason. A factor of 1 is absent."""
    # Votes come from ranks and lie close together. Full decay would place the only true address below yesterday's
    # small talk. Decay therefore has a small share and orders cards that are otherwise equal.
    mode = modes.mode(card.project_id, card.mode) if modes else None
    pace = None if mode is None else mode.default_decay
    lost = 1 - decay(card.cardinality, card.last_verified, question.now, pace)
    factors = {"decay": 1 - DECAY_SHARE * lost}
    if modes and first_mode is not None and modes.belonging(card.project_id, card.mode) == first_mode:
        factors["mode of the session"] = MODE_BOOST
    if card.concept_key in question.concepts and card.concept_key not in COMMON_CONCEPTS:
        if not _about_the_one_asked_for(card, question):
            factors["concept of another"] = OTHERS_PENALTY
        elif _holds_now(card, question):
            factors[FACT_ASKED_FOR] = FACT_BOOST
        elif card.kind == "state" or _shares_a_word(card, question):
            factors[CONCEPT_ASKED_FOR] = ASKED_BOOST
    if card.kind == "reference" and question.intent in ("present", "list") and question.span is None:
        factors["maintained now"] = REFERENCE_BOOST
    if card.provenance == "assistant_stated":
        factors["said by the assistant"] = (
            ANSWER_BOOST if question.of_assistant else assistant_share(question)
        )
    factors["outcome asked for"] = outcome_factor(question.text, card.tags)
    if PASTED in card.tags and not asks_for_pasted(question.text):
        factors["pasted"] = PASTED_SHARE
    if _only_asks(card):
        factors["only a question"] = ASKING_SHARE
    if card.importance is not None:
        factors["importance"] = 1 + IMPORTANCE_SHARE * (card.importance - 5)
    if card.superseded_at is not None and card.superseded_at <= question.now and question.span is None:
        factors["superseded"] = SUPERSEDED_PENALTY
    if about_now(question):
        if withdraws(card.content[:_READ]):
            factors["tells what does not hold"] = WITHDRAWN_SHARE
        elif tells_of_before(card.content[:_READ]):
            factors["tells how it was before"] = BEFORE_SHARE
    if _outside(card, question):
        factors["outside the time asked for"] = (
            NOT_AHEAD_PENALTY if _lies_ahead(question) else OUTSIDE_PENALTY
        )
    if question.message and not _names_the_past(question):
        factors["how long ago"] = recency(card.said_at, question.now)
    if context_layer is not None and card.context_layer == context_layer:
        factors["layer"] = LAYER_BOOST
    return {reason: factor for reason, factor in factors.items() if factor != 1.0}


def _only_asks(card: Card) -> bool:
    """True for the words of a turn that asks and tells nothing. Such words are near every question on their topic."""
    text = card.content
    return bool(card.episode and _ONLY_ASKS.fullmatch(text) and not _TELLS_FIRST.match(text))


def _holds_now(card: Card, question: Question) -> bool:
    """True for a state in force, when the question asks what is true now."""
    return (
        card.kind == "state"
        and question.intent == "present"
        and not card.ended
        and (card.superseded_at is None or card.superseded_at > question.now)
    )


def _shares_a_word(card: Card, question: Question) -> bool:
    """True when the card's own words hold a content word of the question."""
    return not question.weights.keys().isdisjoint(analyse(card.content))


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


def _lies_ahead(question: Question) -> bool:
    """True when the question names a stretch of time that has not begun."""
    return (
        question.span is not None and question.span.start is not None and question.span.start > question.now
    )


def _names_the_past(question: Question) -> bool:
    """True when the question names a stretch of time that is over."""
    span = question.span
    return span is not None and not span.vague and span.end is not None and span.end <= question.now


def _about_the_one_asked_for(card: Card, question: Question) -> bool:
    """True when a card is about the user, or about an entity that the question names."""
    if card.kind != "state" or card.entity is None or card.entity == OWNER:
        return True
    # Entities are stored in simplified script.
    return card.entity.casefold() in to_simplified(question.text.casefold())


def distinct(ranked: Sequence[Placed], cards: Mapping[UUID, Card]) -> tuple[list[Placed], dict[UUID, UUID]]:
    """Returns the ranking without repeated words, and for each card left out the card that stays.

    Of cards that differ only in their numbers, the best one keeps its score and the others lose a part: reminders and
    labels that come again and again would otherwise fill an answer.
    """
    first: dict[tuple[Any, ...], UUID] = {}
    formulas: set[tuple[Any, ...]] = set()
    kept, same = [], {}
    for placed in ranked:
        card = cards[placed.card_id]
        words = (card.kind, card.episode, card.speaker, card.content, card.effective_at)
        if (other := first.setdefault(words, placed.card_id)) != placed.card_id:
            same[placed.card_id] = other
            continue
        formula = (card.kind, card.episode, card.speaker, _NUMBERED.sub("#", card.content[:_READ].casefold()))
        kept.append(
            placed.times("words that differ in numbers", FORMULA_PENALTY) if formula in formulas else placed
        )
        formulas.add(formula)
    return sorted(kept, key=Placed.order), same


@dataclass(frozen=True, slots=True)
class Ranking:
    """The places of an answer, best first. ``beside`` holds, for a leading card, the other cards of its turn.

    ``same`` names, for each card left out as a repetition, the card that stays.
    """

    placed: list[Placed]
    beside: dict[UUID, list[UUID]]
    same: dict[UUID, UUID]


def ranked(
    votes: Mapping[UUID, float],
    cards: Mapping[UUID, Card],
    question: Question,
    *,
    context_layer: str | None = None,
    modes: Modes | None = None,
    first_mode: str | None = None,
    leading: Collection[UUID] = (),
) -> Ranking:
    """Applies the factors to the votes, drops repeated words, and gives the cards of one turn one place.

    ``leading`` are the cards that come first in two channels. They gain, and a card never rises above them by the
    concept of the question alone, unless it states the fact that a question about now asks for. A turn that only asks
    gains nothing by coming first: it repeats the words of the question and does not answer it.
    """
    leading = {each for each in leading if each in cards and not _only_asks(cards[each])}
    placed = []
    for card_id, card in cards.items():
        if card_id in votes:
            factors = adjustments(
                card, question, context_layer=context_layer, modes=modes, first_mode=first_mode
            )
            each = Placed(card_id, votes[card_id], factors)
            placed.append(each.times("first in two channels", LEADER_BOOST) if card_id in leading else each)
    ceiling = max((each.score for each in placed if each.card_id in leading), default=None)
    if ceiling is not None:
        placed = [each if each.card_id in leading else _below(each, ceiling) for each in placed]
    kept, same = distinct(sorted(placed, key=Placed.order), cards)
    grouped, beside = by_turn(kept, cards)
    if question.message:
        grouped = over_sessions(grouped, cards)
    ordered = replies_first(newer_first(grouped, cards, question), cards, question)
    return Ranking(ordered, beside, same)


def _below(placed: Placed, ceiling: float) -> Placed:
    """Takes from a card's boost for its concept what would lift it above ``ceiling``."""
    boost = placed.factors.get(CONCEPT_ASKED_FOR)
    if boost is None or placed.score < ceiling:
        return placed
    fitting = max(1.0, boost * ceiling / placed.score * _JUST_BELOW)
    return placed.times(CONCEPT_ASKED_FOR, fitting)


def by_turn(
    ranked: Sequence[Placed], cards: Mapping[UUID, Card]
) -> tuple[list[Placed], dict[UUID, list[UUID]]]:
    """Returns one place for the cards of a turn, best first, and the cards beside each leading card.

    The best-placed card leads. An episode gives the lead to another card of its turn that says more: a fact, a
    definition, or a time that the episode does not tell. That card must have :data:`_YIELDS` of its score, and the
    words of the turn stand beside it. A card joins another when that one shows all turns of the card. The leader gets
    a part of the votes of the cards that join it.
    """
    leader_of: dict[str, UUID] = {}
    groups: dict[UUID, list[Placed]] = {}
    for placed in ranked:
        # A reference is a place of its own: the turns of its last op do not tell all of it.
        own = [] if cards[placed.card_id].kind == "reference" else cards[placed.card_id].turn_ids
        over = {leader_of.get(turn) for turn in own}
        lead = over.pop() if len(over) == 1 else None
        if lead is not None:
            groups[lead].append(placed)
            continue
        groups[placed.card_id] = [placed]
        for turn in own:
            leader_of.setdefault(turn, placed.card_id)
    places, beside = [], {}
    for best, *others in groups.values():
        lead_card = best
        if cards[best.card_id].episode:
            near = (each for each in others if each.score >= _YIELDS * best.score)
            lead_card = next(
                (each for each in near if _says_more(each, cards, than=cards[best.card_id])), best
            )
        score = best.score + TURN_SHARE * sum(each.score for each in others)
        if others and lead_card.score > 0:
            beside[lead_card.card_id] = [each.card_id for each in (best, *others) if each is not lead_card]
            lead_card = lead_card.times(BESIDE, score / lead_card.score)
        places.append(lead_card)
    return sorted(places, key=Placed.order), beside


def _says_more(placed: Placed, cards: Mapping[UUID, Card], *, than: Card) -> bool:
    """True for a state or knowledge, and for an event with a time that the episode ``than`` does not tell."""
    card = cards[placed.card_id]
    if card.kind == "event":
        return not card.episode and bool(card.time_resolved) and not than.time_resolved
    return True
